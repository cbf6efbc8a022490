-- Wishes to hear of changes, and what there is to hear.

-- name: notice
-- A move is told once to those who watch everything, and to those who watch a place when something leaves it.
INSERT INTO notices (watch, event, happening)
WITH RECURSIVE around (number) AS (
    SELECT :collection
    UNION
    SELECT c.parent FROM around AS a JOIN collections AS c ON c.number = a.number WHERE c.parent IS NOT NULL
)
SELECT w.number, :event, :change
FROM watches AS w
WHERE :change IN (SELECT value FROM json_each(w.happenings))
AND (w.collection IN (SELECT number FROM around) OR (w.collection IS NULL AND NOT :leaving))
AND (
    w.category IS NULL
    OR w.category = (SELECT m.category FROM memories AS m WHERE m.number = :memory)
    OR EXISTS (SELECT 1 FROM categorised AS c WHERE c.memory = :memory AND c.name = w.category)
)
AND (
    w.tags IS NULL
    OR EXISTS (SELECT 1 FROM tags AS t WHERE t.memory = :memory AND t.tag IN (SELECT value FROM json_each(w.tags)))
)
