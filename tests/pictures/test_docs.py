from pathlib import Path
from xml.etree import ElementTree

import pytest

FOLDER = Path(__file__).parent.parent.parent / "docs" / "pictures"
NAMES = ("memory_map", "neighbourhood", "stats_dashboard", "domain_graph", "timeline", "category_chart")


@pytest.mark.parametrize("name", NAMES)
def test_each_picture_is_in_the_docs_and_small(name: str) -> None:
    path = FOLDER / f"{name}.svg"
    assert path.stat().st_size < 150_000, "run `python -m docs.pictures`"
    assert ElementTree.fromstring(path.read_text(encoding="utf-8")).tag.endswith("svg")
