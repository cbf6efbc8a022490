"""Whether what spaces use beside the store answers: the place of their files, the model that consolidates."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import datetime, timedelta

from commonplace.domain.errors import FilesFailed, ModelFailed
from commonplace.engine.mirror import Mirror
from commonplace.ports import Clock
from commonplace.ports.completions import Completer

LASTING = timedelta(seconds=5)
"""For so long an answer stands: strangers may ask too, and each question goes out to a bucket and a model."""


@dataclass(frozen=True, slots=True)
class Condition:
    """How one of them is."""

    latency: float = 0.0
    trouble: str = ""
    used: bool = True
    waiting: int = 0
    """So many files are to be written as soon as they can be."""


@dataclass(frozen=True, slots=True)
class Conditions:
    """How both are."""

    files: Condition
    model: Condition

    @property
    def well(self) -> bool:
        return not (self.files.trouble or self.model.trouble)


class Health:
    """Asks them, now and then."""

    def __init__(self, mirror: Mirror, completer: Completer | None, clock: Clock) -> None:
        self._mirror = mirror
        self._completer = completer
        self._clock = clock
        self._found: tuple[datetime, Conditions] | None = None
        self._asking = asyncio.Lock()

    @property
    def model(self) -> str:
        """The name of the model of the settings; empty where there is none."""
        return self._completer.name if self._completer else ""

    async def conditions(self) -> Conditions:
        async with self._asking:  # whoever comes meanwhile waits for the same answer
            now = self._clock.now()
            if self._found is None or now - self._found[0] >= LASTING:
                self._found = now, Conditions(await self._files(), await self._model())
            return self._found[1]

    async def _files(self) -> Condition:
        if self._mirror.files is None:
            return Condition(used=False)
        try:
            latency, trouble = await self._mirror.files.check(), self._mirror.trouble
        except FilesFailed as failure:
            latency, trouble = 0.0, failure.message
        return Condition(latency, trouble, waiting=await self._mirror.waiting())

    async def _model(self) -> Condition:
        if self._completer is None:
            return Condition()  # then nothing is asked that could fail
        try:
            return Condition(await self._completer.check())
        except ModelFailed as failure:
            return Condition(trouble=failure.message)
