"""Keys: make, list, revoke."""

from __future__ import annotations

import argparse
import sys
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from commonplace.cli.house import add_data_dir, folder_settings, with_engine
from commonplace.domain.errors import Invalid

if TYPE_CHECKING:
    from commonplace.engine import Engine


def add_keys(commands: Any) -> None:
    keys = commands.add_parser("keys", help="make, list and revoke keys", description="Make, list and revoke keys.")
    keys.set_defaults(run=lambda options: keys.print_help() or 2)
    actions = keys.add_subparsers(title="actions", metavar="ACTION")
    create = actions.add_parser("create", help="make a key and print it alone on stdout, once")
    create.add_argument("name", metavar="NAME", help="what the key is called; one valid key a name")
    create.add_argument("--permissions", default="read,write", help="read, write, admin (default: read,write)")
    create.add_argument("--user", default="owner", help="whose memories it opens (default: owner); made where new")
    create.add_argument("--timezone", default="", metavar="ZONE", help="the time zone of a new user")
    create.add_argument("--days", type=int, metavar="N", help="days until it expires (default: never)")
    create.set_defaults(run=_create_key)
    listing = actions.add_parser("list", help="list the keys; the keys themselves are not kept")
    listing.set_defaults(run=_list_keys)
    revoke = actions.add_parser("revoke", help="make a key useless from now on, with all that was made with it")
    revoke.add_argument("name", metavar="NAME", help="its name or id")
    revoke.add_argument("--alone", action="store_true", help="leave what was made with it: the key is exchanged")
    revoke.add_argument("--dry-run", action="store_true", help="only show what would be revoked with it")
    revoke.set_defaults(run=_revoke_key)
    for action in (create, listing, revoke):
        add_data_dir(action)


def _create_key(options: argparse.Namespace) -> int:
    from commonplace.bootstrap import has_store
    from commonplace.domain.access import Permission

    names = [name.strip() for name in options.permissions.split(",") if name.strip()]
    if unknown := set(names) - set(Permission):
        raise Invalid("permissions", f"{', '.join(sorted(unknown))}: choose from read, write, admin")
    if options.days is not None and not 1 <= options.days <= 36_500:
        raise Invalid("days", "must be from 1 to 36500; leave it out for a key that does not expire")

    async def work(engine: Engine) -> int:
        expires_at = datetime.now(UTC) + timedelta(days=options.days) if options.days else None
        made = await engine.access.create_key(
            options.name,
            frozenset(map(Permission, names)),
            user=options.user,
            zone=options.timezone,
            expires_at=expires_at,
        )
        print(made.key)
        return 0

    settings = folder_settings(options)
    new = not has_store(settings)
    done = with_engine(options, work, founding=True)
    if new:
        told = f"commonplace: a new store was made in {settings.data_dir}; for that of a server name its --data-dir"
        print(told, file=sys.stderr)
    return done


def _list_keys(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        now = datetime.now(UTC)
        print("NAME\tUSER\tPERMISSIONS\tSTATE\tMADE\tEXPIRES\tID\tMADE WITH")
        found = await engine.access.keys()
        names = {credential.id: credential.name for credential, _ in found}
        for credential, user in found:
            state = "valid" if credential.is_valid(now) else "revoked" if credential.revoked_at else "expired"
            permissions = ",".join(sorted(credential.permissions))
            ends = f"{credential.expires_at:%Y-%m-%d}" if credential.expires_at else "never"
            made = f"{credential.created_at:%Y-%m-%d}"
            maker = names.get(credential.made_with, "?") if credential.made_with else "-"
            print(credential.name, user.name, permissions, state, made, ends, credential.id, maker, sep="\t")
        return 0

    return with_engine(options, work)


def _revoke_key(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        access = engine.access
        take = access.revocable if options.dry_run else access.revoke_key
        gone = await take(options.name, alone=options.alone)
        did = "would revoke" if options.dry_run else "revoked"
        print(f"{did} {gone.credential.name}", file=sys.stderr)
        for one in gone.along:
            print(f"{did} {one.name} ({one.kind}), made with it", file=sys.stderr)
        return 0

    return with_engine(options, work)
