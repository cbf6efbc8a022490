"""Draws the pictures of the docs: `python -m docs.pictures`. They are SVG, light and dark in one."""

from dataclasses import replace
from pathlib import Path

from docs.samples import sample

from commonplace.pictures import draw

FOLDER = Path(__file__).parent / "pictures"


def pictures() -> dict[str, str]:
    """Every picture by file name."""
    some, many = sample(240), sample(900)
    hub = max(some.dots, key=lambda dot: sum(dot.id in (tie.source, tie.target) for tie in some.ties))
    return {
        "memory_map.svg": draw("memory_map", replace(many, title="Memory map"), "svg"),
        "neighbourhood.svg": draw("memory_map", replace(some, title="Neighbourhood", center=hub.id), "svg"),
        "stats_dashboard.svg": draw("stats_dashboard", replace(some, title="Statistics"), "svg"),
        "domain_graph.svg": draw("domain_graph", replace(some, title="Domains"), "svg"),
        "timeline.svg": draw("timeline", replace(some, title="Timeline"), "svg"),
        "category_chart.svg": draw("category_chart", replace(some, title="カテゴリ", language="ja"), "svg"),
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pictures().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
