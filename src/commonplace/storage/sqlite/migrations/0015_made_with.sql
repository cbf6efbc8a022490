-- With which credential one was made: to revoke it revokes what was made with it. Of what is there already, what the
-- audit trail still tells; whoever was at the machine itself had none.
ALTER TABLE credentials ADD COLUMN made_with TEXT;

UPDATE credentials
SET
    made_with = (
        SELECT maker.id
        FROM doings AS d
        JOIN credentials AS maker ON maker.user = d.user AND maker.name = d.credential
        WHERE d.subject = credentials.id
        AND d.what IN ('key created', 'shared key created', 'token created')
        AND d.credential <> 'local'
        AND maker.id <> credentials.id
        AND maker.created_at <= d.at
        AND coalesce(maker.revoked_at, d.at) >= d.at
        ORDER BY maker.created_at DESC
        LIMIT 1
    );
