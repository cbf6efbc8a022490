import os
import shutil
import subprocess

import pytest

from commonplace.pictures import view
from commonplace.pictures.graphviz import quoted
from tests.pictures.samples import FORMS, HOSTILE, drawn, of, poisoned, sample

pytestmark = pytest.mark.skipif(
    shutil.which("dot") is None and os.environ.get("CI") != "true", reason="graphviz is not installed"
)

MEMORY = '<g id="memory&#45;'


def rendered(text: str) -> str:
    run = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, timeout=60)
    assert run.returncode == 0, run.stderr[-500:]
    assert run.stderr == b"", run.stderr[-500:]
    return run.stdout.decode()


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("count", [1, 50])
def test_dot_draws_every_memory(form: str, count: int) -> None:
    seen = rendered(drawn(form, sample(count), "graphviz"))
    assert seen.count(MEMORY) == drawn(form, sample(count), "graphviz").count('id="memory-')


@pytest.mark.parametrize("form", FORMS)
def test_dot_accepts_hostile_labels(form: str) -> None:
    seen = rendered(drawn(form, poisoned(*HOSTILE), "graphviz"))
    assert "<script" not in seen
    assert "evil" in seen


def test_dot_shows_a_label_as_it_was_written() -> None:
    text = r'a \N "b" <i>&amp;</i> \l'
    seen = rendered(f"digraph {{ a [label={quoted(text)}] }}")
    assert "a \\N &quot;b&quot; &lt;i&gt;&amp;amp;&lt;/i&gt; \\l" in seen


def test_dot_has_the_legend_and_sets_text_flush() -> None:
    text = drawn("memory_map", sample(50), "graphviz")
    seen = rendered(text)
    for one in view("memory_map", sample(50))["series"]:
        assert f">{one['label']} {one['count']}<" in seen
    assert "derived_from" in seen
    assert '\\l"' in text


def test_dot_draws_an_empty_store() -> None:
    assert "Nothing here yet" in rendered(drawn("timeline", of(), "graphviz"))


def test_dot_keeps_five_thousand_in_their_places() -> None:
    assert rendered(drawn("memory_map", sample(5000), "graphviz")).count(MEMORY) == 5000
