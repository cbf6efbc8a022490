"""The language model that a consolidation may ask."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered, and what the answer cost."""

    text: str
    tokens: int


class Completer(Protocol):
    """Answers one question at a time, in text."""

    @property
    def name(self) -> str:
        """What status answers call it."""
        ...

    async def complete(self, system: str, user: str) -> Completion:
        """The answer, or ModelFailed."""
        ...

    async def check(self) -> float:
        """The seconds it takes to say that it is there, or ModelFailed."""
        ...
