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
    created_at INTEGER NOT NULL,
    -- The last event whose notice was let go because it was too old or one too many.
    pruned INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX watches_of ON watches (owner);
CREATE INDEX watches_in ON watches (collection);

-- That an event concerns a watch, written with the event: a memory that is gone can no longer be asked for its tags.
-- By owner and channel, as they are read: what one event is to several watches of a user stands together.
CREATE TABLE notices (
    owner TEXT NOT NULL,
    channel TEXT NOT NULL,
    event INTEGER NOT NULL REFERENCES events (number),
    watch INTEGER NOT NULL REFERENCES watches (number) ON DELETE CASCADE,
    happening TEXT NOT NULL CHECK (happening IN ('created', 'updated', 'deleted')),
    PRIMARY KEY (owner, channel, event, watch)
) STRICT, WITHOUT ROWID;

CREATE INDEX notices_of ON notices (watch, event);

-- Connections that are, or lately were, open. `changed` grows with every change that others are told of.
CREATE TABLE presences (
    changed INTEGER PRIMARY KEY AUTOINCREMENT,
    connection TEXT NOT NULL UNIQUE,
    user TEXT NOT NULL REFERENCES users (id),
    display_name TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL CHECK (status IN ('active', 'idle', 'busy', 'gone')),
    focus TEXT,
    connected_at INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
) STRICT;

CREATE INDEX presences_by_time ON presences (seen_at);

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
    subject TEXT NOT NULL DEFAULT '',
    times INTEGER NOT NULL DEFAULT 1
) STRICT;

CREATE INDEX doings_by_user ON doings (user, at);
CREATE INDEX doings_by_time ON doings (at);
CREATE INDEX doings_by_session ON doings (session);
CREATE INDEX events_by_user ON events (user, number);
