-- Who did what: the events of memories, which stand for themselves, and the doings beside them.

-- fragment: sought_event
-- A move is recorded on both sides; here the side it went to tells of it.
e.kind <> 'embedded'
AND (e.kind <> 'moved' OR coalesce(e.detail ->> '$.to', e.collection) = e.collection)
AND (
    :pattern IS NULL
    OR e.tool LIKE :pattern ESCAPE '\' OR e.tool LIKE :other ESCAPE '\'
    OR e.kind LIKE :pattern ESCAPE '\' OR e.kind LIKE :other ESCAPE '\'
    OR e.memory LIKE :pattern ESCAPE '\' OR e.memory LIKE :other ESCAPE '\'
    OR e.credential LIKE :pattern ESCAPE '\' OR e.credential LIKE :other ESCAPE '\'
    OR u.name LIKE :pattern ESCAPE '\' OR u.name LIKE :other ESCAPE '\'
)

-- fragment: sought_doing
d.level IN (SELECT value FROM json_each(:levels))
AND (
    :pattern IS NULL
    OR d.tool LIKE :pattern ESCAPE '\' OR d.tool LIKE :other ESCAPE '\'
    OR d.what LIKE :pattern ESCAPE '\' OR d.what LIKE :other ESCAPE '\'
    OR d.subject LIKE :pattern ESCAPE '\' OR d.subject LIKE :other ESCAPE '\'
    OR d.credential LIKE :pattern ESCAPE '\' OR d.credential LIKE :other ESCAPE '\'
    OR u.name LIKE :pattern ESCAPE '\' OR u.name LIKE :other ESCAPE '\'
)

-- fragment: told_event
SELECT e.at, e.user, e.credential, e.session, e.tool, e.kind, e.memory, 'info', u.name, 1
FROM events AS e
LEFT JOIN users AS u ON u.id = e.user

-- fragment: told_doing
SELECT d.at, d.user, d.credential, d.session, d.tool, d.what, d.subject, d.level, u.name, d.times
FROM doings AS d
LEFT JOIN users AS u ON u.id = d.user

-- name: events_by
{told_event} WHERE e.user = :user AND {sought_event} ORDER BY e.number DESC LIMIT :limit

-- name: events_by_all
{told_event} WHERE {sought_event} ORDER BY e.number DESC LIMIT :limit

-- name: doings_by
{told_doing} WHERE d.user = :user AND {sought_doing} ORDER BY d.at DESC, d.number DESC LIMIT :limit

-- name: doings_by_all
{told_doing} WHERE {sought_doing} ORDER BY d.at DESC, d.number DESC LIMIT :limit

-- name: count_events_by
SELECT count(*) FROM events AS e LEFT JOIN users AS u ON u.id = e.user WHERE e.user = :user AND {sought_event}

-- name: count_events_by_all
SELECT count(*) FROM events AS e LEFT JOIN users AS u ON u.id = e.user WHERE {sought_event}

-- name: count_doings_by
SELECT count(*) FROM doings AS d LEFT JOIN users AS u ON u.id = d.user WHERE d.user = :user AND {sought_doing}

-- name: count_doings_by_all
SELECT count(*) FROM doings AS d LEFT JOIN users AS u ON u.id = d.user WHERE {sought_doing}

-- name: stretches
SELECT e.user, e.tool, e.kind, 'info', 1, count(*), min(e.at), max(e.at)
FROM events AS e
WHERE e.session = :session AND (:user IS NULL OR e.user = :user) AND e.kind <> 'embedded'
AND (e.kind <> 'moved' OR coalesce(e.detail ->> '$.to', e.collection) = e.collection)
GROUP BY e.user, e.tool, e.kind
UNION ALL
SELECT d.user, d.tool, d.what, d.level, 0, sum(d.times), min(d.at), max(d.at)
FROM doings AS d
WHERE d.session = :session AND (:user IS NULL OR d.user = :user)
GROUP BY d.user, d.tool, d.what, d.level
ORDER BY 7, 2, 3

-- name: note
INSERT INTO doings (at, user, credential, session, tool, level, what, subject, times)
VALUES (:at, :user, :credential, :session, :tool, :level, :what, :subject, :times)

-- name: oldest_doing
SELECT min(at) FROM doings

-- name: prune_doings
DELETE FROM doings WHERE at < :before
