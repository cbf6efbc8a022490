"""The example package of the docs, installed as users would, adds what it says."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace import plugins
from commonplace.bootstrap import dialect_named, embedder, kept
from commonplace.domain.errors import Invalid
from commonplace.settings import Settings
from tests.serving import PROGRAM, environment, stdio

pytestmark = pytest.mark.anyio

EXAMPLE = Path(__file__).parents[1] / "docs" / "examples" / "plugin"


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example in a folder of its own, so that nothing of it stays behind."""
    folder = tmp_path_factory.mktemp("plugin")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(folder), str(EXAMPLE)]
    subprocess.run(install, check=True, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    return folder


async def test_a_package_adds_a_dialect_and_an_embedder(installed: Path, tmp_path: Path) -> None:
    options = ("--dialect", "tiny", "--embedder", "letters")
    async with stdio(tmp_path, *options, PYTHONPATH=str(installed)) as client:
        tools = {tool.name for tool in (await client.list_tools()).tools}
        assert tools == {"keep", "find"}
        await client.call_tool("keep", {"text": "the quick brown fox"})
        found = await client.call_tool("find", {"words": "quick fox"})
        assert found.structured_content == {"result": ["the quick brown fox"]}


async def test_a_package_adds_a_summariser(installed: Path, tmp_path: Path) -> None:
    options = ("--dialect", "assoc", "--embedder", "letters", "--summariser", "first-line")
    async with stdio(tmp_path, *options, PYTHONPATH=str(installed)) as client:
        stored = await client.call_tool("memory", {"action": "store", "content": "one\ntwo", "domain": "user"})
        memory_id = (stored.structured_content or {})["data"]["memory_id"]
        got = await client.call_tool("memory", {"action": "get", "memory_id": memory_id, "summarize": True})
        assert (got.structured_content or {})["data"]["summary"] == "one"


async def test_a_package_adds_a_store(installed: Path, tmp_path: Path) -> None:
    options = ("--dialect", "tiny", "--embedder", "letters", "--store", "forgetful")
    async with stdio(tmp_path, *options, PYTHONPATH=str(installed)) as client:
        await client.call_tool("keep", {"text": "the quick brown fox"})
        found = await client.call_tool("find", {"words": "quick fox"})
        assert found.structured_content == {"result": ["the quick brown fox"]}
        assert not (tmp_path / "commonplace.db").exists()
    async with stdio(tmp_path, *options, PYTHONPATH=str(installed)) as client:
        found = await client.call_tool("find", {"words": "quick fox"})
        assert found.structured_content == {"result": []}


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("backup", "no folder for backups"),
        ("doctor", "'forgetful' of another package keeps the memories"),
        ("rekey", "'forgetful' of another package keeps the memories"),
    ],
)
def test_what_works_on_the_file_is_refused_for_another_store(
    installed: Path, tmp_path: Path, command: str, words: str
) -> None:
    added = {"COMMONPLACE_STORE": "forgetful", "COMMONPLACE_NEW_ENCRYPTION_KEY": "k" * 32}
    told = subprocess.run(
        [PROGRAM, command, "--data-dir", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        env=environment(**added, PYTHONPATH=str(installed)),
    )
    assert told.returncode != 0
    assert words in told.stdout + told.stderr


def test_a_name_that_nobody_added_is_refused_with_those_there_are() -> None:
    with pytest.raises(Invalid, match="use, openai"):
        embedder(Settings(embedder="nonsense"))
    with pytest.raises(Invalid, match="assoc, greeum, nocturne"):
        dialect_named("nonsense")
    with pytest.raises(Invalid, match="'nonsense' is not one of sqlite"):
        kept(Settings(store="nonsense"), "x/1")


def test_without_packages_there_are_no_plugins() -> None:
    assert plugins.names(plugins.DIALECTS) == []
