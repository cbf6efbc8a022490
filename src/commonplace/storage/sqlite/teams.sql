-- Teams, their members, and what was shared with them.

-- fragment: team
t.id, t.name, t.description, t.created_at

-- name: team
SELECT {team} FROM teams AS t WHERE t.id = :id

-- name: team_role
SELECT role FROM team_members WHERE team = :team AND user = :user

-- name: teams_of
SELECT
    {team}, m.role,
    (SELECT count(*) FROM team_members AS o WHERE o.team = t.id),
    (SELECT count(*) FROM grants AS g WHERE g.subject_kind = 'team' AND g.subject = t.id)
FROM team_members AS m
JOIN teams AS t ON t.id = m.team
WHERE m.user = :user
ORDER BY t.created_at DESC, t.id DESC
LIMIT :limit

-- name: count_teams_of
SELECT count(*) FROM team_members WHERE user = :user AND (:role IS NULL OR role = :role)

-- name: mates
SELECT u.id, u.name, m.role, m.created_at
FROM team_members AS m
JOIN users AS u ON u.id = m.user
WHERE m.team = :team
ORDER BY CASE m.role WHEN 'owner' THEN 0 WHEN 'admin' THEN 1 ELSE 2 END, m.created_at, u.name
LIMIT :limit

-- name: count_mates
SELECT count(*) FROM team_members WHERE team = :team

-- name: shares_of
SELECT {collection}, g.access, g.inherited, g.created_at, {team}
FROM grants AS g
JOIN collections AS c ON c.number = g.collection
JOIN teams AS t ON t.id = g.subject
WHERE g.collection = :atlas AND g.subject_kind = 'team' AND (:team IS NULL OR g.subject = :team)
ORDER BY g.created_at DESC, t.id DESC
LIMIT :limit

-- name: shared_with
SELECT {collection}, g.access, g.inherited, g.created_at AS since, {team}
FROM team_members AS m
JOIN grants AS g ON g.subject_kind = 'team' AND g.subject = m.team
JOIN collections AS c ON c.number = g.collection AND c.kind = 'atlas'
JOIN teams AS t ON t.id = m.team
WHERE m.user = :user
UNION ALL
SELECT {collection}, g.access, g.inherited, g.created_at, NULL, NULL, NULL, NULL
FROM grants AS g
JOIN collections AS c ON c.number = g.collection AND c.kind = 'atlas'
WHERE g.subject_kind = 'user' AND g.subject = :user
ORDER BY since DESC, 1 DESC, 14
LIMIT :limit

-- name: count_shared_with
SELECT
    (
        SELECT count(*)
        FROM team_members AS m
        JOIN grants AS g ON g.subject_kind = 'team' AND g.subject = m.team
        JOIN collections AS c ON c.number = g.collection AND c.kind = 'atlas'
        WHERE m.user = :user
    )
    + (
        SELECT count(*)
        FROM grants AS g
        JOIN collections AS c ON c.number = g.collection AND c.kind = 'atlas'
        WHERE g.subject_kind = 'user' AND g.subject = :user
    )

-- name: add_team
INSERT INTO teams (id, name, description, created_at) VALUES (:id, :name, :description, :created_at)

-- name: put_mate
INSERT INTO team_members (team, user, role, invited_by, created_at) VALUES (:team, :user, :role, :by, :at)
ON CONFLICT (team, user) DO UPDATE SET role = excluded.role

-- name: remove_mate
DELETE FROM team_members WHERE team = :team AND user = :user

-- name: grant_team
INSERT INTO grants (subject_kind, subject, collection, access, inherited, granted_by, created_at)
VALUES ('team', :team, :atlas, :access, :inherited, :by, :at)
ON CONFLICT (subject_kind, subject, collection)
DO UPDATE SET access = excluded.access, inherited = excluded.inherited, granted_by = excluded.granted_by

-- name: ungrant_team
DELETE FROM grants WHERE subject_kind = 'team' AND subject = :team AND collection = :atlas
