-- Projects and sessions are collections; this is what they need beside the rows they have.

CREATE INDEX grants_by_collection ON grants (collection);
CREATE INDEX memories_by_collection ON memories (collection, number);

-- Which session a caller works in when it names none.
CREATE TABLE current_sessions (
    user TEXT NOT NULL,
    credential TEXT NOT NULL,
    collection INTEGER NOT NULL REFERENCES collections (number) ON DELETE CASCADE,
    PRIMARY KEY (user, credential)
) STRICT, WITHOUT ROWID;

-- A link that is used stays strong; one that is not fades.
ALTER TABLE links ADD COLUMN used_at INTEGER;
CREATE INDEX links_by_strength ON links (source, strength DESC);
CREATE INDEX links_by_strength_back ON links (target, strength DESC);
