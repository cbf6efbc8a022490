-- Which session a caller works in is a matter of one connection, not of its key: several clients may use one key, and
-- all that start their servers themselves have the same. Which of them the rows so far were meant for cannot be told.
DROP TABLE current_sessions;

CREATE TABLE current_sessions (
    user TEXT NOT NULL,
    session TEXT NOT NULL, -- as in authors
    collection INTEGER NOT NULL REFERENCES collections (number) ON DELETE CASCADE,
    PRIMARY KEY (user, session)
) STRICT, WITHOUT ROWID;

CREATE INDEX current_sessions_by_collection ON current_sessions (collection);
