"""A store, an embedder, a summariser and a dialect for Commonplace, as small as they can be."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from commonplace.dialects._dialect import Body, Call, Dialect
from commonplace.domain.errors import CommonplaceError
from commonplace.domain.memory import Draft
from commonplace.engine.recall import Question
from commonplace.settings import Settings
from commonplace.storage.sqlite.store import SqliteStore


class Forgetful(SqliteStore):
    """A store that lives as long as the server."""

    def __init__(self, fingerprint: str) -> None:
        self._place = TemporaryDirectory()
        super().__init__(Path(self._place.name), fingerprint)

    async def close(self) -> None:
        await super().close()
        self._place.cleanup()


class Letters:
    """How often each letter of the alphabet occurs: hardly a meaning, but a vector."""

    name = "letters"
    fingerprint = "letters/1"
    scale = None  # measured when it is needed

    def embed(self, texts: Sequence[str]) -> Any:
        rows = np.array([[1e-3 + text.lower().count(chr(97 + n)) for n in range(26)] for text in texts], np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)


class FirstLine:
    """The first line of a text."""

    name = "first-line"

    def summarise(self, text: str, most_chars: int) -> str:
        return text.splitlines()[0][:most_chars] if text else ""


def forgetful(settings: Settings, fingerprint: str) -> Forgetful:
    return Forgetful(fingerprint)


def letters(settings: Settings) -> Letters:
    return Letters()


def first_line(settings: Settings) -> FirstLine:
    return FirstLine()


def refusal(error: CommonplaceError) -> Body:
    return {"error": error.message}


tiny = Dialect("tiny", "A tiny dialect", "1.0.0", "Two tools: keep and find.", refusal)


@tiny.writes
async def keep(call: Call, text: str) -> str:
    """Keep a text."""
    return (await call.engine.memories.remember(call.actor, Draft(text))).id


@tiny.reads
async def find(call: Call, words: str) -> list[str]:
    """Find texts."""
    return [hit.memory.content for hit in (await call.engine.recall.recall(call.actor, Question(words, 5))).hits]
