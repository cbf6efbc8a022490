-- An event about a tie tells all ties of the two memories, before and after. Those so far told the ties that were taken
-- off, and of a tie that was put on only where it leads.
UPDATE events
SET detail = json_set(
    detail,
    '$.ties', json('[]'),
    '$.ties_after', json_array(json_array(memory, detail ->> 'other', 'manual', 1.0))
)
WHERE kind = 'linked';

UPDATE events SET detail = json_set(detail, '$.ties_after', json('[]')) WHERE kind = 'unlinked';
