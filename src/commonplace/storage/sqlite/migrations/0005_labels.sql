-- Words that users put on memories beside tags, and what they mean to do.

CREATE TABLE labels (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    color TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    UNIQUE (owner, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE labelled (
    label TEXT NOT NULL REFERENCES labels (id) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (label, memory)
) STRICT, WITHOUT ROWID;

CREATE INDEX labelled_by_memory ON labelled (memory);

-- A category is known by its name; this is what a user has said about one.
CREATE TABLE categories (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    UNIQUE (owner, name)
) STRICT, WITHOUT ROWID;

-- The further categories of a memory; its first stands in its row.
CREATE TABLE categorised (
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (memory, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX categorised_by_name ON categorised (name, memory);
CREATE INDEX memories_by_category ON memories (collection, category);

CREATE TABLE todos (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL REFERENCES users (id),
    content TEXT NOT NULL,
    priority TEXT NOT NULL CHECK (priority IN ('low', 'medium', 'high')),
    status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed')),
    due_at INTEGER,
    tags TEXT NOT NULL DEFAULT '[]',
    created_at INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    completed_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX todos_of ON todos (owner, status);
