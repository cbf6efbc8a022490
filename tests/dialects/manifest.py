"""The manifest of a dialect's behaviours, and the tests that name its entries."""

import importlib
import pkgutil
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).parents[2] / "docs" / "behaviours"
KEYS = {"source", "behaviour", "divergence"}


@dataclass(frozen=True)
class Behaviour:
    """One promise of a dialect."""

    id: str
    source: str
    behaviour: str
    divergence: str = ""


def behaviours(dialect: str) -> dict[str, Behaviour]:
    """Every entry of a dialect's manifest, by its id."""
    tables = tomllib.loads((FOLDER / f"{dialect}.toml").read_text(encoding="utf-8"))
    entries = [
        Behaviour(f"{dialect}.{subject}.{name}", **entry)
        for subject, named in tables.items()
        for name, entry in named.items()
    ]
    return {entry.id: entry for entry in entries}


def marks_of(package: ModuleType) -> dict[str, set[str]]:
    """The tests of a package by name, each with the ids it is marked with."""
    return {name: ids for module in _modules(package) for name, ids in _marked(module)}


def _modules(package: ModuleType) -> Iterator[ModuleType]:
    for found in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if found.name.rpartition(".")[2].startswith("test_"):
            yield importlib.import_module(found.name)


def _marked(module: ModuleType) -> Iterator[tuple[str, set[str]]]:
    for name, function in vars(module).items():
        if name.startswith("test_"):
            marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "behaviour"]
            yield f"{module.__name__}.{name}", {str(argument) for mark in marks for argument in mark.args}
