-- A tag is kept as it was written and found however it is written: in capitals or not, wide or narrow.
ALTER TABLE tags ADD COLUMN folded TEXT NOT NULL DEFAULT '';
UPDATE tags SET folded = folded(tag);

DROP INDEX tags_by_tag;
CREATE INDEX tags_by_fold ON tags (folded, tag, memory);
