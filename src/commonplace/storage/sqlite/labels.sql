-- Labels and categories.

-- fragment: label
l.id, l.owner, l.name, l.color, l.created_at

-- name: labels_of
SELECT {label} FROM labels AS l WHERE l.owner = :owner ORDER BY l.created_at, l.id

-- name: label
SELECT {label} FROM labels AS l WHERE l.id = :id AND l.owner = :owner

-- name: label_named
SELECT {label} FROM labels AS l WHERE l.owner = :owner AND l.name = :name

-- name: labels_on
SELECT {label}
FROM labelled AS d
JOIN labels AS l ON l.id = d.label
WHERE d.memory = :memory AND l.owner = :owner
ORDER BY d.created_at, l.id

-- name: label_uses
SELECT d.label, count(*)
FROM labels AS l
JOIN labelled AS d ON d.label = l.id
JOIN memories AS m ON m.number = d.memory
WHERE l.owner = :owner AND {seen_in_order}
GROUP BY d.label

-- name: add_label
INSERT INTO labels (id, owner, name, color, created_at) VALUES (:id, :owner, :name, :color, :at)

-- name: change_label
UPDATE labels SET name = :name, color = :color WHERE id = :id

-- name: remove_label
DELETE FROM labels WHERE id = :id

-- name: attach_label
INSERT INTO labelled (label, memory, created_at) VALUES (:label, :memory, :at) ON CONFLICT DO NOTHING

-- name: detach_label
DELETE FROM labelled WHERE label = :label AND memory = :memory

-- fragment: category
c.name, c.description, c.id, c.created_at

-- name: categories_of
SELECT {category} FROM categories AS c WHERE c.owner = :owner ORDER BY c.created_at, c.id

-- name: category
SELECT {category} FROM categories AS c WHERE c.id = :id AND c.owner = :owner

-- name: category_named
SELECT {category} FROM categories AS c WHERE c.owner = :owner AND c.name = :name

-- name: category_counts
-- A first category may stand among the further ones too; then it counts once.
SELECT name, count(*)
FROM (
    SELECT m.category AS name FROM memories AS m WHERE m.category <> '' AND {seen}
    UNION ALL
    SELECT c.name
    FROM categorised AS c
    JOIN memories AS m ON m.number = c.memory
    WHERE m.category <> c.name AND {seen_in_order}
)
GROUP BY name
ORDER BY count(*) DESC, name

-- name: further
SELECT c.name FROM categorised AS c WHERE c.memory = :memory ORDER BY c.position

-- name: bearing
SELECT m.number
FROM memories AS m
WHERE m.category = :name AND (:author IS NULL OR m.author_user = :author) AND {seen}
UNION
SELECT m.number
FROM categorised AS c
JOIN memories AS m ON m.number = c.memory
WHERE c.name = :name AND (:author IS NULL OR m.author_user = :author) AND {seen_in_order}
ORDER BY number
LIMIT :limit

-- name: add_category
INSERT INTO categories (id, owner, name, description, created_at) VALUES (:id, :owner, :name, :description, :at)

-- name: change_category
UPDATE categories SET name = :name, description = :description WHERE id = :id

-- name: remove_category
DELETE FROM categories WHERE id = :id

-- name: clear_further
DELETE FROM categorised WHERE memory = :memory

-- name: add_further
INSERT INTO categorised (memory, name, position) VALUES (:memory, :name, :position)
