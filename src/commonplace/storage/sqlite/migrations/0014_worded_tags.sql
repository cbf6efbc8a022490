-- The words of tags and categories are found in full text too. A file of an earlier release gets there in the
-- background: these are the memories that wait for it.
CREATE TABLE unworded (
    memory INTEGER PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE
) STRICT;

INSERT INTO unworded (memory)
SELECT m.number
FROM memories AS m
WHERE m.category <> ''
OR EXISTS (SELECT 1 FROM tags AS t WHERE t.memory = m.number)
OR EXISTS (SELECT 1 FROM categorised AS c WHERE c.memory = m.number);
