-- Paths: the tree of addresses. `:collections` and `:now` say which memories may be seen.
-- CROSS JOIN where the tree is climbed: from what was reached to its paths. The other way round is the whole tree.

-- fragment: seen
m.collection IN (SELECT value FROM json_each(:collections))
AND NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number AND e.ends_at <= :now)

-- fragment: seen_in_order
-- With a plus sign, so that the order is taken from an index and the first are found without looking at all.
+m.collection IN (SELECT value FROM json_each(:collections))
AND NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number AND e.ends_at <= :now)

-- fragment: path
p.tree, p.domain, p.parent, p.name, p.memory, p.priority, p.disclosure, p.created_at, p.number

-- name: path_at_root
SELECT {path} FROM paths AS p WHERE p.tree = :tree AND p.domain = :domain AND p.name = :name AND p.parent IS NULL

-- name: path_below
SELECT {path} FROM paths AS p WHERE p.parent = :parent AND p.tree = :tree AND p.name = :name

-- name: branches_at_root
SELECT {path}, m.id, substr(m.content, 1, :glimpse)
FROM paths AS p
JOIN memories AS m ON m.number = p.memory
WHERE p.tree = :tree AND p.domain = :domain AND p.parent IS NULL AND {seen}
ORDER BY p.priority, p.name
LIMIT :limit

-- name: branches_below
SELECT {path}, m.id, substr(m.content, 1, :glimpse)
FROM paths AS p
JOIN memories AS m ON m.number = p.memory
WHERE p.parent = :parent AND p.tree = :tree AND {seen}
ORDER BY p.priority, p.name
LIMIT :limit

-- name: branch_count_at_root
SELECT count(*)
FROM paths AS p
JOIN memories AS m ON m.number = p.memory
WHERE p.tree = :tree AND p.domain = :domain AND p.parent IS NULL AND {seen}

-- name: branch_count_below
SELECT count(*)
FROM paths AS p
JOIN memories AS m ON m.number = p.memory
WHERE p.parent = :parent AND p.tree = :tree AND {seen}

-- name: paths_to
SELECT {path} FROM paths AS p WHERE p.memory = :memory AND p.tree = :tree ORDER BY p.priority, p.number

-- name: paths_below
SELECT {path} FROM paths AS p WHERE p.parent = :memory AND p.tree = :tree ORDER BY p.priority, p.name

-- name: trees_with
SELECT DISTINCT tree FROM paths WHERE memory = :memory OR parent = :memory

-- name: paths_after
SELECT {path}, m.id, ''
FROM paths AS p
JOIN memories AS m ON m.number = p.memory
WHERE p.tree = :tree AND p.number > :after AND {seen}
ORDER BY p.number
LIMIT :limit

-- name: stems
SELECT p.domain, p.parent, p.name, p.memory, p.priority
FROM paths AS p
JOIN memories AS m ON m.number = p.memory
WHERE p.tree = :tree AND {seen}

-- name: largest_title_at_root
SELECT coalesce(max(CAST(name AS INTEGER)), 0)
FROM paths
WHERE tree = :tree AND domain = :domain AND parent IS NULL AND name NOT GLOB '*[^0-9]*' AND length(name) < 16

-- name: largest_title_below
SELECT coalesce(max(CAST(name AS INTEGER)), 0)
FROM paths
WHERE parent = :parent AND tree = :tree AND name NOT GLOB '*[^0-9]*' AND length(name) < 16

-- name: ancestors
WITH RECURSIVE up (memory) AS (
    SELECT parent FROM paths WHERE memory = :memory AND tree = :tree AND parent IS NOT NULL
    UNION
    SELECT p.parent
    FROM up
    CROSS JOIN paths AS p ON p.memory = up.memory
    WHERE p.tree = :tree AND p.parent IS NOT NULL
)
SELECT memory FROM up

-- name: rooted
WITH RECURSIVE up (memory) AS (
    SELECT :memory
    UNION
    SELECT coalesce(p.parent, 0)
    FROM up
    CROSS JOIN paths AS p ON p.memory = up.memory
    WHERE p.tree = :tree AND p.number <> :without
)
SELECT EXISTS (SELECT 1 FROM up WHERE memory = 0)

-- name: add_path
INSERT INTO paths (tree, domain, parent, name, memory, priority, disclosure, created_at)
VALUES (:tree, :domain, :parent, :name, :memory, :priority, :disclosure, :created_at)

-- name: adjust_path
UPDATE paths SET priority = :priority, disclosure = :disclosure WHERE number = :number

-- name: remove_path
DELETE FROM paths WHERE number = :number

-- name: amend
INSERT INTO amendments (
    event, path, tree, domain, parent, name, memory,
    priority_before, disclosure_before, priority_after, disclosure_after
) VALUES (
    :event, :path, :tree, :domain, :parent, :name, :memory,
    :priority_before, :disclosure_before, :priority_after, :disclosure_after
)

-- name: amendments_among
SELECT
    event, path, tree, domain, parent, name, memory,
    priority_before, disclosure_before, priority_after, disclosure_after
FROM amendments
WHERE event IN (SELECT value FROM json_each(:events))
ORDER BY event

-- name: put_orphan
INSERT INTO orphans (memory, tree, last, since) VALUES (:memory, :tree, :last, :since)
ON CONFLICT (memory, tree) DO UPDATE SET last = excluded.last, since = excluded.since

-- name: clear_orphan
DELETE FROM orphans WHERE memory = :memory AND tree = :tree

-- name: orphans
SELECT o.memory, o.last, o.since
FROM orphans AS o
JOIN memories AS m ON m.number = o.memory
WHERE o.tree = :tree AND {seen}
ORDER BY o.since DESC, o.memory DESC
LIMIT :limit OFFSET :offset

-- name: orphan_count
SELECT count(*) FROM orphans AS o JOIN memories AS m ON m.number = o.memory WHERE o.tree = :tree AND {seen}

-- name: pathless
SELECT m.number
FROM memories AS m
WHERE NOT EXISTS (SELECT 1 FROM paths AS p WHERE p.memory = m.number AND p.tree = :tree) AND {seen_in_order}
ORDER BY m.number DESC
LIMIT :limit

-- name: pathless_count
SELECT count(*)
FROM memories AS m
WHERE NOT EXISTS (SELECT 1 FROM paths AS p WHERE p.memory = m.number AND p.tree = :tree) AND {seen}

-- name: latest_with_path
SELECT m.number
FROM memories AS m
WHERE EXISTS (SELECT 1 FROM paths AS p WHERE p.memory = m.number AND p.tree = :tree) AND {seen_in_order}
ORDER BY m.revised_at DESC, m.number DESC
LIMIT :limit

-- name: ways
WITH RECURSIVE up (memory) AS (
    SELECT value FROM json_each(:numbers)
    UNION
    SELECT p.parent
    FROM up
    CROSS JOIN paths AS p ON p.memory = up.memory
    WHERE p.tree = :tree AND p.parent IS NOT NULL
)
SELECT {path}
FROM up
CROSS JOIN paths AS p ON p.memory = up.memory
WHERE p.tree = :tree
ORDER BY p.priority, p.number

-- name: descendants
WITH RECURSIVE down (memory) AS (
    SELECT value FROM json_each(:memories)
    UNION
    SELECT p.memory FROM down CROSS JOIN paths AS p ON p.parent = down.memory WHERE p.tree = :tree
    LIMIT :most
)
SELECT memory FROM down

-- name: standings
SELECT m.number, min(p.priority)
FROM memories AS m
LEFT JOIN paths AS p ON p.memory = m.number AND p.tree = :tree
WHERE m.number IN (SELECT value FROM json_each(:numbers)) AND {seen}
GROUP BY m.number
ORDER BY min(p.priority) IS NULL, min(p.priority), m.revised_at DESC, m.number DESC

-- name: texts
SELECT number, content FROM memories WHERE number IN (SELECT value FROM json_each(:numbers))

-- name: texts_matching
SELECT l.rowid
FROM letters AS l
CROSS JOIN memories AS m ON m.number = l.rowid
WHERE letters MATCH :phrase AND {seen}
ORDER BY l.rowid DESC
LIMIT :most

-- name: texts_with_term
-- What stands behind the line break are tags and categories, whose terms the text itself does not have (wording.py).
SELECT w.rowid
FROM words AS w
CROSS JOIN memories AS m ON m.number = w.rowid
WHERE
    words MATCH :term
    AND instr(' ' || substr(w.terms, 1, instr(w.terms || char(10), char(10)) - 1) || ' ', :word) > 0
    AND {seen}
ORDER BY w.rowid DESC
LIMIT :most

-- name: texts_like
SELECT m.number
FROM memories AS m
WHERE
    (
        m.content LIKE :pattern ESCAPE '\'
        OR m.content LIKE :other ESCAPE '\'
        OR (:begun <> '' AND (m.content LIKE :begun ESCAPE '\' OR m.content LIKE :ended ESCAPE '\'))
        OR (:apart <> '' AND (m.content LIKE :apart ESCAPE '\' OR m.content LIKE :other_apart ESCAPE '\'))
    )
    AND {seen}
ORDER BY m.number DESC
LIMIT :most

-- name: texts_with_marks
-- The condition as it stands in the index, or the index could not be used.
SELECT m.number
FROM memories AS m INDEXED BY memories_with_marks
WHERE
    m.content GLOB '*[' || char(768) || '-' || char(879) || char(12441, 12442) || char(4449) || '-' || char(4546) || ']*'
    AND {seen}
ORDER BY m.number DESC
LIMIT :most

-- name: names_matching
SELECT {path}
FROM names AS n
JOIN paths AS p ON p.number = n.rowid
WHERE names MATCH :phrase AND p.tree = :tree
LIMIT :most

-- name: names_like
SELECT {path}
FROM paths AS p
WHERE p.tree = :tree AND (p.name LIKE :pattern ESCAPE '\' OR p.name LIKE :other ESCAPE '\')
LIMIT :most
