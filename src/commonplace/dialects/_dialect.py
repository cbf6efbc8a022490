"""The small frame every dialect stands in: a function per tool, its signature the schema, its docstring the text."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain, islice
from typing import Annotated, Any, Generic, Protocol, TypeVar, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, create_model

from commonplace.dialects._arguments import look_over
from commonplace.dialects._schema import as_object, fields_at, hint, plain, spelled, usual
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.errors import CommonplaceError, Invalid
from commonplace.domain.event import Event
from commonplace.engine import Engine
from commonplace.engine.chain import Progress, silent
from commonplace.ports.completions import Completer
from commonplace.settings import Settings

T = TypeVar("T")
Body = Mapping[str, Any]
Function = Callable[..., Awaitable[Any]]
Unused = Callable[[Body], Collection[str]]
MOST_NAMED = 4
"""Of the faults of a call."""
EVERYTHING = "*"
"""In place of the addresses that were touched: any of them may have been."""


def whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


Whole = Annotated[int, BeforeValidator(whole)]
"""A JSON integer: 5 and 5.0 are the same number there."""


class Act(StrEnum):
    """What a tool does to the memory; it decides the permission needed and what clients are told."""

    READS = "reads"
    WRITES = "writes"
    DESTROYS = "destroys"
    SERVES = "serves"
    """Several actions under one name: each asks for what it needs."""
    GOVERNS = "governs"
    """The same for administrators."""
    OVERSEES = "oversees"
    """Reads what only administrators may see."""
    OVERRULES = "overrules"
    """Changes what only administrators may."""
    TELLS = "tells"
    """Says something to anyone, even to strangers."""

    @property
    def needs(self) -> Permission:
        return _NEEDED.get(self, Permission.WRITE)

    def require(self, actor: Actor) -> None:
        """Refuse who may not use it."""
        if self is not Act.TELLS:
            require(actor, self.needs)

    def allows(self, actor: Actor) -> bool:
        return self is Act.TELLS or self.needs in actor.permissions

    @property
    def changes(self) -> bool:
        """Whether it is left out where nothing may be changed."""
        return self in (Act.WRITES, Act.DESTROYS, Act.OVERRULES)


_NEEDED = dict.fromkeys((Act.TELLS, Act.READS, Act.SERVES), Permission.READ)
_NEEDED |= dict.fromkeys((Act.GOVERNS, Act.OVERSEES, Act.OVERRULES), Permission.ADMIN)


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


def _uses_all(arguments: Body) -> Collection[str]:
    return ()


@dataclass(frozen=True)
class Tool:
    """A function made callable from outside."""

    name: str
    act: Act
    function: Callable[..., Awaitable[Any]]
    answers: Any
    unused: Unused = _uses_all
    """Which of these arguments a call has no use for; they are not looked at."""

    @property
    def description(self) -> str:
        return inspect.cleandoc(self.function.__doc__ or "")

    @property
    def title(self) -> str:
        return self.name.replace("_", " ").capitalize()

    @cached_property
    def _arguments(self) -> type[BaseModel]:
        hints = get_type_hints(self.function, include_extras=True)
        _, *parameters = inspect.signature(self.function).parameters.values()
        fields: dict[str, Any] = {
            p.name: (hints[p.name], ... if p.default is p.empty else p.default) for p in parameters
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid", strict=True), **fields)

    @cached_property
    def input_schema(self) -> dict[str, Any]:
        schema = plain(self._arguments.model_json_schema())
        schema["properties"] = {name: usual(entry) for name, entry in schema.get("properties", {}).items()}
        return schema

    @cached_property
    def output_schema(self) -> dict[str, Any] | None:
        if self.answers in (None, Prose):
            return None
        schema = plain(TypeAdapter(self.answers).json_schema(mode="serialization"))
        definitions = schema.pop("$defs", None)
        return as_object(schema) | ({"$defs": definitions} if definitions else {})

    async def __call__(self, call: Call, arguments: Mapping[str, Any]) -> Answer[Any]:
        """Validate once, then do it."""
        look_over(arguments)
        given = self._given(arguments)
        unused = [name for name in self._left_aside(given) if given.pop(name) is not None]
        try:
            valid = self._arguments.model_validate(given)
        except ValidationError as error:
            raise self._invalid(error) from error
        result = await self.function(replace(call, unused=unused) if unused else call, **vars(valid))
        return result if isinstance(result, Answer) else Answer(result)

    def _given(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Without the nulls that mean "left out", as many clients send them; where null has a meaning, it stays.

        Of names that are no parameters a few are kept, to be named: each of them would be looked at closely.
        """
        known = self._arguments.model_fields
        strange = islice((name for name in arguments if name not in known), MOST_NAMED)
        named = chain((name for name in known if name in arguments), strange)
        return {name: arguments[name] for name in named if arguments[name] is not None or name not in self._never_null}

    def _left_aside(self, given: Body) -> list[str]:
        """Only what is a parameter: an unknown name is refused, whatever the call is about."""
        unused = self.unused(given)
        return [name for name in self._arguments.model_fields if name in given and name in unused]

    @cached_property
    def _never_null(self) -> frozenset[str]:
        fields = self._arguments.model_fields.items()
        return frozenset(name for name, field in fields if type(None) not in get_args(field.annotation))

    def _invalid(self, error: ValidationError) -> Invalid:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        (first, reason), *more = [self._problem(one) for one in found[:MOST_NAMED]]
        others = "".join(f"; {name}: {why}" for name, why in more)
        return Invalid(first, reason + others)

    def _problem(self, problem: Mapping[str, Any]) -> tuple[str, str]:
        path = problem["loc"] or ("arguments",)
        name, *inside = map(str, path)
        if problem["type"] == "extra_forbidden" and inside:
            known = fields_at(self.input_schema, [name, *inside[:-1]])
            return name, f"{'.'.join(inside)[:80]!r} is not one of its fields{hint(inside[-1], known)}"
        if problem["type"] == "extra_forbidden":
            return name[:80], self._unknown(name)
        if problem["type"] == "missing":
            choices = () if inside else self.input_schema["properties"].get(name, {}).get("enum", ())
            return spelled(path), f"is required: one of {', '.join(choices)}" if choices else "is required"
        return spelled(path), str(problem["msg"])

    def _unknown(self, name: str) -> str:
        return f"is not a parameter of {self.name}{hint(name, list(self._arguments.model_fields))}"


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
