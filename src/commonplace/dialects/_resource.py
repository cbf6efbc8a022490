"""What can be read under an address: single resources, and shelves of memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, get_type_hints

from commonplace.dialects._call import Call, Prose
from commonplace.settings import Settings


@dataclass(frozen=True, slots=True)
class Resource:
    """Something to be read under an address; with `{name}` in it, a family of them."""

    uri: str
    name: str
    description: str
    function: Callable[..., Awaitable[Any]]
    aliases: Sequence[str] = ()

    @property
    def mime_type(self) -> str:
        answers = get_type_hints(self.function).get("return")
        if isinstance(answers, type) and issubclass(answers, Prose):
            return answers.mime_type
        return "application/json"

    @property
    def is_template(self) -> bool:
        return "{" in self.uri

    def match(self, uri: str) -> str | None:
        """The variable part of an address of this resource, '' where there is none; None for other addresses."""
        for form in (self.uri, *self.aliases):
            head, brace, _ = form.partition("{")
            if brace and uri.startswith(head) and len(uri) > len(head):
                return uri[len(head) :].strip("/")
            if not brace and uri.rstrip("/") == form.rstrip("/"):
                return ""
        return None

    def named(self, variable: str) -> str:
        """Its address proper, for one value of its variable part."""
        return self.uri.partition("{")[0] + variable


@dataclass(frozen=True, slots=True)
class Shelved:
    """A memory as a listing of resources shows it."""

    uri: str
    name: str
    description: str = ""
    weight: float | None = None
    """From 0 to 1: how much it matters."""


class Shelf(Protocol):
    """Resources that are memories: as many as there are, under addresses of their own."""

    def templates(self, settings: Settings) -> Sequence[Shelved]: ...

    async def page(self, call: Call, cursor: str) -> tuple[Sequence[Shelved], str]:
        """Some of them, and where the next page begins; empty when there is none."""
        ...

    async def read(self, call: Call, uri: str) -> Prose:
        """LookupError where the address is none of its own."""
        ...

    def canonical(self, uri: str) -> str:
        """One spelling for all addresses that mean the same."""
        ...
