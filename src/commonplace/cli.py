"""The command line."""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Callable, Coroutine, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from commonplace import __version__
from commonplace.domain.errors import CommonplaceError, Invalid, NotFound
from commonplace.settings import Settings, settings_from, variable

if TYPE_CHECKING:
    from commonplace.engine import Engine


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it did what was asked, 2 when it could not."""
    calm_numpy()
    options = _parser().parse_args(arguments)
    if not hasattr(options, "run"):
        _parser().print_help()
        return 2
    try:
        return int(options.run(options) or 0)
    except CommonplaceError as error:
        remedy = f"\n{error.remedy}" if error.remedy else ""
        print(f"commonplace: {error.message}{remedy}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def calm_numpy() -> None:
    """To be called before numpy is loaded: on small matrices its threads wait for each other, at five times the CPU."""
    for library in ("OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ.setdefault(library, "1")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="commonplace", description="One memory for every AI agent.")
    parser.add_argument("--version", action="version", version=f"commonplace {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    serve = commands.add_parser("serve", help="serve the memory to MCP clients", formatter_class=_Reference)
    serve.description = (
        "Serve the memory to MCP clients. Each option may also stand in the environment or in a settings file."
    )
    _add_settings(serve)
    serve.set_defaults(run=_serve)
    _add_keys(commands)
    for name, run, text in (
        ("verify", _verify, "recompute the tamper-evident chain"),
        ("vacuum", _vacuum, "rewrite the file without what was deleted"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        _add_data_dir(command)
        command.set_defaults(run=run)
    return parser


class _Reference(argparse.HelpFormatter):
    """Wide enough to be read, and the same on every terminal, because the docs are made from it."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=30, width=110)


def _add_settings(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--config", metavar="FILE", help="a settings file, TOML or JSON [COMMONPLACE_CONFIG]")
    for field in dataclasses.fields(Settings):
        if field.metadata["secret"]:
            continue  # secrets come from the environment or the file, never from a command line
        flag = "--" + field.name.replace("_", "-")
        text = f"{field.metadata['help']}{_shown_default(field.default)} [{variable(field.name)}]"
        if isinstance(field.default, bool):
            parser.add_argument(flag, action="store_const", const=True, help=text)
        else:
            parser.add_argument(flag, metavar=field.metadata["metavar"] or field.name.upper(), help=text)
    parser.epilog = "Secrets come from the environment or the settings file only: " + ", ".join(
        f"{variable(f.name)} ({f.metadata['help']})" for f in dataclasses.fields(Settings) if f.metadata["secret"]
    )


def _shown_default(default: Any) -> str:
    if default in ("", (), False, 0):
        return ""
    return f" (default: {','.join(default) if isinstance(default, tuple) else default})"


def _add_data_dir(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--data-dir", metavar="DIR", help=f"the folder of the memories [{variable('data_dir')}]")
    parser.add_argument("--config", metavar="FILE", help="a settings file [COMMONPLACE_CONFIG]")


def _add_keys(commands: Any) -> None:
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
    revoke = actions.add_parser("revoke", help="make a key useless from now on")
    revoke.add_argument("name", metavar="NAME", help="its name or id")
    revoke.set_defaults(run=_revoke_key)
    for action in (create, listing, revoke):
        _add_data_dir(action)


def _settings(options: argparse.Namespace) -> Settings:
    given = {f.name: getattr(options, f.name, None) for f in dataclasses.fields(Settings)}
    if options.run is not _serve:
        given = {"data_dir": options.data_dir}
    return settings_from(given, file=options.config)


def _serve(options: argparse.Namespace) -> int:
    import anyio

    from commonplace.bootstrap import check_tool_names, dialect_named, log_to_stderr

    settings = _settings(options)
    dialect_named(settings.dialect)
    check_tool_names(settings)
    log_to_stderr(settings.log_level)
    anyio.run(_serving, settings, backend_options={"use_uvloop": sys.platform != "win32"})
    return 0


async def _serving(settings: Settings) -> None:
    from commonplace.bootstrap import DIALECTS, build
    from commonplace.transports.mcp import DialectServer
    from commonplace.transports.serving import serve
    from commonplace.welcome import welcome

    engine = build(settings)
    try:
        dialects = {name: DialectServer(dialect, engine, settings) for name, dialect in DIALECTS.items()}

        async def ready() -> None:
            if set(settings.transport) & {"http", "sse"}:
                key = await engine.access.first_owner_key()
                print(welcome(settings, key), file=sys.stderr, flush=True)

        await serve(dialects, engine, settings, ready)
    finally:
        await engine.close()


def _with_engine(
    options: argparse.Namespace, work: Callable[[Engine], Coroutine[Any, Any, int]], *, founding: bool = False
) -> int:
    import asyncio

    from commonplace.bootstrap import build, has_store

    if not founding and not has_store(_settings(options)):
        raise NotFound("store in the folder", _settings(options).data_dir)

    async def run() -> int:
        engine = build(_settings(options))
        try:
            return await work(engine)
        finally:
            await engine.close()

    return asyncio.run(run())


def _create_key(options: argparse.Namespace) -> int:
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

    return _with_engine(options, work, founding=True)


def _list_keys(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        now = datetime.now(UTC)
        print("NAME\tUSER\tPERMISSIONS\tSTATE\tMADE\tEXPIRES\tID")
        for credential, user in await engine.access.keys():
            state = "valid" if credential.is_valid(now) else "revoked" if credential.revoked_at else "expired"
            permissions = ",".join(sorted(credential.permissions))
            ends = f"{credential.expires_at:%Y-%m-%d}" if credential.expires_at else "never"
            made = f"{credential.created_at:%Y-%m-%d}"
            print(credential.name, user.name, permissions, state, made, ends, credential.id, sep="\t")
        return 0

    return _with_engine(options, work)


def _revoke_key(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        credential = await engine.access.revoke_key(options.name)
        print(f"revoked {credential.name}", file=sys.stderr)
        return 0

    return _with_engine(options, work)


def _verify(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        if damage := await engine.store.check():
            print(f"the file is damaged: {damage}")
            return 1
        verdict = await engine.chain.verify(await engine.access.local_owner())
        print(f"{verdict.total} blocks: {'the chain is valid' if verdict.valid else verdict.broken}")
        return 0 if verdict.valid else 1

    return _with_engine(options, work)


def _vacuum(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        await engine.store.vacuum()
        print(f"rewrote {engine.store.location} without what was deleted", file=sys.stderr)
        return 0

    return _with_engine(options, work)


if __name__ == "__main__":
    sys.exit(main())
