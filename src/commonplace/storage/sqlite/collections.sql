-- Collections: projects, sessions, and who may do what in them.

-- fragment: collection
c.number, c.id, c.kind, c.domain, c.name, c.owner, c.created_at, c.ends_at, c.metadata, c.parent

-- name: collection
SELECT {collection} FROM collections AS c WHERE c.id = :id

-- name: collection_numbered
SELECT {collection} FROM collections AS c WHERE c.number = :number

-- name: collection_numbers
SELECT number FROM collections

-- name: collections_of_kind
SELECT {collection}
FROM collections AS c
WHERE c.kind = :kind AND c.number IN (SELECT value FROM json_each(:numbers))
ORDER BY c.created_at DESC, c.number DESC

-- name: collections_below
WITH RECURSIVE below (number) AS (
    SELECT c.number FROM collections AS c WHERE c.id IN (SELECT value FROM json_each(:ids))
    UNION
    SELECT c.number FROM below AS b JOIN collections AS c ON c.parent = b.number
)
SELECT {collection} FROM below AS b JOIN collections AS c ON c.number = b.number ORDER BY c.number

-- name: collections_above
WITH RECURSIVE above (number, steps) AS (
    SELECT parent, 1 FROM collections WHERE number = :number AND parent IS NOT NULL
    UNION
    SELECT c.parent, a.steps + 1 FROM above AS a JOIN collections AS c ON c.number = a.number WHERE c.parent IS NOT NULL
)
SELECT {collection} FROM above AS a JOIN collections AS c ON c.number = a.number ORDER BY a.steps

-- name: places
SELECT c.number, c.parent FROM json_each(:numbers) AS n CROSS JOIN collections AS c ON c.number = n.value AND c.kind = :kind

-- name: owned_collections
SELECT {collection} FROM collections AS c WHERE c.owner = :owner AND c.kind = :kind ORDER BY c.number

-- name: put_below
UPDATE collections SET parent = :parent WHERE number = :number

-- name: put_all_below
UPDATE collections SET parent = :parent WHERE parent = :number

-- name: ended_collections
SELECT {collection} FROM collections AS c WHERE c.kind = :kind AND c.ends_at <= :now LIMIT :limit

-- name: global_collection
SELECT number FROM collections WHERE kind = 'global' ORDER BY number LIMIT 1

-- name: describe_collection
UPDATE collections SET name = :name, metadata = :metadata, ends_at = :ends_at WHERE number = :number

-- name: remove_collection
DELETE FROM collections WHERE number = :number

-- name: members
SELECT u.id, u.name, g.access, 0, g.created_at
FROM grants AS g
JOIN users AS u ON u.id = g.subject
WHERE g.collection = :number AND g.subject_kind = 'user'
UNION ALL
SELECT u.id, u.name, 'admin', 1, c.created_at
FROM collections AS c
JOIN users AS u ON u.id = c.owner
WHERE c.number = :number
ORDER BY 4 DESC, 5, 2

-- name: ungrant
DELETE FROM grants WHERE collection = :collection AND subject_kind = 'user' AND subject = :user

-- name: sizes
SELECT collection, count(*)
FROM memories AS m
WHERE collection IN (SELECT value FROM json_each(:numbers))
AND NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number AND e.ends_at <= :now)
GROUP BY collection

-- name: numbers_within
SELECT number FROM memories WHERE collection = :collection AND number > :after ORDER BY number LIMIT :limit

-- name: move_memory
UPDATE memories SET collection = :collection WHERE number = :number

-- name: current_session
SELECT {collection}
FROM current_sessions AS s
JOIN collections AS c ON c.number = s.collection
WHERE s.user = :user AND s.session = :session

-- name: set_current_session
INSERT INTO current_sessions (user, session, collection) VALUES (:user, :session, :collection)
ON CONFLICT (user, session) DO UPDATE SET collection = excluded.collection

-- name: breakdown
SELECT c.domain, m.category, count(*), sum(m.importance), min(m.created_at), max(m.created_at), sum(coalesce(u.count, 0))
FROM memories AS m
JOIN collections AS c ON c.number = m.collection
LEFT JOIN uses AS u ON u.memory = m.number
WHERE m.collection IN (SELECT value FROM json_each(:collections))
AND NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number AND e.ends_at <= :now)
GROUP BY c.domain, m.category
ORDER BY count(*) DESC, m.category

-- name: tag_counts
SELECT t.tag, count(*)
FROM tags AS t
JOIN memories AS m ON m.number = t.memory
WHERE m.collection IN (SELECT value FROM json_each(:collections))
AND NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number AND e.ends_at <= :now)
GROUP BY t.tag
ORDER BY count(*) DESC, t.tag
LIMIT :limit

-- name: shelf
SELECT {collection} FROM collections AS c WHERE c.parent = :context AND c.kind = 'shelf' AND c.owner = :user

-- name: invitations_of
SELECT i.collection, i.subject_kind, i.subject, i.invited_by, i.created_at
FROM invitations AS i
WHERE i.subject_kind = 'user' AND i.subject = :user
UNION ALL
SELECT i.collection, i.subject_kind, i.subject, i.invited_by, i.created_at
FROM team_members AS t
CROSS JOIN invitations AS i ON i.subject_kind = 'team' AND i.subject = t.team
WHERE t.user = :user
ORDER BY 5 DESC, 1 DESC

-- name: invite
INSERT INTO invitations (collection, subject_kind, subject, invited_by, created_at)
VALUES (:collection, :guest, :subject, :by, :at)
ON CONFLICT (collection, subject_kind, subject) DO NOTHING

-- name: uninvite
DELETE FROM invitations WHERE collection = :collection AND subject_kind = 'user' AND subject = :user

-- name: lent_from
SELECT home FROM loans WHERE memory = :memory

-- name: lend
INSERT INTO loans (memory, home) VALUES (:memory, :home)
ON CONFLICT (memory) DO UPDATE SET home = excluded.home

-- name: give_back
DELETE FROM loans WHERE memory = :memory

-- name: carry_loans
UPDATE loans SET home = :to WHERE home = :home
