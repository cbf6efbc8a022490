-- A memory that was deleted may come back under its own id, from a backup: then it has a block of its own at the end of
-- the chain, and the earlier one stays erased. Only one block of a memory stands.
DROP VIEW records;

CREATE TABLE chain (
    number INTEGER PRIMARY KEY,
    memory TEXT NOT NULL,
    version INTEGER NOT NULL,
    timestamp TEXT NOT NULL,
    importance REAL NOT NULL,
    previous_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    erased_at INTEGER,
    seal TEXT NOT NULL DEFAULT ''
) STRICT;

INSERT INTO chain (number, memory, version, timestamp, importance, previous_hash, hash, erased_at, seal)
SELECT number, memory, version, timestamp, importance, previous_hash, hash, erased_at, seal FROM blocks;

DROP TABLE blocks;
ALTER TABLE chain RENAME TO blocks;

CREATE UNIQUE INDEX blocks_standing ON blocks (memory) WHERE erased_at IS NULL;
CREATE INDEX blocks_erased ON blocks (memory) WHERE erased_at IS NOT NULL;

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
LEFT JOIN blocks AS b ON b.memory = m.id AND b.erased_at IS NULL;
