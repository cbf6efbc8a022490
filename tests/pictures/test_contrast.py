"""Colours that can be told from what is behind them, on a light and on a dark screen (WCAG 2.2)."""

import re

import pytest

from commonplace.pictures.svg import static

LIGHT, DARK = static("picture.css").split("@media (prefers-color-scheme:dark){")


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
