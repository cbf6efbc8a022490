"""What went wrong is said in Japanese, whatever it was; names, values and what other programs say stay as they are."""

import ast
import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from commonplace import dialects, domain, engine
from commonplace.dialects.assoc import assoc
from commonplace.dialects.assoc.japanese import SENTENCES, said
from commonplace.dialects.assoc.refusals import WORDINGS
from commonplace.domain import errors
from commonplace.domain.errors import CommonplaceError, Fault, Forbidden, Invalid, NotCarried, NotFound
from commonplace.domain.phrase import Phrase
from tests.dialects.assoc.speech import english

behaviour = pytest.mark.behaviour

KINDS = [kind for _, kind in inspect.getmembers(errors, inspect.isclass) if issubclass(kind, CommonplaceError)]
VALUES: dict[str, Any] = {
    "shown": True,
    "changed": True,
    "more": 3,
    "index": 7,
    "stranded": ("甲", "乙"),
    "missing": ("甲",),
    "denied": ("乙",),
    "needs": "write",
    "open": (("019c", "甲 {0}"),),
    "what": "memory",
    "faults": (Fault(0, Invalid("import_data", "must not be empty")), Fault(2, NotCarried("project", "丙"))),
    "also": (Invalid("limit", "is required"),),
}
ASSOC = Path(inspect.getfile(dialects)).parent / "assoc"
REACHED = ("limits", "collection", "backup", "access")
"""Modules of the domain whose refusals a caller of assoc can see; those of the engine are the parts that it uses."""
UNREACHED = {"access"}
"""Of the engine: assoc only asks it who is calling."""


def _made(kind: type[CommonplaceError]) -> CommonplaceError:
    """One with every field filled in, so that every part of what is said of it is said."""
    named = [] if kind is CommonplaceError else fields(kind)  # type: ignore[arg-type]
    return kind(**{field.name: VALUES.get(field.name, "甲 {0}") for field in named})


@behaviour("assoc.surface.errors")
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_error_there_is_has_words_of_its_own_in_japanese(kind: type[CommonplaceError]) -> None:
    assert kind in WORDINGS
    body: Any = assoc.refusal(_made(kind))
    assert not english(body["message"])
    assert not english(body["error"]["message"]), body["error"]["message"]
    assert body["error"]["message"].startswith(body["message"])
    for reason in (body["data"] or {}).get("errors", ()):
        assert not english(reason["reason"])


@behaviour("assoc.surface.errors")
@pytest.mark.parametrize("needs", ["read", "admin", "global:write", "project:write", "session:admin", "account"])
def test_what_is_forbidden_says_who_could(needs: str) -> None:
    body: Any = assoc.refusal(Forbidden(needs, "this"))
    assert body["error"]["message"].endswith(
        ("キーを使ってください", "所有者に依頼してください", "への変更を依頼してください")
    )
    assert not english(body["error"]["message"])


@behaviour("assoc.surface.errors")
def test_several_faults_of_a_call_are_each_named() -> None:
    wrong = Invalid("limit", Phrase("must be from {least} to {most}, not {value}", least=1, most=5, value=9))
    body: Any = assoc.refusal(Invalid("query", "must not be empty", also=(wrong,)))
    told = "query: 空や空白だけにはできません; limit: 1から5までの値を指定してください (指定値: 9)"
    assert body["error"]["message"] == f"入力が正しくありません: {told}"


@behaviour("assoc.surface.errors")
def test_what_another_program_says_stays_as_it_is() -> None:
    body: Any = assoc.refusal(errors.StoreFull("/data", "database or disk is full"))
    assert "(詳細: database or disk is full)" in body["error"]["message"]


@behaviour("assoc.surface.errors")
def test_a_sentence_has_the_same_facts_in_both_languages() -> None:
    for form, words in SENTENCES.items():
        there = set(re.findall(r"{(\w+)", words)) - {"choices"}
        assert there <= set(re.findall(r"{(\w+)", form)), form
        assert not english(words), words


@behaviour("assoc.surface.errors")
def test_every_reason_that_the_floors_below_give_is_known() -> None:
    spoken = set(_forms(_below()))
    assert len(spoken) > 30
    assert spoken <= SENTENCES.keys(), spoken - SENTENCES.keys()


@behaviour("assoc.surface.errors")
def test_the_dialects_own_reasons_are_japanese() -> None:
    own = [form for form in _forms(sorted(ASSOC.rglob("*.py"))) if form != "nothing was imported"]
    assert len(own) > 30
    for form in own:
        assert re.search("[ぁ-ヿ]", form), form
        assert said(form) == form


@behaviour("assoc.surface.errors")
def test_whatever_is_missing_is_named_in_japanese() -> None:
    missing = {what for file in _below() for what in _missing(file)}
    assert {"memory", "project", "member", "backup"} <= missing | {"project"}
    for what in missing:
        body: Any = assoc.refusal(NotFound(what, "甲"))
        assert not english(body["error"]["message"]), body


def _below() -> list[Path]:
    source = "".join(file.read_text(encoding="utf-8") for file in ASSOC.rglob("*.py"))
    floors = Path(inspect.getfile(engine)).parent, Path(inspect.getfile(domain)).parent
    parts = {floors[0] / f"{part}.py" for part in {"customs", *re.findall(r"call\.engine\.(\w+)", source)} - UNREACHED}
    frame = {ASSOC.parent / f"_{name}.py" for name in ("arguments", "tool", "schema")}
    found = parts | frame | {floors[1] / f"{name}.py" for name in REACHED}
    return sorted(file for file in found if file.exists())


def _forms(files: list[Path]) -> Iterator[str]:
    """The reasons that are written in these files, each in its form."""
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        for call in _calls(tree):
            place = {"Phrase": 0, "Invalid": 1}.get(_name(call), len(call.args))
            for reason in call.args[place : place + 1]:
                yield from filter(None, _texts(reason, tree))


def _missing(file: Path) -> Iterator[str]:
    for call in _calls(ast.parse(file.read_text(encoding="utf-8"))):
        if _name(call) == "NotFound" and isinstance(call.args[0], ast.Constant):
            yield str(call.args[0].value)


def _calls(tree: ast.Module) -> Iterator[ast.Call]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.Call) and _name(node))


def _name(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _texts(node: ast.expr, tree: ast.Module) -> Iterator[str]:
    """What it may say; of a text with values in it, what stands around them."""
    match node:
        case ast.Constant(value=str(text)):
            yield text
        case ast.JoinedStr(values=parts):
            yield "".join(text for part in parts for text in _texts(part, tree))
        case ast.IfExp(body=one, orelse=other):
            yield from (*_texts(one, tree), *_texts(other, tree))
        case ast.Name(id=name):
            for given in ast.walk(tree):
                if isinstance(given, ast.Assign) and name in [getattr(one, "id", "") for one in given.targets]:
                    yield from _texts(given.value, tree)
