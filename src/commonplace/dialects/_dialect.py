"""The small frame every dialect stands in: a function per tool, its signature the schema, its docstring the text."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, get_args, get_origin, get_type_hints

from commonplace.dialects._call import Answer, AppPage, Body, Call, Prose
from commonplace.dialects._resource import Resource, Shelf, Shelved
from commonplace.dialects._tool import Act, Tool, Unused, Whole, whole
from commonplace.domain.errors import CommonplaceError
from commonplace.domain.event import Event
from commonplace.settings import Settings

__all__ = [
    "EVERYTHING",
    "Act",
    "Answer",
    "AppPage",
    "Body",
    "Call",
    "Dialect",
    "Prose",
    "Resource",
    "Shelf",
    "Shelved",
    "Tool",
    "Whole",
    "whole",
]

Function = Callable[..., Awaitable[Any]]
EVERYTHING = "*"
"""In place of the addresses that were touched: any of them may have been."""


def _pass_over(call: Call) -> None:
    """For dialects that need not know."""


async def _touches_nothing(call: Call, event: Event) -> Iterable[str]:
    return ()


def _registering(act: Act) -> Callable[[Dialect, Function], Function]:
    """A decorator that makes a function a tool which does this."""

    def register(self: Dialect, function: Function) -> Function:
        return self._tool(act, function)

    return register


@dataclass
class Dialect:
    """One original's tools, resources, words and errors, over the engine."""

    name: str
    title: str
    version: str
    instructions: str
    refusal: Callable[[CommonplaceError], Body | Prose]
    touched: Callable[[Call, Event], Awaitable[Iterable[str]]] = _touches_nothing
    """The addresses, in their canonical form, whose content an event has changed; EVERYTHING where that is unknown."""
    tools: dict[str, Tool] = field(default_factory=dict)
    resources: list[Resource] = field(default_factory=list)
    shelf: Shelf | None = None
    greeting: Callable[[Call], Awaitable[str]] | None = None
    """The instructions as this caller is to read them at this moment; without it, everyone reads the same."""
    heard: Callable[[Call], None] = _pass_over
    """Told of every call before it is answered; it must not take any time."""
    apps: dict[str, str] = field(default_factory=dict)
    """The address of the page that shows a tool's answer, by the tool's name."""

    reads = _registering(Act.READS)
    writes = _registering(Act.WRITES)
    destroys = _registering(Act.DESTROYS)
    serves = _registering(Act.SERVES)
    governs = _registering(Act.GOVERNS)
    oversees = _registering(Act.OVERSEES)
    overrules = _registering(Act.OVERRULES)
    tells = _registering(Act.TELLS)

    @property
    def is_public(self) -> bool:
        """Whether strangers have something to ask here."""
        return any(tool.act is Act.TELLS for tool in self.tools.values())

    def _tool(self, act: Act, function: Function) -> Function:
        answers = get_type_hints(function).get("return")
        if get_origin(answers) is Answer:
            answers = get_args(answers)[0]
        self.tools[function.__name__] = Tool(function.__name__, act, function, answers)
        return function

    def leaves_aside(self, unused: Unused) -> Callable[[Function], Function]:
        """Above what makes a function a tool: says which arguments a call has no use for, before they are validated."""

        def register(function: Function) -> Function:
            self.tools[function.__name__] = replace(self.tools[function.__name__], unused=unused)
            return function

        return register

    def resource(
        self, uri: str, name: str, *aliases: str
    ) -> Callable[[Callable[..., Awaitable[Any]]], Callable[..., Awaitable[Any]]]:
        def register(function: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
            description = inspect.cleandoc(function.__doc__ or "")
            self.resources.append(Resource(uri, name, description, function, aliases))
            return function

        return register

    async def read(self, call: Call, uri: str) -> Any:
        """What stands under an address; LookupError where no resource answers to it."""
        for resource in self.resources:
            variable = resource.match(uri)
            if variable is not None:
                return await (resource.function(call, variable) if resource.is_template else resource.function(call))
        if self.shelf:
            return await self.shelf.read(call, uri)
        raise LookupError(uri)

    def canonical(self, uri: str) -> str:
        """One spelling for all addresses that mean the same."""
        for resource in self.resources:
            variable = resource.match(uri)
            if variable is not None:
                return resource.named(variable)
        return self.shelf.canonical(uri) if self.shelf else uri

    def offered(self, settings: Settings) -> dict[str, Tool]:
        """The tools that the settings leave in."""
        chosen = settings.tools or tuple(self.tools)
        return {
            name: tool
            for name, tool in self.tools.items()
            if name in chosen and name not in settings.exclude_tools and not (settings.read_only and tool.act.changes)
        }
