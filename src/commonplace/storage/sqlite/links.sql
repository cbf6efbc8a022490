-- Links: what leads from one memory to another. They are walked in both directions.

-- name: add_link
INSERT INTO links (source, target, kind, strength, created_at)
SELECT s.number, t.number, :kind, :strength, :at
FROM memories AS s, memories AS t
WHERE s.id = :source AND t.id = :target
ON CONFLICT (source, target, kind) DO UPDATE SET strength = excluded.strength

-- name: keep_link
INSERT INTO links (source, target, kind, strength, created_at, used_at)
SELECT s.number, t.number, :kind, :strength, :at, :used_at
FROM memories AS s, memories AS t
WHERE s.id = :source AND t.id = :target
ON CONFLICT (source, target, kind) DO NOTHING

-- name: links_of
SELECT s.id, t.id, l.kind, l.strength, l.created_at, l.used_at
FROM links AS l
JOIN memories AS s ON s.number = l.source
JOIN memories AS t ON t.number = l.target
WHERE l.source = (SELECT number FROM memories WHERE id = :id) OR l.target = (SELECT number FROM memories WHERE id = :id)
ORDER BY l.strength DESC, l.source, l.target

-- name: links_between
SELECT s.id, t.id, l.kind, l.strength, l.created_at, l.used_at
FROM memories AS s
JOIN memories AS t
JOIN links AS l ON l.source = s.number AND l.target = t.number
WHERE (s.id = :one AND t.id = :other) OR (s.id = :other AND t.id = :one)
ORDER BY l.strength DESC, l.source, l.target, l.kind

-- name: links_from
SELECT l.target AS other, l.kind, l.strength, l.created_at, l.used_at
FROM links AS l
JOIN memories AS m ON m.number = l.target
WHERE l.source = :number AND {seen}
UNION ALL
SELECT l.source, l.kind, l.strength, l.created_at, l.used_at
FROM links AS l
JOIN memories AS m ON m.number = l.source
WHERE l.target = :number AND {seen}
ORDER BY strength DESC, other
LIMIT :limit

-- name: strengthen
UPDATE links
SET strength = strength + (1 - strength) * :share, used_at = :at
WHERE (source = :one AND target = :other) OR (source = :other AND target = :one)

-- name: links_among
-- The plus sign keeps the target out of the lookup: a memory has far fewer links than there are memories to try.
SELECT s.id, t.id, l.kind, l.strength, l.created_at, l.used_at
FROM links AS l
JOIN memories AS s ON s.number = l.source
JOIN memories AS t ON t.number = l.target
WHERE l.source IN (SELECT value FROM json_each(:numbers)) AND +l.target IN (SELECT value FROM json_each(:numbers))
ORDER BY l.strength DESC, l.source, l.target
LIMIT :limit

-- name: links_around
SELECT s.id, m.id, l.kind, l.strength, l.created_at, l.used_at
FROM links AS l
JOIN memories AS s ON s.number = l.source
JOIN memories AS m ON m.number = l.target
WHERE l.source IN (SELECT value FROM json_each(:numbers)) AND {seen_in_order}
UNION
SELECT m.id, t.id, l.kind, l.strength, l.created_at, l.used_at
FROM links AS l
JOIN memories AS t ON t.number = l.target
JOIN memories AS m ON m.number = l.source
WHERE l.target IN (SELECT value FROM json_each(:numbers)) AND {seen_in_order}
ORDER BY 4 DESC, 1, 2, 3
LIMIT :limit

-- name: links_leaving
SELECT s.id, t.id, l.kind, l.strength, l.created_at, l.used_at
FROM links AS l
JOIN memories AS s ON s.number = l.source
JOIN memories AS t ON t.number = l.target
WHERE l.source IN (SELECT value FROM json_each(:numbers))
ORDER BY l.source, l.target, l.kind

-- name: links_touching
SELECT l.source, l.target, l.kind
FROM links AS l
JOIN memories AS m ON m.number = l.target
WHERE l.source IN (SELECT value FROM json_each(:numbers))
AND l.kind IN (SELECT value FROM json_each(:kinds)) AND {seen_in_order}
UNION
SELECT l.source, l.target, l.kind
FROM links AS l
JOIN memories AS m ON m.number = l.source
WHERE l.target IN (SELECT value FROM json_each(:numbers))
AND l.kind IN (SELECT value FROM json_each(:kinds)) AND {seen_in_order}
ORDER BY 1 DESC, 2 DESC, 3
LIMIT :limit

-- name: linked_within
-- Those who may be seen are looked up one by one, however many collections there are.
SELECT o.number
FROM memories AS o
WHERE o.collection IN (SELECT value FROM json_each(:within))
AND NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = o.number AND e.ends_at <= :now)
AND (
    EXISTS (
        SELECT 1
        FROM links AS l
        JOIN memories AS m ON m.number = l.target
        WHERE l.source = o.number AND l.kind IN (SELECT value FROM json_each(:kinds)) AND {seen_in_order}
    )
    OR EXISTS (
        SELECT 1
        FROM links AS l
        JOIN memories AS m ON m.number = l.source
        WHERE l.target = o.number AND l.kind IN (SELECT value FROM json_each(:kinds)) AND {seen_in_order}
    )
)
ORDER BY o.number DESC
LIMIT :limit

-- name: remarks_on
-- The union leaves out what was reached before: a circle ends where it began.
WITH RECURSIVE thread (number, about) AS (
    SELECT l.source, l.target
    FROM links AS l
    JOIN memories AS m ON m.number = l.source
    WHERE l.target = :number AND l.kind = 'annotates' AND {seen_in_order}
    UNION
    SELECT l.source, l.target
    FROM thread AS t
    CROSS JOIN links AS l ON l.target = t.number AND l.kind = 'annotates'
    CROSS JOIN memories AS m ON m.number = l.source
    WHERE {seen_in_order}
    LIMIT :limit
)
SELECT t.number, t.about, o.metadata ->> :field
FROM thread AS t
CROSS JOIN memories AS o ON o.number = t.number
ORDER BY o.created_at, o.number

-- name: link_counts
SELECT l.kind, count(*)
FROM links AS l
JOIN memories AS m ON m.number = l.source
JOIN memories AS t ON t.number = l.target
WHERE m.collection IN (SELECT value FROM json_each(:collections))
AND +t.collection IN (SELECT value FROM json_each(:collections))
GROUP BY l.kind

-- name: unlink
DELETE FROM links
WHERE source = (SELECT number FROM memories WHERE id = :source)
AND target = (SELECT number FROM memories WHERE id = :target)
AND kind = :kind

-- name: faded
DELETE FROM links
WHERE kind IN ('semantic', 'temporal') AND strength < :least AND coalesce(used_at, created_at) < :before

-- name: latest_by
SELECT m.number, m.created_at
FROM memories AS m
WHERE m.author_user = :user AND m.created_at BETWEEN :since AND :until AND {seen_in_order}
ORDER BY m.created_at DESC, m.number DESC
LIMIT :limit

-- name: waste
SELECT
    (SELECT count(*) FROM ephemeral WHERE ends_at <= :now),
    (SELECT count(*) FROM collections WHERE kind = 'session' AND ends_at <= :now),
    (
        SELECT count(*)
        FROM links
        WHERE kind IN ('semantic', 'temporal') AND strength < :least AND coalesce(used_at, created_at) < :before
    )
