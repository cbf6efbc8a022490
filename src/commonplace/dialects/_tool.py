"""A tool: what it does to the memory, and a function whose signature is the schema and whose docstring is the text."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from itertools import chain, islice
from typing import Annotated, Any, get_args, get_type_hints

from pydantic import BaseModel, BeforeValidator, ConfigDict, TypeAdapter, ValidationError, create_model
from pydantic_core import PydanticKnownError

from commonplace.dialects._arguments import look_over
from commonplace.dialects._call import Answer, Body, Call, Prose
from commonplace.dialects._schema import as_object, fields_at, hint, inlined, plain, spelled, usual
from commonplace.domain.access import Actor, Permission, require
from commonplace.domain.errors import Invalid
from commonplace.domain.phrase import Phrase

Unused = Callable[[Body], Collection[str]]
MOST_NAMED = 4
"""Of the faults of a call."""


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
        schema = inlined(plain(self._arguments.model_json_schema()))
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
        found = error.errors(include_url=False, include_input=False)
        first, *more = [self._problem(one) for one in found[:MOST_NAMED]]
        return Invalid(*first, also=tuple(Invalid(*one) for one in more))

    def _problem(self, problem: Mapping[str, Any]) -> tuple[str, str]:
        path = problem["loc"] or ("arguments",)
        name, *inside = map(str, path)
        if problem["type"] == "extra_forbidden" and inside:
            known = fields_at(self.input_schema, [name, *inside[:-1]])
            wrong = ".".join(inside)[:80]
            return name, Phrase("{name!r} is not one of its fields{hint}", name=wrong, hint=hint(inside[-1], known))
        if problem["type"] == "extra_forbidden":
            return name[:80], self._unknown(name)
        if problem["type"] == "missing":
            choices = () if inside else self.input_schema["properties"].get(name, {}).get("enum", ())
            return spelled(path), _required(choices)
        return spelled(path), _told(problem)

    def _unknown(self, name: str) -> Phrase:
        nearest = hint(name, list(self._arguments.model_fields))
        return Phrase("is not a parameter of {tool}{hint}", tool=self.name, hint=nearest)


def _required(choices: Sequence[str]) -> str:
    return Phrase("is required: one of {choices}", choices=", ".join(choices)) if choices else "is required"


def _told(problem: Mapping[str, Any]) -> str:
    """In pydantic's words, which are English, with their facts where these are all that is in them."""
    facts = {name: whole(fact) for name, fact in problem.get("ctx", {}).items()}
    if problem["type"] == "literal_error":  # it lists them with an "or"
        facts["choices"] = facts["expected"].replace(" or ", ", ")
    try:
        told = Phrase(PydanticKnownError(problem["type"], facts or None).message_template, **facts)
    except (KeyError, TypeError):
        return str(problem["msg"])
    return told if told == problem["msg"] else str(problem["msg"])
