"""The pages in a real browser, without a network."""

import importlib
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from commonplace.pictures.lettering import is_usual, width
from tests.pictures.samples import FORMS, HOSTILE, NOW, dot, drawn, of, poisoned, sample

pytestmark = pytest.mark.thorough

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    chromium = shutil.which("chromium")
    try:
        playwright = importlib.import_module("playwright.sync_api")
    except ImportError:
        playwright = None
    if not (chromium and playwright):
        if os.environ.get("CI") == "true":
            pytest.fail("what builds a release must have looked at the pictures: chromium and playwright are needed")
        pytest.skip("chromium or playwright is not installed")
    with playwright.sync_playwright() as running:
        context = running.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"), executable_path=chromium, headless=True, args=ARGUMENTS
        )
        yield context
        context.close()


@pytest.fixture
def tab(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """A page to show pictures on; it fails the test if the browser complains or asks for anything else."""
    page = browser.new_page()
    trouble: list[str] = []
    page.on("console", lambda message: trouble.append(message.text))
    page.on("pageerror", lambda error: trouble.append(str(error)))
    page.on("request", lambda one: trouble.extend([] if one.url.startswith(("file:", "data:")) else [one.url]))
    page.on("dialog", lambda dialog: trouble.append(dialog.message))

    def show(text: str, name: str = "picture.html", width: int = 1100) -> Any:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        page.set_viewport_size({"width": width, "height": 800})
        page.goto(path.as_uri())
        return page

    page.show = show
    yield page
    page.close()
    assert trouble == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("width", [360, 1600])
def test_a_page_opens_without_a_word_and_fits_its_screen(tab: Any, form: str, width: int) -> None:
    page = tab.show(drawn(form, sample(50), "html"), width=width)
    assert page.locator("h1").inner_text() == "Memories"
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("form", FORMS)
def test_hostile_text_stays_text(tab: Any, form: str) -> None:
    page = tab.show(drawn(form, poisoned(*HOSTILE), "html"))
    page.wait_for_timeout(50)
    assert page.locator("script").count() == 2
    assert page.locator("img").count() == 0


@pytest.mark.parametrize("form", FORMS)
def test_no_text_leaves_its_panel(tab: Any, form: str) -> None:
    for snapshot in (sample(50), poisoned(*HOSTILE), poisoned(*HOSTILE[::-1])):
        page = tab.show(drawn(form, snapshot, "svg"), "picture.svg")
        outside = page.evaluate(
            """() => [...document.querySelectorAll("svg > svg text")].filter((text) => {
              const panel = [...document.querySelectorAll("svg.cp > svg")].find((one) => one.contains(text));
              const box = text.getBBox();
              return box.x < -1 || box.x + box.width > panel.viewBox.baseVal.width + 1;
            }).map((text) => text.textContent)"""
        )
        assert outside == []


def test_text_keeps_to_the_room_that_was_measured(tab: Any) -> None:
    page = tab.show(drawn("stats_dashboard", sample(400), "svg"), "picture.svg")
    wide = page.evaluate(
        """() => [...document.querySelectorAll("svg > svg text.text, svg > svg text.name")]
          .filter((text) => text.getComputedTextLength() > 292).map((text) => text.textContent)"""
    )
    assert wide == []


def test_no_letter_takes_more_room_than_was_measured(tab: Any) -> None:
    letters = [letter for letter in map(chr, range(0x21, 0x2200)) if is_usual(letter) and letter.isprintable()]
    page = tab.show(drawn("stats_dashboard", sample(1), "svg"), "picture.svg")
    rooms = page.evaluate(
        """(letters) => {
          const text = document.querySelector("svg > svg text.text");
          text.removeAttribute("textLength");
          text.style.fontSize = "100px";
          return letters.map((letter) => {
            text.textContent = letter.repeat(10);
            return text.getComputedTextLength() / 1000;
          });
        }""",
        letters,
    )
    measured = zip(letters, rooms, strict=True)
    assert [(letter, room) for letter, room in measured if room > width(letter) + 0.01] == []


@pytest.mark.parametrize("screen", [360, 1280])
def test_a_tag_of_wide_letters_keeps_to_its_chip(tab: Any, screen: int) -> None:
    tags = [letter * 50 for letter in ("#", "漢", "W", "&", "+", "Ж", "~")]
    snapshot = of(*(dot(number, tags=(tag,)) for number, tag in enumerate(tags)))
    page = tab.show(drawn("stats_dashboard", snapshot, "html"), width=screen)
    spilt = page.evaluate(
        """() => [...document.querySelectorAll("section.tags text.text")].map((name) => {
          const count = name.nextElementSibling.getBoundingClientRect();
          return count.left - name.getBoundingClientRect().right;
        })"""
    )
    assert len(spilt) >= 5
    assert min(spilt) > 0


def test_search_lights_up_what_it_finds(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(50), "html"))
    page.fill("#search", "プロ")
    assert page.locator("#hits").inner_text() == "0 found"
    page.fill("#search", "INTERVIEW")
    found = page.locator("circle.hit").count()
    assert found > 0
    assert page.locator("#hits").inner_text() == f"{found} found"
    assert page.locator("circle.dim").count() == 50 - found
    page.press("#search", "Enter")
    assert "Interview" in page.locator("#card").inner_text()
    page.fill("#search", "")
    assert page.locator("circle.dim").count() == 0


def test_pointing_shows_a_card_and_escape_hides_it(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(50), "html"))
    box = page.locator("g.dot circle").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("#card").is_visible()
    assert page.locator("circle.at").count() == 1
    page.keyboard.press("Escape")
    assert page.locator("#card").is_hidden()


@pytest.mark.parametrize("form", FORMS)
def test_arrow_keys_walk_over_the_marks_and_are_read_out(tab: Any, form: str) -> None:
    page = tab.show(drawn(form, sample(50), "html"))
    for sheet in page.locator("svg.sheet[tabindex]").all():
        sheet.focus()
        page.keyboard.press("ArrowDown")
        assert page.locator("#card").is_visible()
        assert page.locator("#said").inner_text()


def test_the_legend_hides_and_shows(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(50), "html"))
    button = page.locator(".legend button").first
    shown = page.locator("g.dot circle:visible").count()
    button.click()
    assert button.get_attribute("aria-pressed") == "false"
    assert page.locator("g.dot circle:visible").count() < shown
    button.click()
    assert page.locator("g.dot circle:visible").count() == shown


def test_zooming_in_brings_names_out_and_fits_back(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(700), "html"))
    before = page.locator("svg.field").get_attribute("viewBox")
    assert page.locator("text.name").count() == 0
    for _ in range(4):
        page.locator("[data-zoom=in]").click()
    page.wait_for_function("document.querySelectorAll('text.name').length > 0")
    page.locator("svg.sheet").focus()
    page.keyboard.press("0")
    assert page.locator("svg.field").get_attribute("viewBox") == before


def test_few_memories_are_named_on_a_telephone_too(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(12), "html"), width=390)
    assert page.locator("text.name").count() >= 8
    inside = page.evaluate(
        """() => [...document.querySelectorAll("text.name")].every((name) => {
          const [own, sheet] = [name, document.querySelector("svg.sheet")].map((one) => one.getBoundingClientRect());
          return own.left >= sheet.left && own.right <= sheet.right;
        })"""
    )
    assert inside


def test_a_memory_alone_says_more_of_itself(tab: Any) -> None:
    said = "The rollback plan was not needed, but it was good"
    page = tab.show(drawn("memory_map", of(dot(1, said)), "html"))
    assert page.locator("text.name").inner_html() == said


def test_a_map_fills_a_narrow_screen_and_can_still_be_pointed_at(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(50), "html"), width=390)
    sheet = page.locator("svg.sheet").bounding_box()
    heights = [one.bounding_box()["y"] - sheet["y"] for one in page.locator("g.dot circle").all()]
    assert max(heights) - min(heights) > 0.6 * sheet["height"]
    box = page.locator("g.dot circle").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    assert page.locator("circle.at").count() == 1


def test_a_strange_script_is_not_stretched_as_one_zooms(tab: Any) -> None:
    page = tab.show(drawn("memory_map", of(*(dot(at, category="مرحبا بالعالم") for at in range(20))), "html"))
    before = page.locator("text.hill").first.bounding_box()["width"]
    page.locator("[data-zoom=in]").click()
    page.wait_for_timeout(50)
    assert abs(page.locator("text.hill").first.bounding_box()["width"] - before) < 4


def test_the_slider_replays_growth(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(50), "html"))
    page.locator(".replay input").fill("10")
    assert page.locator("circle.dim").count() == 40


def test_the_brush_chooses_a_time_by_mouse_and_keys(tab: Any) -> None:
    page = tab.show(drawn("timeline", sample(50), "html"))
    page.locator(".handle").last.focus()
    page.keyboard.press("ArrowLeft")
    dimmed = page.locator("section.timeline circle.dim").count()
    assert 0 < dimmed < 50
    box = page.locator(".brush-area").bounding_box()
    page.locator(".handle").last.press("End")
    assert page.locator("section.timeline circle.dim").count() == 0
    page.mouse.move(box["x"] + 5, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 3, box["y"] + 20)
    page.mouse.up()
    assert page.locator("section.timeline circle.dim").count() > dimmed


def test_the_heading_of_a_timeline_stays_in_sight_on_a_telephone(tab: Any) -> None:
    page = tab.show(drawn("timeline", sample(50), "html"), width=390)
    page.wait_for_function("document.querySelector('.timeline .heading').getBoundingClientRect().left >= 0")
    assert page.evaluate("document.querySelector('.timeline .scroll').scrollLeft") > 100


SPANS = {"one": 0, "an hour's": 20, "two months'": 6 * 3600, "years'": 30 * 24 * 3600}


@pytest.mark.parametrize("count", [1, 45])
@pytest.mark.parametrize("seconds", SPANS.values(), ids=SPANS)
def test_a_timeline_shows_its_latest_memories_at_once_on_a_telephone(tab: Any, seconds: int, count: int) -> None:
    dots = (dot(at, created_at=NOW - timedelta(seconds=at * seconds)) for at in range(count))
    page = tab.show(drawn("timeline", of(*dots), "html"), width=375)
    shown = page.evaluate(
        """() => {
          const places = (name) => [...document.querySelectorAll(name)].map((one) => one.getBoundingClientRect());
          const [screen] = places(".timeline .scroll");
          const dots = places(".timeline g.dot circle");
          const latest = Math.max(...dots.map((one) => one.right));
          const inside = dots.filter((one) => one.left >= screen.left && one.right <= screen.right);
          return { latest: latest - screen.left, wide: screen.width, inside: inside.length };
        }"""
    )
    assert shown["wide"] * 0.4 < shown["latest"] < shown["wide"]
    assert shown["inside"] >= min(count, 8)


def test_a_timeline_shows_memories_that_end_long_before_its_own_end(tab: Any) -> None:
    snapshot = replace(of(dot(0), dot(1)), until=NOW + timedelta(days=40))
    page = tab.show(drawn("timeline", snapshot, "html"), width=375)
    box = page.locator(".timeline g.dot circle").last.bounding_box()
    assert 0 < box["x"] < 360


def test_the_theme_can_be_turned(tab: Any) -> None:
    page = tab.show(drawn("stats_dashboard", sample(5), "html"))
    colour = "getComputedStyle(document.querySelector('.panel')).fill"
    light = page.evaluate(colour)
    page.locator("#theme").click()
    assert page.evaluate(colour) != light
    page.locator("#theme").click()
    assert page.evaluate(colour) == light


@pytest.mark.parametrize("form", FORMS)
def test_everything_that_can_be_used_has_a_name(tab: Any, form: str) -> None:
    page = tab.show(drawn(form, sample(50), "html"))
    nameless = page.evaluate(
        """() => [...document.querySelectorAll("button, input, [tabindex]")].filter((one) =>
          !(one.getAttribute("aria-label") || one.textContent.trim())).map((one) => one.outerHTML.slice(0, 80))"""
    )
    assert nameless == []
    assert page.evaluate("document.documentElement.lang") == "en"


def test_the_help_speaks_of_zooming_only_where_one_can(tab: Any) -> None:
    assert "zoom" in tab.show(drawn("memory_map", sample(5), "html")).locator("#help").inner_text()
    assert "zoom" not in tab.show(drawn("timeline", sample(5), "html")).locator("#help").inner_text()


def test_an_empty_page_is_quiet(tab: Any) -> None:
    page = tab.show(drawn("timeline", of(), "html"))
    assert page.locator("text=Nothing here yet").count() == 1
    assert page.locator("#search").count() == 0


def test_a_page_works_inside_a_sandboxed_frame(tab: Any, tmp_path: Path) -> None:
    (tmp_path / "inner.html").write_text(drawn("memory_map", sample(20), "html"), encoding="utf-8")
    page = tab.show('<iframe sandbox="allow-scripts" src="inner.html" width="900" height="700"></iframe>', "outer.html")
    frame = page.frame_locator("iframe")
    frame.locator("#search").fill("a")
    assert frame.locator("circle.hit").count() > 0


def test_five_thousand_open_and_answer(tab: Any) -> None:
    page = tab.show(drawn("memory_map", sample(5000), "html"))
    assert page.locator("g.dot circle").count() == 5000
    page.fill("#search", "tomates")
    assert page.locator("circle.hit").count() > 10
