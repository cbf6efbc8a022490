"""Live: shared spaces, notes, a bank that consolidates, tokens, backups."""

from commonplace.dialects.live import admin, backup, bank, note, space, system  # noqa: F401  (they register themselves)
from commonplace.dialects.live._live import live

__all__ = ["live"]

_ORDER = (
    "space_create space_list space_info space_rules space_summary space_export space_delete "
    "live_note live_read live_search bank_read bank_read_all bank_list bank_consolidate "
    "backup_create backup_list backup_restore backup_download backup_delete "
    "admin_create_token admin_list_tokens admin_revoke_token admin_update_token system_health system_about"
).split()
for _name in _ORDER:
    live.tools[_name] = live.tools.pop(_name)  # listed in the reference's order
