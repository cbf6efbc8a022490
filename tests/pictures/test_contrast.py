"""Colours that can be told from what is behind them, on a light and on a dark screen (WCAG 2.2)."""

import re
from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from commonplace.pictures.svg import static

LIGHT, DARK = static("picture.css").split("@media (prefers-color-scheme:dark){")

Row = NDArray[np.float64]
LMS = np.array([[0.4122, 0.5363, 0.0514], [0.2119, 0.6807, 0.1074], [0.0883, 0.2817, 0.63]])
LAB = np.array([[0.2105, 0.7936, -0.0041], [1.978, -2.4286, 0.4506], [0.0259, 0.7828, -0.8087]])
EYES = {
    "usual": np.eye(3),
    "protan": np.array([[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.052]]),
    "deutan": np.array([[0.3673, 0.8606, -0.228], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]]),
    "tritan": np.array([[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]]),
}
"""What is left of red, green and blue (Machado, Oliveira and Fernandes 2009)."""


def colour(css: str, selector: str, name: str) -> str:
    found = re.findall(
        rf"(?:^|[,}}\n]){re.escape(selector)}(?:,[^{{}}]*)?\{{[^}}]*?(?<![-\w]){name}:(#[0-9a-f]{{3,6}})", css
    )
    return str(found[-1])


def luminance(value: str) -> float:
    digits = value[1:] if len(value) == 7 else "".join(2 * digit for digit in value[1:])
    parts = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def linear(value: str) -> Row:
    parts = np.array([int(value[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.asarray(np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4))


def perceived(light: Row) -> Row:
    """In Oklab, where equal distances look equally far apart."""
    return np.asarray(LAB @ np.cbrt(LMS @ np.clip(light, 0, 1)))


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("css", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("text", ["text", ".subtitle", ".faint", ".heading"])
@pytest.mark.parametrize("ground", [".ground", ".panel", ".land2"])
def test_text_can_be_read(css: str, text: str, ground: str) -> None:
    behind = colour(css, ground, "stroke" if "land" in ground else "fill")
    assert contrast(colour(css, text, "fill"), behind) >= 4.5


@pytest.mark.parametrize("css", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("series", range(10))
def test_marks_can_be_seen(css: str, series: int) -> None:
    assert contrast(colour(css, f".s{series}", "color"), colour(css, ".panel", "fill")) >= 3.0


@pytest.mark.parametrize("css", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("eye", EYES)
def test_colours_can_be_told_apart_by_every_eye(css: str, eye: str) -> None:
    seen = [perceived(EYES[eye] @ linear(colour(css, f".s{series}", "color"))) for series in range(9)]
    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) > 0.05
