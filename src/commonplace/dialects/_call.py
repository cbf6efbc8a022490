"""A call of a tool: what comes in with it, and what it answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from commonplace.domain.access import Actor
from commonplace.engine import Engine
from commonplace.engine.chain import Progress, silent
from commonplace.ports.completions import Completer
from commonplace.settings import Settings

T = TypeVar("T")
Body = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """What a tool has at hand: the engine, who asks, and how to say how far it is."""

    engine: Engine
    actor: Actor
    settings: Settings
    progress: Progress = silent
    shown: bool = True
    """Whether the caller gets to see the answer; not where only leave to read is asked for."""
    client: str = ""
    """What the caller's program calls itself."""
    model: Completer | None = None
    """The caller's own model, where it lends it."""
    unused: Sequence[str] = ()
    """The arguments that were given and left aside: what was asked for has no use for them."""


class Prose(str):
    """An answer that is nothing but text: it is sent as it is, without an object beside it."""

    __slots__ = ()
    mime_type = "text/plain"


class AppPage(Prose):
    """A page that hosts with MCP Apps show beside a tool's answer."""

    __slots__ = ()
    mime_type = "text/html;profile=mcp-app"


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """A value for the caller, with a remark beside it that is no part of the value."""

    value: T
    notice: str = ""
    text: str = ""
    """The value in the dialect's own words; where empty, the text beside the object is the object as JSON."""
    reasons: Callable[[], Sequence[Mapping[str, Any]]] = tuple
    """Why each of the value's entries stands where it stands; for those who ask, not for the model."""
