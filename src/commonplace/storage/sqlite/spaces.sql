-- Spaces: their files, and what of them stands outside.

-- fragment: space_file
SELECT
    f.number, f.space, f.kind, f.name, coalesce(m.content, f.content), f.agent, f.at, f.changed_at, f.size,
    f.memory, m.id, m.version, m.category,
    (SELECT json_group_array(t.tag ORDER BY t.position) FROM tags AS t WHERE t.memory = f.memory)
FROM space_files AS f
LEFT JOIN memories AS m ON m.number = f.memory

-- fragment: note_is_asked_for
f.space = :space AND f.kind = 'note'
AND (:agent = '' OR f.agent = :agent)
AND (:since IS NULL OR f.at >= :since)

-- fragment: own_note
f.space = :space AND f.kind = 'note'
AND (:user IS NULL OR m.author_user = :user OR f.agent = :agent)

-- name: space_named
SELECT {collection} FROM collections AS c WHERE c.kind = 'space' AND c.name = :name

-- name: space_root
SELECT {collection} FROM collections AS c WHERE c.kind = 'spaces' ORDER BY c.number LIMIT 1

-- name: space_file
{space_file} WHERE f.space = :space AND f.kind = :kind AND f.name = :name

-- name: space_files
{space_file} WHERE f.space = :space AND f.kind = :kind ORDER BY f.name

-- name: notes
{space_file} WHERE {note_is_asked_for} AND (:category = '' OR m.category = :category) ORDER BY f.at DESC, f.number DESC LIMIT :limit

-- name: count_notes
SELECT count(*) FROM space_files AS f WHERE {note_is_asked_for}

-- name: count_notes_in_category
SELECT count(*)
FROM space_files AS f
JOIN memories AS m ON m.number = f.memory
WHERE {note_is_asked_for} AND m.category = :category

-- name: oldest_notes
{space_file} WHERE {own_note} ORDER BY f.at, f.number LIMIT :limit

-- name: count_notes_of
SELECT count(*) FROM space_files AS f LEFT JOIN memories AS m ON m.number = f.memory WHERE {own_note}

-- name: notes_among
{space_file}
WHERE f.space = :space AND f.kind = 'note' AND f.memory IN (SELECT value FROM json_each(:memories))
ORDER BY f.at DESC, f.number DESC
LIMIT :limit

-- name: count_notes_among
SELECT count(*)
FROM space_files AS f
WHERE f.space = :space AND f.kind = 'note' AND f.memory IN (SELECT value FROM json_each(:memories))

-- name: space_figures
SELECT space, kind, count(*), sum(size), min(at), max(at)
FROM space_files
WHERE space IN (SELECT value FROM json_each(:spaces))
GROUP BY space, kind

-- name: put_space_file
INSERT INTO space_files (space, kind, name, memory, content, agent, at, changed_at, size)
VALUES (:space, :kind, :name, :memory, :content, :agent, :at, :changed_at, :size)

-- name: rewrite_space_file
UPDATE space_files
SET memory = :memory, content = :content, agent = :agent, at = :at, changed_at = :changed_at, size = :size
WHERE number = :number

-- name: remove_space_file
DELETE FROM space_files WHERE number = :number

-- name: weigh_space_file
UPDATE space_files
SET size = :size
WHERE
    space = (SELECT number FROM collections WHERE kind = 'space' AND name = :space)
    AND kind = :kind AND name = :name AND size <> :size

-- name: unmirrored
SELECT path, change, begun FROM unmirrored WHERE path > :after ORDER BY path LIMIT :limit

-- name: count_unmirrored
SELECT count(*) FROM unmirrored

-- name: unmirrored_path
SELECT path, change, begun FROM unmirrored WHERE path = :path

-- name: mark_unmirrored
INSERT INTO unmirrored (path, change) VALUES (:path, random())
ON CONFLICT (path) DO UPDATE SET change = excluded.change

-- name: mark_all_unmirrored
INSERT INTO unmirrored (path, change)
SELECT path, random()
FROM (
    SELECT path FROM space_paths
    UNION ALL
    SELECT c.name || '/' || k.value FROM collections AS c, json_each(:kept) AS k WHERE c.kind = 'space'
)
WHERE true
ON CONFLICT (path) DO UPDATE SET change = excluded.change

-- name: begin_mirroring
UPDATE unmirrored SET begun = trim(begun || ' ' || :digest) WHERE path = :path AND instr(begun, :digest) = 0

-- name: begin_as_mirrored
UPDATE unmirrored
SET begun = trim(begun || ' ' || m.digest)
FROM mirrored AS m
WHERE m.path = unmirrored.path AND instr(begun, m.digest) = 0

-- name: unmark
DELETE FROM unmirrored WHERE path = :path

-- name: settle_unmirrored
DELETE FROM unmirrored WHERE path = :path AND change = :change

-- name: mirrored
SELECT path, tag, digest FROM mirrored WHERE path = :path

-- name: all_mirrored
SELECT path, tag, digest FROM mirrored ORDER BY path

-- name: know_mirrored
INSERT INTO mirrored (path, tag, digest) VALUES (:path, :tag, :digest)
ON CONFLICT (path) DO UPDATE SET tag = excluded.tag, digest = excluded.digest

-- name: forget_mirrored
DELETE FROM mirrored WHERE path = :path

-- name: forget_all_mirrored
DELETE FROM mirrored

-- name: was_brought
SELECT count(*) FROM brought WHERE path = :path AND digest = :digest

-- name: note_brought
INSERT INTO brought (path, digest) VALUES (:path, :digest) ON CONFLICT DO NOTHING
