-- A text that the embedder refuses does not wait for it: it is not asked again before a start or another embedder.
ALTER TABLE unembedded ADD COLUMN refused INTEGER NOT NULL DEFAULT 0;
