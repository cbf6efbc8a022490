-- Addresses. A path is an edge: a name at the root of a domain or below a memory, leading to a memory.
-- Children belong to the memory, so they are reached through every alias of it. A tree is one user's: their home.
CREATE TABLE paths (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tree INTEGER NOT NULL REFERENCES collections (number),
    domain TEXT NOT NULL,
    parent INTEGER REFERENCES memories (number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    priority INTEGER NOT NULL CHECK (priority >= 0),
    disclosure TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    CHECK ((parent IS NULL) = (domain <> ''))
) STRICT;

CREATE UNIQUE INDEX paths_at_root ON paths (tree, domain, name) WHERE parent IS NULL;
CREATE UNIQUE INDEX paths_below ON paths (parent, tree, name) WHERE parent IS NOT NULL;
CREATE INDEX paths_of ON paths (memory, tree);
CREATE INDEX paths_of_tree ON paths (tree, number);

-- What a change did to a path, beside its event. The words go when the memory goes.
CREATE TABLE amendments (
    event INTEGER PRIMARY KEY REFERENCES events (number),
    path INTEGER NOT NULL,
    tree INTEGER NOT NULL,
    domain TEXT NOT NULL,
    parent INTEGER,
    name TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    priority_before INTEGER,
    disclosure_before TEXT,
    priority_after INTEGER,
    disclosure_after TEXT
) STRICT;

CREATE INDEX amendments_of ON amendments (memory);

-- Memories that have lost their last path in a tree.
CREATE TABLE orphans (
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    tree INTEGER NOT NULL REFERENCES collections (number),
    last TEXT NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY (memory, tree)
) STRICT, WITHOUT ROWID;

CREATE INDEX orphans_of_tree ON orphans (tree, since);

-- Every three letters of each text, and of each name: literal search. The texts stay in their rows.
CREATE VIRTUAL TABLE letters USING fts5 (content, content = 'memories', content_rowid = 'number', tokenize = 'trigram');
INSERT INTO letters (letters, rank) VALUES ('secure-delete', 1);
INSERT INTO letters (letters) VALUES ('rebuild');

CREATE VIRTUAL TABLE names USING fts5 (name, content = 'paths', content_rowid = 'number', tokenize = 'trigram');
INSERT INTO names (names, rank) VALUES ('secure-delete', 1);

-- By triggers, because removing a memory removes its paths by itself.
CREATE TRIGGER letters_in AFTER INSERT ON memories BEGIN
    INSERT INTO letters (rowid, content) VALUES (new.number, new.content);
END;
CREATE TRIGGER letters_out AFTER DELETE ON memories BEGIN
    INSERT INTO letters (letters, rowid, content) VALUES ('delete', old.number, old.content);
END;
CREATE TRIGGER letters_over AFTER UPDATE OF content ON memories WHEN old.content <> new.content BEGIN
    INSERT INTO letters (letters, rowid, content) VALUES ('delete', old.number, old.content);
    INSERT INTO letters (rowid, content) VALUES (new.number, new.content);
END;
CREATE TRIGGER names_in AFTER INSERT ON paths BEGIN
    INSERT INTO names (rowid, name) VALUES (new.number, new.name);
END;
CREATE TRIGGER names_out AFTER DELETE ON paths BEGIN
    INSERT INTO names (names, rowid, name) VALUES ('delete', old.number, old.name);
END;

CREATE INDEX memories_by_revision ON memories (revised_at);
CREATE INDEX events_by_session ON events (session, number);
CREATE INDEX events_by_memory ON events (memory, number);

-- Where imported memories came from, so that none is brought twice.
CREATE TABLE origins (
    source TEXT NOT NULL,
    origin TEXT NOT NULL,
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    PRIMARY KEY (source, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX origins_of ON origins (memory);
