"""Schemas as clients see them: no titles, defaults where they help, answers that are objects."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from commonplace.domain.phrase import Phrase

USUALLY = "usually"
"""Under this key a parameter's schema says its default, where the code must know whether it was given."""


def usual(entry: dict[str, Any]) -> dict[str, Any]:
    if USUALLY not in entry:
        return entry
    usual = entry.pop(USUALLY)
    entry.pop("default", None)
    kinds = [one for one in entry.pop("anyOf", [{}]) if one.get("type") != "null"]
    return {**kinds[0], **entry, **({} if usual is None else {"default": usual})}


def as_object(schema: dict[str, Any]) -> dict[str, Any]:
    """Answers are objects; what is none stands in one, under `result`."""
    if schema.get("type") == "object" or "$ref" in schema:
        return {"type": "object", **schema}
    if "anyOf" in schema:
        return {"type": "object", "anyOf": [as_object(one) for one in schema["anyOf"]]}
    return {"type": "object", "properties": {"result": schema}, "required": ["result"]}


def plain(schema: dict[str, Any]) -> dict[str, Any]:
    """Without the titles pydantic adds: they repeat the names and cost tokens in every listing."""
    return {key: _without_titles(value) for key, value in schema.items() if key != "title"}


def inlined(schema: dict[str, Any]) -> dict[str, Any]:
    """With each definition where it is used: some clients hand schemas to models that know no references."""
    definitions = schema.pop("$defs", {})

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(one) for one in value]
        if not isinstance(value, dict):
            return value
        meant = definitions.get(str(value.get("$ref")).rpartition("/")[2], {})
        return {key: filled(one) for key, one in {**meant, **value}.items() if not meant or key != "$ref"}

    whole: dict[str, Any] = filled(schema)
    return whole


def _without_titles(value: Any) -> Any:
    if isinstance(value, dict):
        # A property may be called `title`: only a title that is a plain string is pydantic's.
        return {_key(k, v): _without_titles(v) for k, v in value.items() if not (k == "title" and isinstance(v, str))}
    return [_without_titles(one) for one in value] if isinstance(value, list) else value


def _key(name: str, value: Any) -> str:
    """Bounds behind a validator of our own are left in pydantic's words: JSON schema has others for them."""
    return _BOUNDS.get(name, name) if isinstance(value, int | float) else name


_BOUNDS = {"ge": "minimum", "le": "maximum"}


def spelled(path: Sequence[str | int]) -> str:
    """A place inside an argument as a caller writes it: `filters.importance_min`, `tags[2]`."""
    steps = (f"[{step}]" if isinstance(step, int) else f".{step[:80]}" for step in path)
    return "".join(steps).removeprefix(".")


def hint(name: str, known: Sequence[str]) -> Phrase:
    """For who wrote a name that is not known: the nearest one, and all there are."""
    near = difflib.get_close_matches(name[:80], known, 1, 0.5)
    listed = ", ".join(known) or Phrase("none")
    if near:
        return Phrase("; did you mean {near!r}? (it takes: {known})", near=near[0], known=listed)
    return Phrase(" (it takes: {known})", known=listed)


def fields_at(schema: Mapping[str, Any], path: Sequence[str]) -> list[str]:
    """What may stand in an object inside an argument; nothing where that is not said."""
    found = [schema]
    for step in path:
        found = [inner for one in found for inner in _inside(one, step)]
    return sorted({name for one in found for form in _forms(one) for name in form.get("properties", ())})


def _inside(one: Mapping[str, Any], step: str) -> Iterator[Mapping[str, Any]]:
    for form in _forms(one):
        if step in form.get("properties", {}):
            yield form["properties"][step]
        elif step.isdigit() and "items" in form:
            yield form["items"]


def _forms(one: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A schema, or those it stands for."""
    yield one
    for other in one.get("anyOf", ()):
        yield from _forms(other)
