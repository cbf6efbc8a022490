-- The census: long columns, each as one text. To hand over a hundred thousand rows takes ten times as long.

-- name: census_rows
SELECT number, collection, created_at, importance, category FROM records WHERE {passes} ORDER BY number

-- name: census_domains
SELECT number, domain FROM collections WHERE number IN (SELECT value FROM json_each(:collections))

-- name: census_categories
SELECT DISTINCT category FROM memories

-- name: census_uses
SELECT group_concat(memory), group_concat(count) FROM uses

-- name: census_links
SELECT group_concat(source), group_concat(target), group_concat(CAST(round(strength * 10000) AS INTEGER)) FROM links

-- name: census_tags
-- By both, in the order of the index.
SELECT tag, group_concat(memory) FROM tags GROUP BY folded, tag
