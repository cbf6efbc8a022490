-- Copies: which memory here is which in another store.

-- fragment: lasts
NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number AND e.ends_at <= :now)

-- name: twins
SELECT m.id, m.number FROM json_each(:ids) AS i CROSS JOIN memories AS m ON m.id = i.value WHERE {lasts}

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
