-- A block covers the text as it was first written; this covers what it was changed to, as it is now.
CREATE TABLE revision_seals (
    memory INTEGER PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE,
    hash TEXT NOT NULL
) STRICT;

INSERT INTO revision_seals (memory, hash)
SELECT number, revision_seal(id, version, content) FROM memories WHERE version > 1;
