-- Spaces: their notes, their bank, and the files that show them outside.

CREATE UNIQUE INDEX spaces_by_name ON collections (name) WHERE kind = 'space';

-- A file of a space. What is worth finding is a memory, whose text is the file's; anything else carries its own.
CREATE TABLE space_files (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    space INTEGER NOT NULL REFERENCES collections (number),
    kind TEXT NOT NULL CHECK (kind IN ('note', 'bank', 'rules', 'synthesis')),
    name TEXT NOT NULL,
    memory INTEGER UNIQUE REFERENCES memories (number) ON DELETE CASCADE,
    content TEXT NOT NULL DEFAULT '',
    agent TEXT NOT NULL DEFAULT '',
    at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    size INTEGER NOT NULL,
    UNIQUE (space, kind, name)
) STRICT;

CREATE INDEX space_files_by_time ON space_files (space, kind, at, number);
CREATE INDEX space_files_by_agent ON space_files (space, kind, agent, at, number);

CREATE VIEW space_paths AS
SELECT
    f.number,
    c.name || '/' || CASE f.kind WHEN 'note' THEN 'live/' WHEN 'bank' THEN 'bank/' ELSE '' END || f.name AS path
FROM space_files AS f
JOIN collections AS c ON c.number = f.space;

-- What is to be written outside, or removed there; another change while it is being written gives another number.
-- `begun` holds the digests of what we have begun to write: after a kill it may stand there, and is still ours.
CREATE TABLE unmirrored (
    path TEXT PRIMARY KEY,
    change INTEGER NOT NULL,
    begun TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

-- What stands outside, as far as we know: the tag it had when we last wrote or read it.
CREATE TABLE mirrored (
    path TEXT PRIMARY KEY,
    tag TEXT NOT NULL,
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was brought by an import: once is enough, whatever became of it here.
CREATE TABLE brought (
    path TEXT NOT NULL,
    digest TEXT NOT NULL,
    PRIMARY KEY (path, digest)
) STRICT, WITHOUT ROWID;

-- By triggers, because a memory of a space may be changed, moved or removed by whoever may, through any dialect.
CREATE TRIGGER space_files_in AFTER INSERT ON space_files BEGIN
    INSERT INTO unmirrored (path, change) SELECT path, random() FROM space_paths WHERE number = new.number
    ON CONFLICT (path) DO UPDATE SET change = excluded.change;
END;
CREATE TRIGGER space_files_over AFTER UPDATE OF memory, content, agent, at, changed_at ON space_files BEGIN
    INSERT INTO unmirrored (path, change) SELECT path, random() FROM space_paths WHERE number = new.number
    ON CONFLICT (path) DO UPDATE SET change = excluded.change;
END;
CREATE TRIGGER space_files_out BEFORE DELETE ON space_files BEGIN
    INSERT INTO unmirrored (path, change) SELECT path, random() FROM space_paths WHERE number = old.number
    ON CONFLICT (path) DO UPDATE SET change = excluded.change;
END;
-- Every revision, because tags are rows of their own; what it left as it was is not written again.
CREATE TRIGGER space_memories_over AFTER UPDATE OF version ON memories
WHEN EXISTS (SELECT 1 FROM space_files WHERE memory = new.number) BEGIN
    UPDATE space_files
    SET changed_at = new.revised_at, size = size + length(CAST(new.content AS BLOB)) - length(CAST(old.content AS BLOB))
    WHERE memory = new.number;
END;
CREATE TRIGGER space_memories_away AFTER UPDATE OF collection ON memories
WHEN new.collection <> old.collection BEGIN
    DELETE FROM space_files WHERE memory = new.number;
END;
CREATE TRIGGER spaces_out AFTER DELETE ON collections WHEN old.kind = 'space' BEGIN
    DELETE FROM brought WHERE path > old.name || '/' AND path < old.name || '0';
END;
