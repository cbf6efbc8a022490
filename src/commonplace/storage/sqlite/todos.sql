-- What users mean to do.

-- fragment: todo
t.id, t.owner, t.content, t.priority, t.status, t.due_at, t.tags, t.created_at, t.changed_at, t.completed_at

-- fragment: wanted
t.owner = :owner
AND (:statuses IS NULL OR t.status IN (SELECT value FROM json_each(:statuses)))
AND (:priority IS NULL OR t.priority = :priority)
AND (
    :tags IS NULL
    OR EXISTS (
        SELECT 1 FROM json_each(t.tags) AS g WHERE folded(g.value) IN (SELECT folded(value) FROM json_each(:tags))
    )
)

-- name: todo
SELECT {todo} FROM todos AS t WHERE t.id = :id AND t.owner = :owner

-- name: todos_first
SELECT {todo}
FROM todos AS t
WHERE {wanted}
ORDER BY
    t.status = 'completed',
    t.status = 'completed' OR t.due_at IS NULL OR t.due_at >= :now,
    CASE t.priority WHEN 'high' THEN 0 WHEN 'medium' THEN 1 ELSE 2 END,
    t.due_at NULLS LAST,
    t.created_at DESC,
    t.id DESC
LIMIT :limit

-- name: todo_count
SELECT count(*) FROM todos AS t WHERE {wanted}

-- name: add_todo
INSERT INTO todos (id, owner, content, priority, status, due_at, tags, created_at, changed_at, completed_at)
VALUES (:id, :owner, :content, :priority, :status, :due_at, :tags, :created_at, :changed_at, :completed_at)

-- name: change_todo
UPDATE todos
SET
    content = :content,
    priority = :priority,
    status = :status,
    due_at = :due_at,
    tags = :tags,
    changed_at = :changed_at,
    completed_at = :completed_at
WHERE id = :id

-- name: remove_todo
DELETE FROM todos WHERE id = :id
