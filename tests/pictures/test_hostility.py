"""Memory text is hostile: no format may take it for its own."""

import json
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from commonplace.pictures import FORMATS
from tests.pictures.samples import FORMS, HOSTILE, drawn, poisoned

TEXTS = st.lists(
    st.one_of(st.text(st.characters(exclude_categories=()), max_size=60), st.sampled_from(HOSTILE)),
    min_size=1,
    max_size=4,
)
TAGS = frozenset(
    "html head meta title style body header h1 p div input output button ul li i bdi small svg path rect circle text "
    "tspan ellipse g main section label span link script".split()
)


class Seen(HTMLParser):
    """The tags of a page, with whatever would run or load something."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.dangers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if (
                name.startswith("on")
                or name in ("src", "style", "srcdoc", "action")
                or (name == "href" and value != "data:,")
            ):
                self.dangers.append(f"{tag} {name}={value}")


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, deadline=None)
@given(texts=TEXTS)
def test_no_text_escapes_from_a_page(form: str, texts: list[str]) -> None:
    page = drawn(form, poisoned(*texts), "html")
    page.encode()
    seen = Seen()
    seen.feed(page)
    assert set(seen.tags) <= TAGS
    assert seen.tags.count("script") == 2
    assert seen.tags.count("style") == 1
    assert seen.dangers == []


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=25, deadline=None)
@given(texts=TEXTS)
def test_svg_is_always_sound_xml(form: str, texts: list[str]) -> None:
    root = ElementTree.fromstring(drawn(form, poisoned(*texts), "svg"))
    for element in root.iter():
        name = element.tag.removeprefix("{http://www.w3.org/2000/svg}")
        assert name in {"svg", "title", "desc", "style", "rect", "circle", "ellipse", "path", "g", "text", "tspan"}
        assert not any(key.startswith("on") or "href" in key or key == "style" for key in element.keys())  # noqa: SIM118


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=15, deadline=None)
@given(texts=TEXTS)
def test_json_is_always_sound(form: str, texts: list[str]) -> None:
    text = drawn(form, poisoned(*texts), "json")
    text.encode()
    json.loads(text, parse_constant=lambda name: pytest.fail(name))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("format", FORMATS)
def test_nothing_turns_the_text_around(form: str, format: str) -> None:  # noqa: A002
    made = drawn(form, poisoned(*HOSTILE), format)
    assert not set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c\x00\ufffe\uffff") & set(
        made
    )


def test_the_data_of_a_page_cannot_end_its_script() -> None:
    page = drawn("memory_map", poisoned("</script><!--<script>", "b"), "html")
    data = page.split('<script type="application/json" id="data">')[1].split("</script>")[0]
    assert "<" not in data
    assert "</script><!--<script>" in json.loads(data)["text"]
