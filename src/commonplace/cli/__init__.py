"""The command line."""

from __future__ import annotations

import argparse
import dataclasses
import gc
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from commonplace import __version__
from commonplace.cli.arrivals import add_import
from commonplace.cli.backup import add_backup
from commonplace.cli.doctor import add_doctor
from commonplace.cli.history import add_history
from commonplace.cli.house import add_data_dir, with_engine
from commonplace.cli.keys import add_keys
from commonplace.cli.rekey import add_rekey
from commonplace.domain.errors import CommonplaceError
from commonplace.settings import Settings, misnamed, settings_from, variable

if TYPE_CHECKING:
    from commonplace.engine import Engine

_UNREAD = 141
"""How a shell tells that a program was ended because nobody reads it: 128 and the number of SIGPIPE."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it did what was asked, 2 when it could not."""
    calm_numpy()
    return _while_read(lambda: _command(arguments))


def _command(arguments: Sequence[str] | None) -> int:
    options = _parser().parse_args(arguments)
    if not hasattr(options, "run"):
        _parser().print_help()
        return 2
    return _run("commonplace", options)


def assoc(arguments: Sequence[str] | None = None) -> int:
    """`mcp-assoc-memory`: the options of `serve`, and its own dialect unless told otherwise."""
    calm_numpy()
    parser = argparse.ArgumentParser(prog="mcp-assoc-memory", formatter_class=_Reference)
    parser.description = "Serve the memory to MCP clients; the same as `commonplace serve --dialect assoc`."
    parser.add_argument("--version", action="version", version=f"commonplace {__version__}")
    _add_settings(parser)
    parser.set_defaults(run=_serve, usual={"dialect": "assoc"})
    return _while_read(lambda: _run("mcp-assoc-memory", parser.parse_args(arguments)))


def _while_read(command: Callable[[], int]) -> int:
    """End quietly, as other tools do, when whoever reads along has seen enough: `| head` for one."""
    try:
        try:
            return command()
        finally:
            if sys.stdout:
                sys.stdout.flush()  # what is left at the very end could no longer be caught here
    except BrokenPipeError:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        return _UNREAD


def _run(program: str, options: argparse.Namespace) -> int:
    _occupy_the_first_descriptors()
    try:
        return int(options.run(options) or 0)
    except CommonplaceError as error:
        remedy = f"\n{error.remedy}" if error.remedy else ""
        print(f"{program}: {error.message}{remedy}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


def _occupy_the_first_descriptors() -> None:
    """Where one was closed by whoever started us, the next file that is opened would be taken for stdin or stdout."""
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest that is free


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
    add_keys(commands)
    add_history(commands)
    add_import(commands)
    add_backup(commands)
    add_rekey(commands)
    add_doctor(commands)
    text = "rewrite the file without what was deleted"
    vacuum = commands.add_parser("vacuum", help=text, description=text)
    add_data_dir(vacuum)
    vacuum.set_defaults(run=_vacuum)
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
        if field.default is False:
            parser.add_argument(flag, action="store_const", const=True, help=text)
        else:
            parser.add_argument(flag, metavar=field.metadata["metavar"] or field.name.upper(), help=text)
    parser.epilog = "Secrets come from the environment or the settings file only: " + ", ".join(
        f"{variable(f.name)} ({f.metadata['help']})" for f in dataclasses.fields(Settings) if f.metadata["secret"]
    )


def _shown_default(default: Any) -> str:
    if default in ("", (), False, 0):
        return ""
    if default is True:
        return " (default: yes)"
    return f" (default: {','.join(default) if isinstance(default, tuple) else default})"


def _serve(options: argparse.Namespace) -> int:
    gc.disable()  # what a start loads stays: going through it again and again takes a tenth of its time
    import anyio

    from commonplace.bootstrap import check_tool_names, dialect_named, log_to_stderr

    given = {f.name: getattr(options, f.name, None) for f in dataclasses.fields(Settings)}
    settings = settings_from(given, file=options.config, usual=getattr(options, "usual", None))
    dialect_named(settings.dialect)
    check_tool_names(settings)
    log_to_stderr(settings.log_level)
    _mention_misnamed(options.config)
    anyio.run(_serving, settings, backend_options={"use_uvloop": sys.platform != "win32"})
    return 0


def _mention_misnamed(file: str | None) -> None:
    """A slip in a variable's name leaves the setting as it was, and nothing else would tell."""
    import logging

    for name, near in misnamed(file=file).items():
        hint = f"; did you mean {near}?" if near else ""
        logging.getLogger(__name__).warning("the environment variable %s is no setting%s", name, hint)


async def _serving(settings: Settings) -> None:
    from commonplace.bootstrap import build, check_backup_folder, chosen_dialects, mention_backups, mention_spaces
    from commonplace.transports.mcp import DialectServer
    from commonplace.transports.serving import serve
    from commonplace.welcome import welcome

    check_backup_folder(settings)
    mention_backups(settings)
    mention_spaces(settings)
    engine = build(settings)
    try:
        dialects = {n: DialectServer(one, engine, settings) for n, one in chosen_dialects(settings).items()}
        gc.freeze()
        gc.enable()

        network = bool(set(settings.transport) & {"http", "sse"})
        if network:
            await engine.access.check()  # before anything listens

        async def ready() -> None:
            if network:
                key = await engine.access.first_owner_key()
                print(welcome(settings, key), file=sys.stderr, flush=True)

        await serve(dialects, engine, settings, ready)
    finally:
        await engine.close()


def _vacuum(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        await engine.store.vacuum()
        print(f"rewrote {engine.store.location} without what was deleted", file=sys.stderr)
        return 0

    return with_engine(options, work)
