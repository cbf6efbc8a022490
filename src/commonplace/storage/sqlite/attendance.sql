-- Who is here.

-- fragment: presence
SELECT p.connection, p.user, coalesce(nullif(p.display_name, ''), u.name), p.status, p.focus, p.connected_at, p.seen_at
FROM presences AS p
JOIN users AS u ON u.id = p.user

-- name: presence
{presence} WHERE p.connection = :connection

-- name: presences_since
{presence}
WHERE p.seen_at > :seen AND p.status <> 'gone' AND (:user IS NULL OR p.user = :user)
ORDER BY p.connected_at, p.connection

-- name: last_presence
SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'presences'), 0)

-- name: teammates
SELECT DISTINCT other.user
FROM team_members AS own
JOIN team_members AS other ON other.team = own.team
WHERE own.user = :user

-- name: put_presence
-- A row anew has a number anew.
INSERT OR REPLACE INTO presences (connection, user, display_name, status, focus, connected_at, seen_at)
VALUES (:connection, :user, :display_name, :status, :focus, :connected_at, :seen_at)

-- name: touch_presence
UPDATE presences SET seen_at = :at WHERE connection = :connection

-- name: overdue_presences
SELECT EXISTS (SELECT 1 FROM presences WHERE seen_at <= :before)

-- name: prune_presences
DELETE FROM presences WHERE seen_at <= :before
