-- Who wants to know what, who is here, and who did what.

-- A wish to hear of changes. A condition that is NULL holds always.
CREATE TABLE watches (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL REFERENCES users (id),
    name TEXT NOT NULL DEFAULT '',
    category TEXT,
    collection INTEGER REFERENCES collections (number) ON DELETE CASCADE,
    tags TEXT,
    happenings TEXT NOT NULL,
    channel TEXT NOT NULL CHECK (channel IN ('mcp', 'websocket')),
    created_at INTEGER NOT NULL
) STRICT;

CREATE INDEX watches_of ON watches (owner);

-- That an event concerns a watch, written with the event: a memory that is gone can no longer be asked for its tags.
CREATE TABLE notices (
    watch INTEGER NOT NULL REFERENCES watches (number) ON DELETE CASCADE,
    event INTEGER NOT NULL REFERENCES events (number),
    happening TEXT NOT NULL CHECK (happening IN ('created', 'updated', 'deleted')),
    PRIMARY KEY (watch, event)
) STRICT, WITHOUT ROWID;

-- Connections that are, or lately were, open.
CREATE TABLE presences (
    connection TEXT PRIMARY KEY,
    user TEXT NOT NULL REFERENCES users (id),
    credential TEXT NOT NULL,
    display_name TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL CHECK (status IN ('active', 'idle', 'busy')),
    focus TEXT NOT NULL DEFAULT '{}',
    connected_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL,
    changed INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX presences_by_change ON presences (changed);

-- What was done or refused, beside the events of memories: who, when, by which tool, about what. Never a text.
CREATE TABLE doings (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    user TEXT NOT NULL,
    credential TEXT NOT NULL,
    session TEXT NOT NULL,
    tool TEXT NOT NULL,
    level TEXT NOT NULL CHECK (level IN ('info', 'warning', 'error')),
    what TEXT NOT NULL,
    subject TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX doings_by_user ON doings (user, number);
CREATE INDEX events_by_user ON events (user, number);
