"""Which part of a long text is shown."""

import numpy as np
import pytest

from commonplace.engine.passages import passage
from commonplace.language.parts import parts

SENTENCES = [f"Sentence number {number} of a text that goes on for quite a while, as some do." for number in range(40)]
TEXT = " ".join(SENTENCES)
PIECES = parts(TEXT)[1:]


def vectors(best: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Of the whole and of its parts, of which one is what is asked for."""
    made = np.zeros((1 + len(PIECES), 2), np.float32)
    made[:, 1] = 1.0
    made[1 + best] = (1.0, 0.0)
    return made


ASKED = np.array([1.0, 0.0], np.float32)


@pytest.mark.parametrize("best", range(len(PIECES)))
def test_the_part_that_comes_closest_is_shown_whole(best: int) -> None:
    shown = passage(TEXT, vectors(best), ASKED, 600)
    assert PIECES[best] in shown
    assert len(shown.strip("…")) == 600
    assert shown.strip("…") in TEXT
    assert shown.startswith("…") is not TEXT.startswith(shown[:50])
    assert shown.endswith("…") is not TEXT.endswith(shown[-50:])


def test_a_short_text_is_shown_as_it_is() -> None:
    assert passage("short", vectors(0)[:1], ASKED, 600) == "short"


def test_while_its_parts_are_not_embedded_a_text_stays_whole() -> None:
    assert passage(TEXT, vectors(0)[:1], ASKED, 600) == TEXT
    assert PIECES[1] in passage(TEXT, vectors(1)[:4], ASKED, 600)
