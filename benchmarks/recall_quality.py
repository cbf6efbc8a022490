"""How well the real tools find again, on a folder of sets: talks (locomo) and passages in several languages (multi).

One store a talk or set, filled with add_memory and asked with query_memory over stdio. Recall@k is the mean share of
a question's evidence among the first k answers, any@k the share of questions with at least one piece among them. The
turns of a talk are stored one after the other, because what stands beside a memory in time tells about it.
"""

import json
import os
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp.client.client import Client
from tests.serving import stdio

from benchmarks.table import Goal, Table

DEPTH = 10
_AT_ONCE = 16

Row = dict[str, Any]
Act = Callable[[], Awaitable[None]]


@dataclass(frozen=True)
class Question:
    text: str
    evidence: frozenset[str]
    kind: str


@dataclass(frozen=True)
class Collection:
    """Texts by name, and what is asked about them."""

    name: str
    texts: Mapping[str, str]
    questions: Sequence[Question]
    in_order: bool = False


@dataclass(frozen=True)
class Asked:
    """A question and the names of the texts that were answered, best first."""

    question: Question
    found: Sequence[str]
    error: str = ""

    def share(self, depth: int) -> float:
        return len(self.question.evidence & set(self.found[:depth])) / len(self.question.evidence)


GOALS = {
    ("locomo", 5): 66.0,
    ("locomo", 10): 76.0,
    ("en", 5): 98.0,
    ("fr", 5): 89.0,
    ("ja", 5): 98.0,
    ("zh", 5): 100.0,
    ("short", 5): 100.0,
    ("x-en2zh", 5): 91.0,
    ("x-zh2en", 5): 91.0,
}


def tables(folder: Path) -> list[Table]:
    columns = ("set", "questions", "R@5", "R@10", "any@5", "any@10", "errors")
    table = Table("Recall through add_memory and query_memory, %", columns)
    if not folder.is_dir():
        table.notes.append(f"skipped: there is no folder {folder} (--eval FOLDER)")
        return [table]
    answers: dict[str, list[Asked]] = defaultdict(list)
    for collection, every in anyio.run(_all_measured, [*_talks(folder / "locomo"), *_passages(folder / "multi")]):
        for asked in every:
            for name in _rows_of(collection, asked.question):
                answers[name].append(asked)
    for name in sorted(answers, key=lambda name: (name.startswith("locomo "), name)):
        table.add(name, len(answers[name]), *_figures(answers[name]))
    for (name, depth), least in GOALS.items():
        if name in answers:
            table.goals.append(Goal(f"{name} R@{depth}", _recall(answers[name], depth), least, at_least=True))
    return [table]


def _rows_of(collection: Collection, question: Question) -> Sequence[str]:
    if collection.in_order:
        return ("locomo", f"locomo {question.kind}")
    return (question.kind,) if question.kind == "short" else (collection.name,)


def _figures(asked: Sequence[Asked]) -> list[float]:
    shares = [_recall(asked, depth) for depth in (5, DEPTH)]
    any_of = [100 * sum(one.share(depth) > 0 for one in asked) / len(asked) for depth in (5, DEPTH)]
    return [*shares, *any_of, sum(bool(one.error) for one in asked)]


def _recall(asked: Sequence[Asked], depth: int) -> float:
    return 100 * sum(one.share(depth) for one in asked) / len(asked)


# The sets


def _talks(folder: Path) -> Iterable[Collection]:
    turns, questions = _lines(folder / "corpus.jsonl"), _lines(folder / "questions.jsonl")
    for talk in dict.fromkeys(turn["conv"] for turn in turns):
        texts = {turn["id"]: _turn(turn) for turn in turns if turn["conv"] == talk}
        asked = [
            Question(one["question"], frozenset(one["evidence"]), one["category"])
            for one in questions
            if one["conv"] == talk
        ]
        yield Collection(talk, texts, asked, in_order=True)


def _turn(turn: Row) -> str:
    """With its date, and with its speaker once."""
    said = turn["content"].removeprefix(f"{turn['speaker']}: ")
    return f"[{turn['date']}] {turn['speaker']}: {said}"


def _passages(folder: Path) -> Iterable[Collection]:
    for path in sorted(folder.glob("*.passages.jsonl")):
        name = path.name.removesuffix(".passages.jsonl")
        asked = []
        for kind in ("questions", "short"):
            for one in _lines(folder / f"{name}.{kind}.jsonl"):
                gold = [one["gold"]] if isinstance(one["gold"], str) else one["gold"]
                asked.append(Question(one["question"], frozenset(gold), kind))
        yield Collection(name, {one["id"]: one["text"] for one in _lines(path)}, asked)


def _lines(path: Path) -> list[Row]:
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


# The measurement


async def _all_measured(collections: Sequence[Collection]) -> list[tuple[Collection, list[Asked]]]:
    """A server a set, as many at a time as there are cores."""
    measured: list[tuple[Collection, list[Asked]]] = []

    async def measure(collection: Collection) -> None:
        measured.append((collection, await _measured(collection)))

    await _side_by_side([partial(measure, collection) for collection in collections], os.cpu_count() or 1)
    return measured


async def _measured(collection: Collection) -> list[Asked]:
    with TemporaryDirectory() as folder:
        async with stdio(Path(folder)) as client:
            named = await _stored(client, collection)
            asked: list[Asked] = []
            await _side_by_side([partial(_ask, client, question, named, asked) for question in collection.questions])
    return asked


async def _stored(client: Client, collection: Collection) -> dict[str, str]:
    """Names of the texts by the id they were stored under."""
    named: dict[str, str] = {}

    async def store(name: str, text: str) -> None:
        named[(await _called(client, "add_memory", content=text))["id"]] = name

    acts = [partial(store, name, text) for name, text in collection.texts.items()]
    if collection.in_order:
        for act in acts:
            await act()
    else:
        await _side_by_side(acts)
    return named


async def _ask(client: Client, question: Question, named: Mapping[str, str], asked: list[Asked]) -> None:
    try:
        hits = await _called(client, "query_memory", query=question.text, limit=DEPTH)
    except RuntimeError as error:
        asked.append(Asked(question, (), str(error)))
    else:
        asked.append(Asked(question, [named[hit["id"]] for hit in hits["result"]]))


async def _called(client: Client, tool: str, **arguments: Any) -> Any:
    result = await client.call_tool(tool, arguments)
    if result.is_error:
        raise RuntimeError(str(result.content))
    return result.structured_content


async def _side_by_side(acts: Sequence[Act], at_once: int = _AT_ONCE) -> None:
    """All of them, a few at a time: of calls more, so that the embedder has batches to work on."""
    waiting = iter(acts)

    async def work() -> None:
        for act in waiting:
            await act()

    async with anyio.create_task_group() as tasks:
        for _ in range(at_once):
            tasks.start_soon(work)
