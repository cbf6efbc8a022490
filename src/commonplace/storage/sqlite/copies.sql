-- Copies: which memory here is which in another store.

-- fragment: lasts
NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number AND e.ends_at <= :now)

-- name: twins
-- Its own id comes last, because it counts most.
SELECT i.value, m.number, m.id, 0
FROM json_each(:names) AS i
CROSS JOIN origins AS o ON o.source = :source AND o.origin = i.value
CROSS JOIN memories AS m ON m.number = o.memory
WHERE {lasts}
UNION ALL
SELECT i.value, m.number, m.id, 1
FROM json_each(:names) AS i
CROSS JOIN memories AS m ON m.id = i.value
WHERE {lasts}
ORDER BY 4

-- name: origins_of
SELECT m.id, o.source, o.origin
FROM json_each(:ids) AS i
CROSS JOIN memories AS m ON m.id = i.value
CROSS JOIN origins AS o ON o.memory = m.number
ORDER BY m.number, o.source, o.origin

-- name: whole_prints
SELECT v.memory, v.vector
FROM vectors AS v
JOIN embedders AS e ON e.number = v.embedder AND e.fingerprint = :fingerprint
WHERE v.memory IN (SELECT value FROM json_each(:numbers))
AND NOT EXISTS (SELECT 1 FROM unembedded AS u WHERE u.memory = v.memory)
ORDER BY v.memory, v.part
