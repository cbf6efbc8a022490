"""The benchmarks run. What they measure is never asserted: speed is for reading, not for failing."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

ROOT = Path(__file__).parents[2]


class Benchmarks:
    """A run in a process of its own."""

    def __init__(self, file: Path, *arguments: str) -> None:
        self._file = file
        command = [sys.executable, "-m", "benchmarks", "--json", str(file), *arguments]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)

    def tables(self) -> list[dict[str, object]]:
        assert self._process.wait(120) == 0
        tables: list[dict[str, object]] = json.loads(self._file.read_text())
        return tables


@pytest.fixture
def recall_sets(tmp_path: Path) -> Path:
    """One passage, one question, one talk of one turn."""
    talk = {"conv": "c", "id": "1", "date": "8 May, 2023", "speaker": "Ann", "content": "Ann: I planted a fig tree."}
    asked = {"conv": "c", "question": "What did Ann plant?", "category": "one", "evidence": ["1"]}
    lines = {
        "locomo/corpus.jsonl": talk,
        "locomo/questions.jsonl": asked,
        "multi/en.passages.jsonl": {"id": "p", "text": "The museum opens at nine."},
        "multi/en.questions.jsonl": {"question": "When does the museum open?", "gold": "p"},
    }
    for name, line in lines.items():
        path = tmp_path / "sets" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(line) + "\n")
    return tmp_path / "sets"


def test_every_part_measures_something(tmp_path: Path, recall_sets: Path) -> None:
    # Two runs side by side, because most of their time is the starting of servers; of two sizes, to share no folder.
    few = ("--rounds", "1", "--calls", "5", "--clients", "2", "--requests", "10", "--eval", str(recall_sets))
    runs = (
        Benchmarks(tmp_path / "a.json", "calls", "load", "recall", "--sizes", "200", *few),
        Benchmarks(tmp_path / "b.json", "start", "footprint", "chain", "--sizes", "100", *few),
    )
    tables = [table for run in runs for table in run.tables()]
    assert len(tables) == 9
    assert all(table["rows"] for table in tables)


def test_without_the_sets_recall_says_that_it_was_skipped(tmp_path: Path) -> None:
    (table,) = Benchmarks(tmp_path / "a.json", "recall", "--eval", str(tmp_path / "nowhere")).tables()
    assert table["rows"] == []
    assert "skipped" in str(table["notes"])
