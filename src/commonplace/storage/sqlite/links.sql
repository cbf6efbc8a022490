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
AND (:kind IS NULL OR kind = :kind)

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
