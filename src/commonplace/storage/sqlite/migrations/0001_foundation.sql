-- The store of the first release. Times are microseconds since 1970 in UTC; ids are UUIDv7 as text;
-- `number` is this file's own handle for a row, never used twice.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE users (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    time_zone TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE credentials (
    id TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    permissions TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER
) STRICT, WITHOUT ROWID;

-- Where memories live together: the unit of access. Every user has one; 'global' is everyone's.
CREATE TABLE collections (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    kind TEXT NOT NULL,
    domain TEXT NOT NULL CHECK (domain IN ('global', 'user', 'project', 'session')),
    name TEXT NOT NULL DEFAULT '',
    owner TEXT REFERENCES users (id),
    parent INTEGER REFERENCES collections (number),
    created_at INTEGER NOT NULL,
    ends_at INTEGER,
    metadata TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE INDEX collections_by_owner ON collections (owner);
CREATE INDEX collections_by_parent ON collections (parent);

CREATE TABLE grants (
    subject_kind TEXT NOT NULL CHECK (subject_kind IN ('user', 'team', 'credential')),
    subject TEXT NOT NULL,
    collection INTEGER NOT NULL REFERENCES collections (number) ON DELETE CASCADE,
    access TEXT NOT NULL CHECK (access IN ('read', 'write', 'admin')),
    inherited INTEGER NOT NULL DEFAULT 1,
    granted_by TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (subject_kind, subject, collection)
) STRICT, WITHOUT ROWID;

CREATE TABLE memories (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    collection INTEGER NOT NULL REFERENCES collections (number),
    created_at INTEGER NOT NULL,
    importance REAL NOT NULL CHECK (importance BETWEEN 0 AND 1),
    category TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL DEFAULT 1,
    content_type TEXT NOT NULL DEFAULT 'text',
    keywords TEXT NOT NULL DEFAULT '[]',
    metadata TEXT NOT NULL DEFAULT '{}',
    author_user TEXT NOT NULL,
    author_credential TEXT NOT NULL,
    author_session TEXT NOT NULL,
    author_tool TEXT NOT NULL,
    revised_at INTEGER NOT NULL,
    reviser_user TEXT NOT NULL,
    reviser_credential TEXT NOT NULL,
    reviser_session TEXT NOT NULL,
    reviser_tool TEXT NOT NULL,
    content TEXT NOT NULL
) STRICT;

CREATE INDEX memories_by_time ON memories (created_at);

-- What a memory was before a change; the present state is the memory's own row.
CREATE TABLE versions (
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    made_at INTEGER NOT NULL,
    user TEXT NOT NULL,
    credential TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    importance REAL NOT NULL,
    category TEXT NOT NULL,
    content_type TEXT NOT NULL,
    tags TEXT NOT NULL,
    keywords TEXT NOT NULL,
    metadata TEXT NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (memory, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE tags (
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    tag TEXT NOT NULL,
    PRIMARY KEY (memory, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX tags_by_tag ON tags (tag, memory);

CREATE TABLE ephemeral (
    memory INTEGER PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE,
    ttl INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT;

CREATE INDEX ephemeral_by_end ON ephemeral (ends_at);

-- Apart from the row, so that recalling a memory does not rewrite its text.
CREATE TABLE uses (
    memory INTEGER PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE,
    count INTEGER NOT NULL,
    last_at INTEGER NOT NULL
) STRICT;

CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    target INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    strength REAL NOT NULL CHECK (strength BETWEEN 0 AND 1),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (source, target, kind)
) STRICT, WITHOUT ROWID;

CREATE INDEX links_by_target ON links (target, kind);

-- The chain. A block outlives its memory: then erased_at and seal stand for the text.
CREATE TABLE blocks (
    number INTEGER PRIMARY KEY,
    memory TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    timestamp TEXT NOT NULL,
    importance REAL NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    erased_at INTEGER,
    seal TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE TABLE events (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    credential TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    memory TEXT NOT NULL,
    memory_number INTEGER NOT NULL,
    collection INTEGER NOT NULL,
    detail TEXT NOT NULL DEFAULT '{}'
) STRICT;

-- Embedders that have vectors here. Vectors of two embedders are never compared.
CREATE TABLE embedders (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    fingerprint TEXT NOT NULL UNIQUE,
    dimensions INTEGER NOT NULL
) STRICT;

-- Half-precision numbers, little endian. Part 0 is the whole text, the others its parts in order.
CREATE TABLE vectors (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    memory INTEGER NOT NULL REFERENCES memories (number) ON DELETE CASCADE,
    embedder INTEGER NOT NULL REFERENCES embedders (number),
    part INTEGER NOT NULL,
    vector BLOB NOT NULL
) STRICT;

CREATE INDEX vectors_by_memory ON vectors (memory, embedder, part);

-- Memories that the active embedder has not seen, or not whole.
CREATE TABLE unembedded (
    memory INTEGER PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE,
    since INTEGER NOT NULL,
    reason TEXT NOT NULL
) STRICT;

-- Terms prepared by commonplace.language.terms. They are kept, not derived again, because deleting
-- from the index needs exactly the terms that went in. A query for one CJK character asks for all terms
-- that begin with it: hence the prefix.
CREATE VIRTUAL TABLE words USING fts5 (
    terms,
    prefix = '1',
    tokenize = "unicode61 remove_diacritics 0 categories 'L* N* M* S* Co'"
);

-- Deleted terms leave the index at once instead of at some later merge.
INSERT INTO words (words, rank) VALUES ('secure-delete', 1);

CREATE VIRTUAL TABLE word_counts USING fts5vocab (words, row);

-- Work that one process at a time may do.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    ends_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- A memory with everything that stands beside its row.
CREATE VIEW records AS
SELECT
    m.number,
    m.id,
    m.content,
    m.content_type,
    (SELECT json_group_array(t.tag ORDER BY t.position) FROM tags AS t WHERE t.memory = m.number) AS tags,
    m.keywords,
    m.category,
    m.importance,
    m.metadata,
    c.id AS collection_id,
    c.domain,
    m.author_user,
    m.author_credential,
    m.author_session,
    m.author_tool,
    m.created_at,
    m.version,
    m.reviser_user,
    m.reviser_credential,
    m.reviser_session,
    m.reviser_tool,
    m.revised_at,
    u.count AS uses,
    u.last_at AS used_at,
    e.ttl,
    e.ends_at,
    b.number AS block,
    m.collection
FROM memories AS m
JOIN collections AS c ON c.number = m.collection
LEFT JOIN uses AS u ON u.memory = m.number
LEFT JOIN ephemeral AS e ON e.memory = m.number
LEFT JOIN blocks AS b ON b.memory = m.id;
