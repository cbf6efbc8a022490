-- Trees of collections, teams, and keys that open only a part.

CREATE TABLE teams (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE team_members (
    team TEXT NOT NULL REFERENCES teams (id) ON DELETE CASCADE,
    user TEXT NOT NULL REFERENCES users (id),
    role TEXT NOT NULL CHECK (role IN ('owner', 'admin', 'member')),
    invited_by TEXT NOT NULL DEFAULT '',
    created_at INTEGER NOT NULL,
    PRIMARY KEY (team, user)
) STRICT, WITHOUT ROWID;

CREATE INDEX team_members_by_user ON team_members (user);

-- Who may join a collection of his own accord.
CREATE TABLE invitations (
    collection INTEGER NOT NULL REFERENCES collections (number) ON DELETE CASCADE,
    subject_kind TEXT NOT NULL CHECK (subject_kind IN ('user', 'team')),
    subject TEXT NOT NULL,
    invited_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (collection, subject_kind, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX invitations_by_subject ON invitations (subject_kind, subject);

-- Where a memory lived before it was lent to a collection that ends.
CREATE TABLE loans (
    memory INTEGER PRIMARY KEY REFERENCES memories (number) ON DELETE CASCADE,
    home INTEGER NOT NULL REFERENCES collections (number) ON DELETE CASCADE
) STRICT;

CREATE INDEX loans_by_home ON loans (home);

-- What a key opens: nothing but these collections and what is below them; NULL for all that its user may reach.
ALTER TABLE credentials ADD COLUMN kind TEXT NOT NULL DEFAULT 'key';
ALTER TABLE credentials ADD COLUMN collections TEXT;

CREATE INDEX credentials_by_user ON credentials (user);
CREATE INDEX collections_by_kind ON collections (kind, number);

-- Another number after every change to who holds what, so that who has looked before need not look again.
-- By chance and not counted: a number that was taken back, or was before a restore, must never come again.
CREATE TABLE holding_mark (mark INTEGER NOT NULL) STRICT;
INSERT INTO holding_mark (mark) VALUES (random());

CREATE TRIGGER grants_in AFTER INSERT ON grants BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER grants_over AFTER UPDATE ON grants BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER grants_out AFTER DELETE ON grants BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER team_members_in AFTER INSERT ON team_members BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER team_members_over AFTER UPDATE OF team, user ON team_members BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER team_members_out AFTER DELETE ON team_members BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER collections_in AFTER INSERT ON collections BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER collections_over AFTER UPDATE OF number, id, kind, domain, owner, parent, ends_at ON collections BEGIN
    UPDATE holding_mark SET mark = random();
END;
CREATE TRIGGER collections_out AFTER DELETE ON collections BEGIN
    UPDATE holding_mark SET mark = random();
END;
