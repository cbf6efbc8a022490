"""History on the command line: what was changed, by whom; compare, restore, take back."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Any

from commonplace.cli.house import Work, add_data_dir, plain, with_engine

if TYPE_CHECKING:
    from commonplace.domain.access import Actor
    from commonplace.domain.history import Done, Undoing, Undone
    from commonplace.domain.memory import Memory
    from commonplace.engine import Engine
    from commonplace.engine.memories import Reference

_UNSEEN = "gone, or not yours to see"
_IN_BACKUPS = (
    "what was removed for good may be in a backup from before: `commonplace backups` lists them, "
    "`commonplace restore NAME --include memories` puts back what is missing here"
)
_MEMORY = "its address (core://agent), its id or its block (block_12)"


def add_history(commands: Any) -> None:
    text = "see, compare, restore and take back changes"
    history = commands.add_parser("history", help=text, description=text.capitalize() + ".")
    history.set_defaults(run=lambda options: history.print_help() or 2)
    actions = history.add_subparsers(title="actions", metavar="ACTION")
    sessions = _action(actions, "sessions", _sessions, "who changed how much lately, the latest first")
    sessions.add_argument("--limit", type=int, default=20, metavar="N", help="how many at most (default: 20)")
    session = _action(actions, "session", _session, "everything one session did")
    session.add_argument("session", metavar="SESSION", help="its name, as `history sessions` shows it")
    versions = _action(actions, "versions", _versions, "the states of a memory, the oldest first")
    versions.add_argument("memory", metavar="MEMORY", help=_MEMORY)
    compare = _action(actions, "compare", _compare, "two states of a memory side by side")
    compare.add_argument("memory", metavar="MEMORY", help=_MEMORY)
    compare.add_argument("old", type=int, metavar="OLD", help="the number of a version")
    compare.add_argument("new", type=int, metavar="NEW", help="the number of another")
    restore = _action(actions, "restore", _restore, "make a memory what it was, as a new version")
    restore.add_argument("memory", metavar="MEMORY", help=_MEMORY)
    restore.add_argument("version", type=int, metavar="VERSION", help="the number of the version to restore")
    back = _action(actions, "take-back", _take_back, "undo everything a session did that nobody has built on")
    back.add_argument("session", metavar="SESSION", help="its name, as `history sessions` shows it")
    back.add_argument("--yes", action="store_true", help="do it; without this it is only shown")


def _action(actions: Any, name: str, run: Any, text: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(name, help=text, description=text.capitalize() + ".")
    parser.set_defaults(run=run)
    parser.add_argument("--user", default="owner", help="whose memories (default: owner)")
    add_data_dir(parser)
    return parser


def _sessions(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        actor = await _person(engine, options)
        found = await engine.history.sessions(actor, options.limit)
        if not found and (hint := await _others(engine, options.user)):
            print(f"nothing yet; {hint}", file=sys.stderr)
        print("LAST CHANGE\tCHANGES\tMEMORIES\tBY\tSESSION")
        for one in found:
            last = f"{one.ended_at.astimezone(actor.zone):%Y-%m-%d %H:%M}"
            print(last, one.changes, one.memories, plain(one.by.credential), plain(one.name), sep="\t")
        return 0

    return _looking(options, work)


def _looking(options: argparse.Namespace, work: Work) -> int:
    """What is not there for one user may be there for another, whom nothing else would bring to mind."""

    async def look(engine: Engine) -> int:
        from commonplace.domain.errors import NotFound

        try:
            return await work(engine)
        except NotFound as missing:
            hint = await _others(engine, options.user)
            if hint and missing.what != "user":
                missing.advice = "; ".join(filter(None, (missing.advice, hint)))
            raise

    return with_engine(options, look)


async def _others(engine: Engine, user: str) -> str:
    """As whom else one may look; empty where there is nobody else."""
    names = dict.fromkeys(["owner", *(one.name for _, one in await engine.access.keys())])
    others = [name for name in names if name != user]
    return f"looked as {user}; --user NAME looks as another, like {plain(', '.join(others[:5]))}" if others else ""


def _session(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        actor = await _person(engine, options)
        for done in await engine.history.changes(actor, options.session):
            at = f"{done.event.at.astimezone(actor.zone):%Y-%m-%d %H:%M:%S}"
            subject = plain(done.address) or done.event.memory
            tool, tied = plain(done.event.by.tool), _other_end(done) if done.is_tie else ()
            text = "(deleted)" if done.gone else plain(done.glimpse)
            print(at, done.event.kind.value, tool, subject, text, *tied, sep="\t")
        return 0

    return _looking(options, work)


def _other_end(done: Done) -> tuple[str, str]:
    return (done.other, plain(done.other_glimpse)) if done.other else (_UNSEEN, "")


def _versions(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        actor = await _person(engine, options)
        for one in await engine.history.states(actor, await _reference(engine, actor, options.memory)):
            at = f"{one.made_at.astimezone(actor.zone):%Y-%m-%d %H:%M:%S}"
            print(one.number, at, plain(one.author.tool), plain(one.author.session), _glimpse(one.content), sep="\t")
        return 0

    return _looking(options, work)


def _compare(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        actor = await _person(engine, options)
        reference = await _reference(engine, actor, options.memory)
        comparison = await engine.history.compare(actor, reference, options.old, options.new)
        for line in comparison.lines():
            print(plain(line))
        for name in comparison.fields:
            if name != "content":
                print(f"{name}: {_shown(getattr(comparison.old, name))} -> {_shown(getattr(comparison.new, name))}")
        return 0

    return _looking(options, work)


def _shown(value: object) -> str:
    return plain(", ".join(map(str, value))) or "none" if isinstance(value, tuple) else repr(value)


def _restore(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        actor = await _person(engine, options, "history.restore")
        reference = await _reference(engine, actor, options.memory)
        memory = await engine.history.restore(actor, reference, options.version)
        print(f"{options.memory} is again what it was in version {options.version} (now version {memory.version})")
        return 0

    return _looking(options, work)


def _take_back(options: argparse.Namespace) -> int:
    async def work(engine: Engine) -> int:
        actor = await _person(engine, options, "history.take_back")
        if options.yes:
            _report(await engine.undo.take_back(actor, options.session))
        else:
            _report(await engine.undo.plan(actor, options.session))
            print("nothing was changed; add --yes to do it", file=sys.stderr)
        return 0

    return _looking(options, work)


def _report(undone: Undone) -> None:
    from commonplace.domain.history import REMOVED_FOR_GOOD

    for step in undone.steps:
        tied = () if step.other is None else (plain(step.other) or _UNSEEN,)
        reason = (plain(step.reason),) if step.reason else ()
        print(step.remedy.value, *_subject(step), *tied, *reason, sep="\t")
    memories = "1 memory" if undone.settled == 1 else f"{undone.settled} memories"
    settled = f"; of {memories} nothing is left to take back" if undone.settled else ""
    print(f"{len(undone.steps) - len(undone.left)} taken back, {len(undone.left)} left alone{settled}")
    if any(step.reason == REMOVED_FOR_GOOD for step in undone.left):
        print(_IN_BACKUPS, file=sys.stderr)


def _subject(step: Undoing) -> list[str]:
    """What it is about; where a text is restored, what it is and what it becomes: one of them alone would be taken
    for the other."""
    told = {turn.name: f"{plain(turn.old) or 'none'} -> {plain(turn.new) or 'none'}" for turn in step.turns}
    subject = told.pop("content", None) or plain(step.subject) or step.memory
    return [subject, *(f"{name}: {became}" for name, became in told.items())]


async def _person(engine: Engine, options: argparse.Namespace, tool: str = "history") -> Actor:
    """Who is at this machine, in a session of its own: what was undone can be seen and undone as well."""
    import secrets

    return (await engine.access.local_user(options.user)).through(tool, f"history/{secrets.token_hex(4)}")


async def _reference(engine: Engine, actor: Actor, name: str) -> Reference:
    from commonplace.domain.errors import Invalid
    from commonplace.domain.identifiers import MemoryId, is_uuid
    from commonplace.engine.memories import Reference

    number = name.removeprefix("block_")
    if is_uuid(name):
        return Reference(id=MemoryId(name))
    if number != name and number.isascii() and number.isdigit() and len(number) < 19:
        return Reference(block=int(number))
    if name.isascii() and name.isdigit():
        raise Invalid("MEMORY", f"{name} could be several things: write block_{name}, an id or an address")
    return Reference(id=(await _at(engine, actor, name)).id)


async def _at(engine: Engine, actor: Actor, name: str) -> Memory:
    """By its address. What was meant for something else is missed as it was typed, and told what may be given."""
    from commonplace.domain.address import address
    from commonplace.domain.errors import NotFound

    missing = NotFound("memory", name, f"give {_MEMORY}")
    try:
        memory = (await engine.paths.look(actor, address(name, "MEMORY"), most=1)).memory
    except NotFound as error:
        raise missing from error
    if memory is None:
        raise missing
    return memory


def _glimpse(content: str, most: int = 80) -> str:
    shown = " ".join(content[: most * 2].split())
    return plain(shown if len(shown) <= most else shown[:most] + "…")
