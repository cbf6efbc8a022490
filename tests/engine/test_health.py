"""Whoever asks how files and model are doing, however often: they themselves are asked now and then."""

from datetime import timedelta
from pathlib import Path

import pytest

from commonplace.domain.errors import ModelFailed
from commonplace.engine.health import LASTING
from commonplace.ports.completions import Completion
from tests.engine.outside import household

pytestmark = pytest.mark.anyio


class Completer:
    """A model that counts how often it is asked whether it is there, and is there while `well`."""

    name = "fake"

    def __init__(self) -> None:
        self.asked = 0
        self.well = True

    async def complete(self, system: str, user: str) -> Completion:
        raise ModelFailed(self.name, "has nothing to say")

    async def check(self) -> float:
        self.asked += 1
        if not self.well:
            raise ModelFailed(self.name, "gone")
        return 0.1


async def test_an_answer_stands_for_a_while_and_no_longer(folder: Path) -> None:
    model = Completer()
    async with household(folder, None, completer=model) as home:
        assert (await home.engine.health.conditions()).well
        model.well = False
        home.clock.advance(LASTING - timedelta(microseconds=1))
        assert (await home.engine.health.conditions()).well
        assert model.asked == 1
        home.clock.advance(timedelta(microseconds=1))
        assert "gone" in (await home.engine.health.conditions()).model.trouble
        assert model.asked == 2
