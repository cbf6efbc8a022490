-- Named queries. `-- name:` begins one; a line `-- fragment:` begins a text that others include as {name}.

-- fragment: passes
collection IN (SELECT value FROM json_each(:collections))
AND (ends_at IS NULL OR ends_at > :now)
AND (:since IS NULL OR created_at >= :since)
AND (:until IS NULL OR created_at <= :until)
AND (:importance_min IS NULL OR importance >= :importance_min)
AND (:importance_max IS NULL OR importance <= :importance_max)
AND (:ephemeral IS NULL OR (ends_at IS NOT NULL) = :ephemeral)
AND (:ttl_over IS NULL OR ttl > :ttl_over)
AND (:ttl_upto IS NULL OR ttl <= :ttl_upto)
AND (
    :categories IS NULL
    OR category IN (SELECT value FROM json_each(:categories))
    OR number IN (SELECT c.memory FROM categorised AS c WHERE c.name IN (SELECT value FROM json_each(:categories)))
)
AND (
    :metadata IS NULL
    OR NOT EXISTS (SELECT 1 FROM json_each(:metadata) AS f WHERE metadata ->> f.key IS NOT f.value)
)
AND (
    :labels IS NULL
    OR number IN (SELECT l.memory FROM labelled AS l WHERE l.label IN (SELECT value FROM json_each(:labels)))
)
AND (
    :tags IS NULL
    OR number IN (SELECT t.memory FROM tags AS t WHERE t.folded IN (SELECT folded(value) FROM json_each(:tags)))
)

-- fragment: described
NOT EXISTS (SELECT 1 FROM json_each(:metadata) AS f WHERE m.metadata ->> f.key IS NOT f.value)

-- fragment: entries
SELECT m.number, m.collection, m.author_user, m.created_at, m.importance, m.category, e.ends_at, w.sz
FROM memories AS m
LEFT JOIN ephemeral AS e ON e.memory = m.number
LEFT JOIN words_docsize AS w ON w.id = m.number

-- name: holdings
-- In parts, each by its own index: there may be many collections, and this is asked in every call. The joins go from
-- what is the user's to what belongs to it, never through what others have. Where the same right comes in several
-- ways it is followed down once; where a collection comes up with several rights, the best of them counts.
-- A shelf of a shared context ends for everyone but its owner.
WITH RECURSIVE granted (number, access, inherited) AS (
    SELECT g.collection, g.access, g.inherited
    FROM grants AS g
    WHERE g.subject_kind = 'user' AND g.subject = :user
    UNION
    SELECT g.collection, g.access, g.inherited
    FROM team_members AS t
    CROSS JOIN grants AS g ON g.subject_kind = 'team' AND g.subject = t.team
    WHERE t.user = :user
    UNION
    SELECT c.number, 'admin', 1
    FROM collections AS o
    CROSS JOIN collections AS c ON c.parent = o.number AND c.owner IS NOT :user
    WHERE o.owner = :user
    UNION
    SELECT c.number, g.access, 1
    FROM granted AS g
    CROSS JOIN collections AS c ON c.parent = g.number
    WHERE g.inherited
)
SELECT c.number, c.id, c.domain, c.owner, NULL, CASE c.kind WHEN 'shelf' THEN NULL ELSE c.ends_at END, c.kind
FROM collections AS c
WHERE c.owner = :user
UNION ALL
SELECT c.number, c.id, c.domain, c.owner, NULL, NULL, c.kind
FROM collections AS c
WHERE c.owner IS NULL AND c.domain = 'global'
UNION ALL
SELECT c.number, c.id, c.domain, c.owner, g.access, c.ends_at, c.kind
FROM granted AS g
CROSS JOIN collections AS c ON c.number = g.number
WHERE c.owner IS NOT :user

-- name: holding_mark
SELECT mark FROM holding_mark

-- name: home
SELECT number FROM collections WHERE owner = :user AND kind = 'user'

-- name: user_named
SELECT id, name, time_zone, created_at FROM users WHERE name = :name

-- name: user
SELECT id, name, time_zone, created_at FROM users WHERE id = :id

-- name: add_user
INSERT INTO users (id, name, time_zone, created_at) VALUES (:id, :name, :time_zone, :created_at)

-- fragment: credential
id, user, name, hash, permissions, created_at, expires_at, revoked_at, kind, collections, made_with

-- name: credential_by_hash
SELECT {credential} FROM credentials WHERE hash = :hash

-- name: credential_by_id
SELECT {credential} FROM credentials WHERE id = :id

-- name: credentials
SELECT {credential} FROM credentials ORDER BY created_at, id

-- name: add_credential
INSERT INTO credentials (
    id, user, name, hash, permissions, created_at, expires_at, revoked_at, kind, collections, made_with
) VALUES (
    :id, :user, :name, :hash, :permissions, :created_at, :expires_at, :revoked_at, :kind, :collections, :made_with
)

-- name: change_credential
UPDATE credentials SET permissions = :permissions, collections = :collections WHERE id = :id

-- name: remove_credential
DELETE FROM credentials WHERE id = :id

-- name: revoke_credential
UPDATE credentials SET revoked_at = :at WHERE id = :id AND revoked_at IS NULL

-- name: add_collection
INSERT INTO collections (id, kind, domain, name, owner, created_at, parent)
VALUES (:id, :kind, :domain, :name, :owner, :created_at, :parent)

-- name: grant
INSERT INTO grants (subject_kind, subject, collection, access, granted_by, created_at)
VALUES ('user', :user, :collection, :access, :granted_by, :at)
ON CONFLICT (subject_kind, subject, collection) DO UPDATE SET access = excluded.access

-- name: memory
SELECT * FROM records WHERE id = :id AND {passes}

-- name: memory_at
SELECT * FROM records WHERE id = (SELECT memory FROM blocks WHERE number = :block) AND {passes}

-- name: memories
SELECT * FROM records WHERE number IN (SELECT value FROM json_each(:numbers)) AND {passes}

-- name: memories_uncounted
-- What is not asked for is not read: without their columns SQLite leaves the uses alone.
SELECT
    number, id, content, content_type, tags, keywords, category, importance, metadata, collection_id, domain,
    author_user, author_credential, author_session, author_tool, created_at, version,
    reviser_user, reviser_credential, reviser_session, reviser_tool, revised_at,
    NULL, NULL, ttl, ends_at, block, collection
FROM records
WHERE number IN (SELECT value FROM json_each(:numbers)) AND {passes}

-- name: page
SELECT * FROM records WHERE {passes} ORDER BY created_at DESC, number DESC LIMIT :limit OFFSET :offset

-- name: latest
-- A few of each collection, by its index: however many memories there are, most are never looked at.
SELECT * FROM records
WHERE number IN (
    SELECT m.number
    FROM json_each(:collections) AS c
    JOIN memories AS m ON m.number IN (
        SELECT o.number FROM memories AS o WHERE o.collection = c.value ORDER BY o.number DESC LIMIT :glance
    )
    LEFT JOIN ephemeral AS e ON e.memory = m.number
    WHERE (
        :author IS NULL
        OR (m.author_user = :author AND m.reviser_user = :author AND NOT EXISTS (
            SELECT 1
            FROM credentials AS k
            WHERE k.user = :author AND k.kind = 'shared' AND k.name IN (m.author_credential, m.reviser_credential)
        ))
    )
    AND (e.ends_at IS NULL OR e.ends_at > :now)
    ORDER BY m.number DESC
    LIMIT :limit
)
AND {passes}
ORDER BY number DESC

-- name: count
SELECT count(*)
FROM (
    SELECT m.number, m.collection, m.created_at, m.importance, m.category, m.metadata, e.ends_at, e.ttl
    FROM memories AS m
    LEFT JOIN ephemeral AS e ON e.memory = m.number
)
WHERE {passes}

-- name: tagged
SELECT DISTINCT memory FROM tags WHERE folded IN (SELECT folded(value) FROM json_each(:tags)) ORDER BY memory

-- name: categorised
SELECT DISTINCT memory
FROM categorised
WHERE name IN (SELECT value FROM json_each(:categories))
ORDER BY memory

-- name: labelled
SELECT DISTINCT memory FROM labelled WHERE label IN (SELECT value FROM json_each(:labels)) ORDER BY memory

-- name: described
-- By category first, where some are given: that leaves few whose metadata must be read.
SELECT m.number
FROM memories AS m
WHERE :categories IS NULL AND m.collection IN (SELECT value FROM json_each(:collections)) AND {described}
UNION
SELECT m.number
FROM memories AS m
WHERE m.collection IN (SELECT value FROM json_each(:collections))
AND m.category IN (SELECT value FROM json_each(:categories)) AND {described}
UNION
SELECT m.number
FROM categorised AS c
JOIN memories AS m ON m.number = c.memory
WHERE c.name IN (SELECT value FROM json_each(:categories))
AND +m.collection IN (SELECT value FROM json_each(:collections)) AND {described}
ORDER BY 1

-- name: lasting
SELECT memory
FROM ephemeral
WHERE (:ttl_over IS NULL OR ttl > :ttl_over) AND (:ttl_upto IS NULL OR ttl <= :ttl_upto)
ORDER BY memory

-- name: expired
SELECT * FROM records
WHERE number IN (SELECT memory FROM ephemeral WHERE ends_at <= :now ORDER BY ends_at)
AND (:collections IS NULL OR collection IN (SELECT value FROM json_each(:collections)))
LIMIT :limit

-- name: add_memory
INSERT INTO memories (
    id, collection, created_at, importance, category, version, content_type, keywords, metadata,
    author_user, author_credential, author_session, author_tool,
    revised_at, reviser_user, reviser_credential, reviser_session, reviser_tool, content
) VALUES (
    :id, :collection, :created_at, :importance, :category, 1, :content_type, :keywords, :metadata,
    :user, :credential, :session, :tool,
    :revised_at, :reviser_user, :reviser_credential, :reviser_session, :reviser_tool, :content
)

-- name: keep_version
INSERT INTO versions (
    memory, number, made_at, user, credential, session, tool,
    importance, category, content_type, tags, keywords, metadata, content
)
SELECT
    number, version, revised_at, reviser_user, reviser_credential, reviser_session, reviser_tool,
    importance, category, content_type, tags, keywords, metadata, content
FROM records
WHERE number = :number

-- name: revise
UPDATE memories
SET
    version = version + 1,
    content = :content,
    content_type = :content_type,
    importance = :importance,
    category = :category,
    keywords = :keywords,
    metadata = :metadata,
    revised_at = :at,
    reviser_user = :user,
    reviser_credential = :credential,
    reviser_session = :session,
    reviser_tool = :tool
WHERE number = :number AND version = :version

-- name: versions
SELECT
    m.id, v.number, v.content, v.content_type, v.tags, v.keywords, v.category, v.importance, v.metadata,
    v.user, v.credential, v.session, v.tool, v.made_at
FROM versions AS v
JOIN memories AS m ON m.number = v.memory
WHERE m.id = :id
ORDER BY v.number

-- name: add_tag
INSERT INTO tags (memory, position, tag, folded) VALUES (?1, ?2, ?3, folded(?3))

-- name: clear_tags
DELETE FROM tags WHERE memory = :memory

-- name: set_end
INSERT INTO ephemeral (memory, ttl, ends_at) VALUES (:memory, :ttl, :ends_at)
ON CONFLICT (memory) DO UPDATE SET ttl = excluded.ttl, ends_at = excluded.ends_at

-- name: clear_end
DELETE FROM ephemeral WHERE memory = :memory

-- name: erase
DELETE FROM memories WHERE number = :number

-- name: add_words
INSERT INTO words (rowid, terms) VALUES (:number, :terms)

-- name: clear_words
DELETE FROM words WHERE rowid = :number

-- name: wording
-- What full text has of a memory, its text where that has nothing, and what it is labelled with for all who see it.
SELECT
    (SELECT w.terms FROM words AS w WHERE w.rowid = m.number),
    CASE WHEN NOT EXISTS (SELECT 1 FROM words AS w WHERE w.rowid = m.number) THEN m.content END,
    m.category,
    (
        SELECT json_group_array(label)
        FROM (
            SELECT tag AS label FROM tags WHERE memory = :number
            UNION ALL
            SELECT name FROM categorised WHERE memory = :number
        )
    )
FROM memories AS m
WHERE m.number = :number

-- name: is_behind
SELECT EXISTS (SELECT 1 FROM unworded)

-- name: unworded
-- The newest first: they are asked for most.
SELECT memory FROM unworded ORDER BY memory DESC LIMIT :limit

-- name: doubt_words
INSERT INTO unworded (memory) SELECT number FROM memories WHERE true ON CONFLICT DO NOTHING

-- name: clear_unworded
DELETE FROM unworded WHERE memory = ?

-- name: add_vector
INSERT INTO vectors (memory, embedder, part, vector) VALUES (:memory, :embedder, :part, :vector)

-- name: clear_vectors
DELETE FROM vectors WHERE memory = :memory

-- name: vectors_of
SELECT v.vector
FROM vectors AS v
JOIN embedders AS e ON e.number = v.embedder AND e.fingerprint = :fingerprint
WHERE v.memory = :memory
ORDER BY v.part

-- name: whole_vectors
SELECT v.memory, v.vector
FROM vectors AS v
JOIN embedders AS e ON e.number = v.embedder AND e.fingerprint = :fingerprint
WHERE v.memory IN (SELECT value FROM json_each(:numbers)) AND v.part = 0

-- name: vectors_numbered
SELECT number, vector FROM vectors WHERE number IN (SELECT value FROM json_each(:numbers))

-- name: vectors_among
SELECT memory, number, vector
FROM vectors
WHERE embedder = :embedder AND memory IN (SELECT value FROM json_each(:numbers))
ORDER BY memory, part

-- name: vectors_between
SELECT memory, number, vector
FROM vectors
WHERE embedder = :embedder AND memory BETWEEN :first AND :last
ORDER BY memory, part

-- name: entries_among
{entries} WHERE m.number IN (SELECT value FROM json_each(:numbers)) ORDER BY m.number

-- name: index_sizes
SELECT (SELECT count(*) FROM memories), (SELECT count(*) FROM vectors WHERE embedder = :embedder)

-- name: vantage
-- In one statement, because every search begins with it.
SELECT
    (SELECT number FROM embedders WHERE fingerprint = :fingerprint),
    (SELECT dimensions FROM embedders WHERE fingerprint = :fingerprint),
    (SELECT value FROM meta WHERE key = 'history'),
    (SELECT max(number) FROM events)

-- name: last_memory
SELECT seq FROM sqlite_sequence WHERE name = 'memories'

-- name: entries_after
{entries} WHERE m.number > :after ORDER BY m.number LIMIT :limit

-- name: mark_unembedded
INSERT INTO unembedded (memory, since, reason, refused) VALUES (:memory, :since, :reason, :refused)
ON CONFLICT (memory) DO UPDATE SET reason = excluded.reason, refused = excluded.refused

-- name: mark_unseen
INSERT INTO unembedded (memory, since, reason)
SELECT m.number, :since, :reason
FROM memories AS m
WHERE NOT EXISTS (
    SELECT 1
    FROM vectors AS v
    JOIN embedders AS e ON e.number = v.embedder AND e.fingerprint = :fingerprint
    WHERE v.memory = m.number
)
ON CONFLICT (memory) DO UPDATE SET reason = excluded.reason, refused = FALSE

-- name: forgive_refused
UPDATE unembedded SET refused = FALSE WHERE refused

-- name: clear_unembedded
DELETE FROM unembedded WHERE memory = :memory

-- name: embedded
SELECT (SELECT value FROM meta WHERE key = 'embedder'), NOT EXISTS (SELECT 1 FROM unembedded WHERE NOT refused)

-- name: unembedded
SELECT *
FROM records
WHERE number IN (SELECT memory FROM unembedded WHERE refused = :refused ORDER BY memory LIMIT :limit)
ORDER BY number

-- name: version_of
SELECT version FROM memories WHERE number = :number

-- name: unembedded_count
-- A reason that tells of something wrong before one that does not.
SELECT
    count(*) FILTER (WHERE NOT refused),
    count(*) FILTER (WHERE refused),
    coalesce(max(reason) FILTER (WHERE reason <> :unfinished), max(reason))
FROM unembedded

-- name: embedder
SELECT number, dimensions FROM embedders WHERE fingerprint = :fingerprint

-- name: add_embedder
INSERT INTO embedders (fingerprint, dimensions) VALUES (:fingerprint, :dimensions)

-- name: block
SELECT number, memory, version, timestamp, importance, previous_hash, hash, erased_at, seal
FROM blocks
WHERE number = :number

-- name: block_of
SELECT number, memory, version, timestamp, importance, previous_hash, hash, erased_at, seal
FROM blocks
WHERE memory = :memory AND erased_at IS NULL

-- name: head
SELECT number, memory, version, timestamp, importance, previous_hash, hash, erased_at, seal
FROM blocks
ORDER BY number DESC
LIMIT 1

-- name: add_block
INSERT INTO blocks (number, memory, version, timestamp, importance, previous_hash, hash, seal)
VALUES (:number, :memory, :version, :timestamp, :importance, :previous_hash, :hash, :seal)

-- name: erase_block
UPDATE blocks SET erased_at = :erased_at, seal = :seal WHERE number = :number

-- name: seal_revision
INSERT INTO revision_seals (memory, hash) VALUES (:number, :hash) ON CONFLICT (memory) DO UPDATE SET hash = :hash

-- fragment: covered
-- The text of a memory that was erased and came back stands under its later block; else it should not be there.
(b.erased_at IS NULL OR NOT EXISTS (SELECT 1 FROM blocks AS s WHERE s.memory = b.memory AND s.erased_at IS NULL))

-- name: early_witnesses
SELECT
    b.number, b.memory, b.version, b.timestamp, b.importance, b.previous_hash, b.hash, b.erased_at, b.seal,
    CASE WHEN m.version = b.version THEN m.content ELSE v.content END,
    NULL, NULL, NULL, m.created_at
FROM blocks AS b
LEFT JOIN memories AS m ON m.id = b.memory AND {covered}
LEFT JOIN versions AS v ON v.memory = m.number AND v.number = b.version AND m.version <> b.version
WHERE b.number > :after
ORDER BY b.number
LIMIT :limit

-- name: witnesses
SELECT
    b.number, b.memory, b.version, b.timestamp, b.importance, b.previous_hash, b.hash, b.erased_at, b.seal,
    CASE WHEN m.version = b.version THEN m.content ELSE v.content END,
    m.version, CASE WHEN m.version <> b.version THEN m.content END, s.hash, m.created_at
FROM blocks AS b
LEFT JOIN memories AS m ON m.id = b.memory AND {covered}
LEFT JOIN versions AS v ON v.memory = m.number AND v.number = b.version AND m.version <> b.version
LEFT JOIN revision_seals AS s ON s.memory = m.number AND m.version <> b.version
WHERE b.number > :after
ORDER BY b.number
LIMIT :limit

-- name: unsealed
SELECT
    (
        SELECT count(*)
        FROM memories AS m
        WHERE NOT EXISTS (SELECT 1 FROM ephemeral AS e WHERE e.memory = m.number)
        AND NOT EXISTS (SELECT 1 FROM blocks AS b WHERE b.memory = m.id AND b.erased_at IS NULL)
    )
    + (
        -- The last blocks leave no gap behind when they are removed, but the events still speak of them.
        SELECT count(*)
        FROM events
        WHERE detail ->> '$.block' > (SELECT coalesce(max(number), -1) FROM blocks)
    )

-- name: last_event
SELECT coalesce(max(number), 0) FROM events

-- name: record
-- The file gives the number: one more than the highest.
INSERT INTO events (kind, at, user, credential, session, tool, memory, memory_number, collection, detail)
VALUES (:kind, :at, :user, :credential, :session, :tool, :memory, :memory_number, :collection, :detail)

-- name: events
SELECT number, kind, at, user, credential, session, tool, memory, memory_number, collection, detail
FROM events
WHERE number > :after
ORDER BY number
LIMIT :limit

-- fragment: told
-- Where it happened may be gone; what it happened to may be here.
(
    collection IN (SELECT value FROM json_each(:collections))
    OR memory_number IN (
        SELECT m.number FROM memories AS m WHERE m.collection IN (SELECT value FROM json_each(:collections))
    )
)
-- A move is told where the memory came from and where it went; who is told the second is not told the first.
AND (
    kind = 'moved' AND collection = detail ->> 'from' AND detail ->> 'from' <> detail ->> 'to'
    AND (
        detail ->> 'to' IN (SELECT value FROM json_each(:collections))
        OR memory_number IN (
            SELECT m.number FROM memories AS m WHERE m.collection IN (SELECT value FROM json_each(:collections))
        )
    )
) IS NOT TRUE

-- name: sessions
SELECT session, min(user), min(credential), max(tool), min(at), max(at), count(*), count(DISTINCT memory)
FROM events
WHERE kind <> 'embedded' AND session <> '' AND {told}
GROUP BY session
ORDER BY max(number) DESC
LIMIT :limit

-- name: events_of
SELECT number, kind, at, user, credential, session, tool, memory, memory_number, collection, detail
FROM events
WHERE session = :session AND number > :after AND kind <> 'embedded' AND {told}
ORDER BY number
LIMIT :limit

-- name: events_about
SELECT number, kind, at, user, credential, session, tool, memory, memory_number, collection, detail
FROM events
WHERE memory = :memory AND kind <> 'embedded'
ORDER BY number DESC
LIMIT :limit

-- name: changed_since
SELECT DISTINCT memory_number FROM events WHERE number > :after

-- name: event_mark
SELECT at || ' ' || memory FROM events WHERE number = :number

-- name: count_use
INSERT INTO uses (memory, count, last_at)
SELECT number, :count, :at FROM memories WHERE number = :memory
ON CONFLICT (memory) DO UPDATE SET count = count + excluded.count, last_at = excluded.last_at

-- name: uses
SELECT memory, count FROM uses WHERE memory IN (SELECT value FROM json_each(:numbers))

-- name: document_count
SELECT count(*) FROM memories

-- name: word_count
SELECT doc FROM word_counts WHERE term = :term

-- name: frequent_words
SELECT term, doc FROM word_counts WHERE doc > :least

-- name: prefix_count
SELECT coalesce(sum(doc), 0) FROM word_counts WHERE term >= :term AND term < :after

-- name: word_places
SELECT (SELECT group_concat(doc) FROM (SELECT doc FROM word_places WHERE term = t.value LIMIT :limit))
FROM json_each(:terms) AS t

-- name: prefix_places
SELECT group_concat(doc) FROM (SELECT doc FROM word_places WHERE term >= :term AND term < :after LIMIT :limit)

-- name: match
SELECT group_concat(rowid) FROM words WHERE words MATCH :query

-- name: match_newest
SELECT group_concat(rowid) FROM (SELECT rowid FROM words WHERE words MATCH :query ORDER BY rowid DESC LIMIT :limit)

-- name: full_text_pieces
SELECT 'words', count(*) FROM words_idx GROUP BY segid
UNION ALL
SELECT 'letters', count(*) FROM letters_idx GROUP BY segid
UNION ALL
SELECT 'names', count(*) FROM names_idx GROUP BY segid

-- name: merge_words
INSERT INTO words (words, rank) VALUES ('merge', :pages)

-- name: merge_letters
INSERT INTO letters (letters, rank) VALUES ('merge', :pages)

-- name: merge_names
INSERT INTO names (names, rank) VALUES ('merge', :pages)

-- name: lease
INSERT INTO leases (name, holder, ends_at) VALUES (:name, :holder, :until)
ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
WHERE leases.holder = excluded.holder OR leases.ends_at <= :now
RETURNING holder

-- name: meta
SELECT value FROM meta WHERE key = :key

-- name: set_meta
INSERT INTO meta (key, value) VALUES (:key, :value) ON CONFLICT (key) DO UPDATE SET value = excluded.value

-- name: ephemeral_count
SELECT count(*) FROM ephemeral WHERE ends_at > :now

-- name: block_count
SELECT count(*) FROM blocks

-- name: origin
SELECT m.id
FROM origins AS o
JOIN memories AS m ON m.number = o.memory
WHERE o.source = :source AND o.origin = :origin

-- name: id_is_taken
SELECT EXISTS (SELECT 1 FROM memories WHERE id = :id)
OR EXISTS (SELECT 1 FROM blocks WHERE memory = :id AND erased_at IS NOT NULL)

-- name: put_origin
-- What came under this name before may have ended, and still be there.
INSERT INTO origins (source, origin, memory) VALUES (:source, :origin, :memory)
ON CONFLICT (source, origin) DO UPDATE SET memory = excluded.memory
