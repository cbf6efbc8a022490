-- Texts that write a letter and its mark apart, be it in one place only: Latin marks, voiced kana, parts of syllables.
-- They are few, and literal search compares all of them: neither index knows both ways of writing at once.
CREATE INDEX memories_with_marks ON memories (number)
WHERE content GLOB '*[' || char(768) || '-' || char(879) || char(12441, 12442) || char(4449) || '-' || char(4546) || ']*';
