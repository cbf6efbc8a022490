"""Several actions under the name of one tool: each is a function whose parameters say what it needs and uses."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Container, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from typing_extensions import TypedDict

from commonplace.dialects._dialect import Act, Call
from commonplace.dialects.assoc.parameters import MAY_BE_EMPTY, is_blank
from commonplace.domain.access import require
from commonplace.domain.errors import Invalid, ReadOnly


class Problem(TypedDict):
    code: str
    message: str


class Reply(TypedDict):
    """The form of every answer."""

    success: bool
    data: Any
    message: str
    error: Problem | None


@dataclass(frozen=True, slots=True)
class Done:
    """What an action has to say."""

    data: Any
    message: str
    unused: Sequence[str] = ()
    """What it could have used, and did not this time."""


Function = Callable[..., Awaitable[Done]]


def unused_note(unused: Sequence[str]) -> str:
    return f" (使わなかったパラメータ: {', '.join(unused)})" if unused else ""


@dataclass(frozen=True, slots=True)
class Action:
    """One of them."""

    name: str
    act: Act
    function: Function

    @property
    def parameters(self) -> Mapping[str, inspect.Parameter]:
        return _parameters(self.function)

    @property
    def needed(self) -> list[str]:
        return [name for name, one in self.parameters.items() if one.default is one.empty]

    def uses(self, name: str, value: Any) -> bool:
        """Not what it does not take; and an empty text is no id, no time, no choice, and nothing that it needs."""
        empty = is_blank(value) and (name in MAY_BE_EMPTY or name in self.needed)
        return name in self.parameters and not empty


@cache
def _parameters(function: Function) -> Mapping[str, inspect.Parameter]:
    """Looked up once, at its first call: it takes as long as a small action does, and not all are ever called."""
    _, *own = inspect.signature(function).parameters.values()
    return {parameter.name: parameter for parameter in own}


@dataclass
class Actions:
    """The actions of one tool."""

    chooser: str
    """The parameter that chooses: `action` or `type`."""
    forms: Mapping[str, str] = field(default_factory=dict)
    """Of a parameter whose name does not tell it: what it should hold, for who has left it out."""
    known: dict[str, Action] = field(default_factory=dict)

    def reads(self, function: Function) -> Function:
        return self._add(Act.READS, function)

    def writes(self, function: Function) -> Function:
        return self._add(Act.WRITES, function)

    def destroys(self, function: Function) -> Function:
        return self._add(Act.DESTROYS, function)

    def governs(self, function: Function) -> Function:
        return self._add(Act.GOVERNS, function)

    def overrules(self, function: Function) -> Function:
        return self._add(Act.OVERRULES, function)

    def _add(self, act: Act, function: Function) -> Function:
        name = function.__name__.rstrip("_")
        self.known[name] = Action(name, act, function)
        return function

    def unused(self, arguments: Mapping[str, Any]) -> list[str]:
        """What the chosen action makes nothing of; nothing where none is chosen, which is then refused."""
        chosen = arguments.get(self.chooser)
        action = self.known.get(chosen) if isinstance(chosen, str) else None
        others = (item for item in arguments.items() if item[0] != self.chooser)
        return [name for name, value in others if not action.uses(name, value)] if action else []

    async def run(self, call: Call, name: str, arguments: Mapping[str, Any]) -> Reply:
        """Do it with what it uses; say what it did not use, because clients fill in whole schemas.

        The arguments are all parameters of the tool, None for those left out; `call` and the chooser may be among them.
        """
        action = self.known[name]
        require(call.actor, action.act.needs)
        if call.settings.read_only and action.act.changes:
            raise ReadOnly(action.act.needs.value, f"{self.chooser} {name!r}")
        given = {key: arguments[key] for key in action.parameters if arguments[key] is not None}
        self._check(action, given, call.unused)
        done = await action.function(call, **given)
        unused = [key for key in arguments if key in call.unused or key in done.unused]
        return {"success": True, "data": done.data, "message": done.message + unused_note(unused), "error": None}

    def _check(self, action: Action, given: Mapping[str, Any], blank: Container[str]) -> None:
        missing = [name for name in action.needed if name not in given]
        if missing:
            others = f" (必要なもの: {', '.join(action.needed)})" if len(action.needed) > 1 else ""
            sent = "空か空白だけです。" if missing[0] in blank else ""
            form = f"。{self.forms[missing[0]]}" if missing[0] in self.forms else ""
            raise Invalid(missing[0], f"{sent}{self.chooser} {action.name!r} では必須です{others}{form}")
