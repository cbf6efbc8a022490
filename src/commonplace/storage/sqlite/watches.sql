-- Wishes to hear of changes, and what there is to hear.

-- name: any_watches
SELECT EXISTS (SELECT 1 FROM watches)

-- name: place
SELECT owner, domain, parent FROM collections WHERE number = :number

-- name: watches_by_owner
SELECT number, collection FROM watches WHERE owner = :owner

-- name: watches_by_grant
SELECT w.number, w.collection
FROM grants AS g
CROSS JOIN watches AS w ON w.owner = g.subject
WHERE g.collection = :place AND g.subject_kind = 'user' AND (g.inherited OR :itself)
UNION ALL
SELECT w.number, w.collection
FROM grants AS g
CROSS JOIN team_members AS t ON t.team = g.subject
CROSS JOIN watches AS w ON w.owner = t.user
WHERE g.collection = :place AND g.subject_kind = 'team' AND (g.inherited OR :itself)

-- name: watches_of_all
SELECT number, collection FROM watches

-- name: notice
INSERT INTO notices (owner, channel, event, watch, happening)
SELECT w.owner, w.channel, :event, w.number, :change
FROM json_each(:watches) AS j
CROSS JOIN watches AS w ON w.number = j.value
WHERE :change IN (SELECT value FROM json_each(w.happenings))
AND (
    w.category IS NULL
    OR w.category = (SELECT m.category FROM memories AS m WHERE m.number = :memory)
    OR EXISTS (SELECT 1 FROM categorised AS c WHERE c.memory = :memory AND c.name = w.category)
)
AND (
    w.tags IS NULL
    OR EXISTS (
        SELECT 1 FROM tags AS t WHERE t.memory = :memory AND t.folded IN (SELECT folded(value) FROM json_each(w.tags))
    )
)

-- name: watches_of
SELECT w.id, w.owner, w.name, w.category, c.id, w.tags, w.happenings, w.channel, w.created_at
FROM watches AS w
LEFT JOIN collections AS c ON c.number = w.collection
WHERE w.owner = :owner
ORDER BY w.number

-- name: add_watch
INSERT INTO watches (id, owner, name, category, collection, tags, happenings, channel, created_at)
VALUES (
    :id, :owner, :name, :category, (SELECT number FROM collections WHERE id = :collection),
    :tags, :happenings, :channel, :created_at
)

-- name: remove_watch
DELETE FROM watches WHERE owner = :owner AND id = :id

-- name: has_notices
SELECT EXISTS (SELECT 1 FROM notices WHERE owner = :owner AND channel = :channel AND event > :after)

-- name: notices
-- Read in the order they are kept in, so that a limit ends it early.
SELECT
    e.number, e.kind, e.at, e.user, e.credential, e.session, e.tool, e.memory, e.memory_number, e.collection, e.detail,
    n.happening, json_group_array(w.id)
FROM notices AS n
CROSS JOIN events AS e ON e.number = n.event
CROSS JOIN watches AS w ON w.number = n.watch
WHERE n.owner = :owner AND n.channel = :channel AND n.event > :after
AND e.collection IN (SELECT value FROM json_each(:collections))
GROUP BY n.event
ORDER BY n.event
LIMIT :limit

-- name: count_notices
SELECT count(DISTINCT n.event)
FROM notices AS n
JOIN events AS e ON e.number = n.event
WHERE n.owner = :owner AND n.channel = :channel
AND e.collection IN (SELECT value FROM json_each(:collections))

-- name: drop_notices
DELETE FROM notices WHERE owner = :owner AND channel = :channel AND event <= :through

-- name: pruned_notices
SELECT coalesce(max(pruned), 0) FROM watches WHERE owner = :owner AND channel = :channel

-- name: overdue_notices
-- For each watch the last event to let go of. Where its first notice is not too old, none is.
SELECT number, through
FROM (
    SELECT
        w.number,
        max(
            CASE
                WHEN :before > (
                    SELECT e.at
                    FROM events AS e
                    WHERE e.number = (SELECT min(n.event) FROM notices AS n WHERE n.watch = w.number)
                ) THEN (
                    SELECT max(n.event)
                    FROM notices AS n
                    JOIN events AS e ON e.number = n.event
                    WHERE n.watch = w.number AND e.at < :before
                )
                ELSE 0
            END,
            coalesce((
                SELECT n.event FROM notices AS n WHERE n.watch = w.number ORDER BY n.event DESC LIMIT 1 OFFSET :most
            ), 0)
        ) AS through
    FROM watches AS w
)
WHERE through > 0

-- name: prune_notices
DELETE FROM notices WHERE watch = :watch AND event <= :through

-- name: mark_pruned
UPDATE watches SET pruned = :through WHERE number = :watch

-- name: carry_watches
UPDATE watches SET collection = :to WHERE collection = :place
