import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import combinations, islice
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import Invalid, NotFound
from commonplace.pictures import FORMATS, KINDS, Snapshot, Tie, draw, view
from commonplace.pictures.counting import counted
from commonplace.pictures.lettering import clean
from commonplace.pictures.wording import LANGUAGES, Wording
from tests.pictures.samples import FORMS, dot, drawn, of, sample

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 50])
def test_the_same_snapshot_makes_the_same_text(form: str, count: int) -> None:
    for format in FORMATS:  # noqa: A001
        assert drawn(form, sample(count), format) == drawn(form, sample(count), format)


def test_another_process_draws_the_same() -> None:
    code = (
        "import hashlib; from tests.pictures.samples import *; from commonplace.pictures import FORMATS\n"
        "s = sample(60)\n"
        "text = ''.join(drawn(form, s, format) for form in FORMS for format in FORMATS)\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            cwd=ROOT,
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}"},
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(seen) == 1


@pytest.mark.parametrize("kind", KINDS)
def test_json_is_the_view(kind: str) -> None:
    assert json.loads(draw(kind, sample(50), "json")) == view(kind, sample(50))


@pytest.mark.parametrize("form", FORMS)
def test_every_format_has_the_same_coordinates(form: str) -> None:
    seen = json.loads(drawn(form, sample(50), "json"))
    svg, html, dots = (drawn(form, sample(50), format) for format in ("svg", "html", "graphviz"))  # noqa: A001
    circles = sorted(
        (f"{spot['x']:g}", f"{spot['y']:g}", f"{spot['r']:g}")
        for panel in seen["panels"]
        for spot in panel.get("spots", [])
    )
    for text in (svg, html):
        body = text[text.index("<svg", text.index("</style>")) :]
        drawn_circles = re.findall(r'<circle(?: class="center")? cx="([\d.]+)" cy="([\d.]+)" r="([\d.]+)"', body)
        assert sorted(drawn_circles) == circles
    for panel in seen["panels"]:
        for spot in panel.get("spots", []):
            x, y = panel.get("x", 0) + spot["x"], seen["height"] - panel.get("y", 0) - spot["y"]
            assert f'pos="{round(x, 1):g},{round(y, 1):g}"' in dots


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 50, 700])
def test_nothing_lies_outside_of_its_panel(form: str, count: int) -> None:
    seen = json.loads(drawn(form, sample(count), "json"))
    for panel in seen["panels"]:
        for spot in panel.get("spots", []):
            assert spot["r"] <= spot["x"] <= panel["width"] - spot["r"]
            assert spot["r"] <= spot["y"] <= panel["height"] - spot["r"]
        for box in panel.get("boxes", []):
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= panel["width"]
            assert box["y"] + box["height"] <= panel["height"]
        for words in panel.get("words", []):
            shift = {"middle": 0.5, "end": 1.0}.get(words.get("anchor", "start"), 0.0)
            left = words["x"] - shift * words.get("room", 0)
            assert left >= -1, words
            assert left + words.get("room", 0) <= panel["width"] + 1, words


@pytest.mark.parametrize("kind", [*KINDS, "domain_graph alone", "category_chart alone"])
def test_panels_do_not_cover_each_other(kind: str) -> None:
    some = sample(50)
    if kind.endswith(" alone"):  # as a program asks for them: figures, and not one memory
        figures = replace(counted(some), latest=(), most_used=(), most_important=())
        some = replace(some, dots=(), ties=(), census=figures)
    panels = view(kind.removesuffix(" alone"), some)["panels"]
    for at, one in enumerate(panels):
        for other in panels[at + 1 :]:
            apart = (
                one["x"] + one["width"] <= other["x"]
                or other["x"] + other["width"] <= one["x"]
                or one["y"] + one["height"] <= other["y"]
                or other["y"] + other["height"] <= one["y"]
            )
            assert apart, (one["name"], other["name"])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("language", [*LANGUAGES, "tlh"])
def test_an_empty_store_gets_a_friendly_word_in_each_language(kind: str, language: str) -> None:
    (panel,) = view(kind, of(language=language))["panels"]
    assert panel["words"][0]["text"]
    for format in FORMATS:  # noqa: A001
        assert draw(kind, of(language=language), format)


def test_all_languages_have_the_same_words() -> None:
    english = LANGUAGES["en"]
    for words in LANGUAGES.values():
        assert words.keys() == english.keys()
        for key, text in words.items():
            assert set(re.findall(r"\{\w+\}", text)) == set(re.findall(r"\{\w+\}", english[key]))
        assert len(words["weekdays"].split()) == 7


def test_what_nobody_can_draw_is_refused() -> None:
    with pytest.raises(Invalid):
        draw("pie", of(), "svg")
    with pytest.raises(Invalid):
        draw("timeline", of(), "png")
    with pytest.raises(NotFound):
        draw("memory_map", of(dot(1), center="elsewhere"), "svg")


def test_a_part_of_the_memories_says_so() -> None:
    assert "50 of 1,234 memories" in view("stats_dashboard", replace(sample(50), total=1234))["subtitle"]


def test_memories_without_vectors_lie_by_category() -> None:
    some = sample(200)
    plain = replace(some, dots=tuple(replace(dot, vector=None) for dot in some.dots))
    spots = _main(view("memory_map", plain))["spots"]
    first = [spot for spot in spots if spot.get("series") == 0]
    others = [spot for spot in spots if spot.get("series") == 1]
    x = [sum(spot["x"] for spot in group) / len(group) for group in (first, others)]
    reach = max(abs(spot["x"] - x[0]) for spot in first)
    assert abs(x[0] - x[1]) + abs(first[0]["y"] - others[0]["y"]) > reach / 2


def test_memories_with_different_vectors_are_drawn_all_the_same() -> None:
    some = sample(30)
    mixed = tuple(
        replace(dot, vector=dot.vector[: 1 + at % 3]) for at, dot in enumerate(some.dots) if dot.vector is not None
    )
    assert len(_main(view("memory_map", replace(some, dots=mixed)))["spots"]) == 30


def test_twins_do_not_cover_each_other() -> None:
    some = sample(1)
    twins = tuple(replace(some.dots[0], id=f"m{at}") for at in range(40))
    spots = _main(view("memory_map", replace(some, dots=twins)))["spots"]
    for at, one in enumerate(spots):
        for other in spots[at + 1 :]:
            assert (one["x"] - other["x"]) ** 2 + (one["y"] - other["y"]) ** 2 > (0.8 * (one["r"] + other["r"])) ** 2


def test_what_belongs_together_lies_together() -> None:
    """The ten nearest on the map are mostly of the same topic."""
    some = sample(400)
    spots = {spot["id"]: spot for spot in _main(view("memory_map", some))["spots"]}
    topic = {dot.id: dot.category for dot in some.dots if dot.category}
    right = total = 0
    for name in list(topic)[:100]:
        here = spots[name]
        order = sorted(topic, key=lambda other: _square(here, spots[other]))[1:11]
        right += sum(topic[other] == topic[name] for other in order)
        total += 10
    assert right / total > 0.8


def test_a_neighbourhood_has_rings_by_steps() -> None:
    chain = of(
        *(dot(at) for at in range(6)), ties=tuple(Tie(f"m{at}", f"m{at + 1}", "semantic", 0.9) for at in range(5))
    )
    for depth in (1, 2, 3):
        spots = _main(view("memory_map", replace(chain, center="m0", depth=depth)))["spots"]
        assert {spot["id"]: spot.get("ring", 0) for spot in spots} == {f"m{at}": at for at in range(depth + 1)}


def test_a_neighbourhood_takes_the_strongest_and_counts_the_rest() -> None:
    dots = [dot(at) for at in range(1000)]
    ties = tuple(Tie("m0", f"m{at}", "semantic", at / 1000) for at in range(1, 1000))
    seen = view("memory_map", of(*dots, ties=ties, center="m0"))
    spots = _main(seen)["spots"]
    assert len(spots) == 150
    assert {spot["id"] for spot in spots} == {"m0", *(f"m{at}" for at in range(851, 1000))}
    assert next(spot for spot in spots if spot["id"] == "m0")["more"] == 850
    assert "+850" in [words["text"] for words in _main(seen)["words"]]
    assert "150 of 1,000" in seen["subtitle"]
    assert "all 3 within 2 steps" in view("memory_map", of(*dots[:3], ties=ties[:2], center="m0"))["subtitle"]


def _tied(count: int, center: str | None = None, language: str = "en") -> Snapshot:
    """So many ties, each to every other of the memories as long as there are any left."""
    pairs = islice(combinations(range(80), 2), count)
    ties = tuple(Tie(f"m{one}", f"m{other}", "semantic", 0.5) for one, other in pairs)
    return of(*(dot(at) for at in range(80)), ties=ties, center=center, language=language)


@pytest.mark.parametrize("format", FORMATS)
def test_a_map_that_leaves_ties_out_says_so(format: str) -> None:  # noqa: A002
    said = "only 1,500 of the links are drawn"
    assert said in draw("memory_map", _tied(1501), format)
    assert "of the links" not in draw("memory_map", _tied(1500), format)


@pytest.mark.parametrize("format", FORMATS)
def test_a_neighbourhood_that_leaves_ties_out_says_so(format: str) -> None:  # noqa: A002
    """79 lead from the middle outwards, and of the rest 90 are drawn."""
    said = "only 169 of the links are drawn"
    assert said in draw("memory_map", _tied(170, center="m0"), format)
    assert "of the links" not in draw("memory_map", _tied(169, center="m0"), format)


@pytest.mark.parametrize("language", LANGUAGES)
def test_that_ties_are_left_out_is_said_in_every_language(language: str) -> None:
    words = Wording(language)
    subtitle = view("memory_map", _tied(1600, language=language))["subtitle"]
    assert subtitle.startswith(clean(f"{words.memories(80)} · {words('links_part', n=1500)} · 2026"))


def test_a_stronger_tie_is_wider() -> None:
    ties = (Tie("m0", "m1", "manual", 0.2), Tie("m0", "m2", "temporal", 0.9))
    lines = _main(view("memory_map", of(dot(0), dot(1), dot(2), ties=ties, center="m0")))["lines"]
    widths = {line["kind"]: line["width"] for line in lines}
    assert widths["temporal"] > widths["manual"]


def test_strange_numbers_do_no_harm() -> None:
    odd = [dot(0, importance=float("nan")), dot(1, importance=float("inf"), uses=-5), dot(2, importance=-3.0)]
    ties = (Tie("m0", "m1", "x", float("nan")), Tie("m0", "m0", "x", 1.0), Tie("m0", "gone", "x", 1.0))
    for form in FORMS:
        for format in FORMATS:  # noqa: A001
            assert drawn(form, of(*odd, ties=ties), format)


def test_domains_keep_their_colours() -> None:
    for present in ({"user"}, {"global", "user", "session"}, {"session", "other place"}):
        dots = [dot(at, domain=name) for at, name in enumerate(sorted(present))]
        series = {one["label"]: one["index"] for one in view("domain_graph", of(*dots))["series"]}
        assert all(
            series[name] == at for at, name in enumerate(("global", "user", "project", "session")) if name in present
        )


@pytest.mark.parametrize("kind", ["stats_dashboard", "domain_graph"])
def test_a_colour_of_the_legend_is_not_used_for_anything_else(kind: str) -> None:
    seen = view(kind, sample(50))
    names = {one["label"]: one["index"] for one in seen["series"]}
    for panel in seen["panels"]:
        for box in panel.get("boxes", []):
            assert box["series"] in (names.get(box["name"]), 8, 9), (panel["name"], box["name"])


def test_links_between_domains_are_counted() -> None:
    dots = (dot(0, domain="user"), dot(1, domain="project"), dot(2, domain="project"))
    ties = (Tie("m0", "m1", "semantic", 0.5), Tie("m2", "m0", "manual", 1.0), Tie("m1", "m2", "manual", 1.0))
    graph, between, *_ = view("domain_graph", of(*dots, ties=ties))["panels"]
    assert [(line["source"], line["target"], line["strength"]) for line in graph["lines"]] == [
        ("domain:user", "domain:project", 0.75)
    ]
    assert [(box["name"], box["value"]) for box in between["boxes"]] == [
        ("project ↔ user", "2 links"),
        ("within project", "1 links"),
    ]


def test_a_heap_of_small_categories_does_not_swallow_the_chart() -> None:
    dots = [dot(at, category=f"topic {at}") for at in range(300)]
    share, ranking, _ = view("category_chart", of(*dots))["panels"]
    rest = next(box for box in share["boxes"] if box["role"] == "rest")
    area = sum(box["width"] * box["height"] for box in share["boxes"])
    assert len(share["boxes"]) == 13
    assert rest["width"] * rest["height"] / area < 0.3
    assert "not to scale" in rest["value"]
    assert max(box["width"] for box in ranking["boxes"]) == ranking["boxes"][-1]["width"]
    assert "not to scale" in ranking["boxes"][-1]["value"]
    assert [words["text"] for words in ranking["words"]].count("//") == 1


def test_five_thousand_memories_stay_small() -> None:
    many = sample(5000)
    page = draw("memory_map", many, "html")
    assert len(page.encode()) < 1_200_000
    assert page.count("<circle cx=") == 5000
    assert len(draw("timeline", many, "html").encode()) < 1_200_000


def _main(seen: dict[str, Any]) -> dict[str, Any]:
    panel: dict[str, Any] = seen["panels"][0]
    return panel


def _square(one: dict[str, Any], other: dict[str, Any]) -> float:
    return float((one["x"] - other["x"]) ** 2 + (one["y"] - other["y"]) ** 2)
