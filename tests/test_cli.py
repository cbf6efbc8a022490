import subprocess
from pathlib import Path

import pytest

from tests.serving import PROGRAM, environment, over_http, served

pytestmark = pytest.mark.anyio


def run(*arguments: str, **more: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([PROGRAM, *arguments], capture_output=True, text=True, env=environment(**more), timeout=60)


def test_a_key_is_printed_alone_on_stdout(folder: Path) -> None:
    made = run("keys", "create", "agent", "--permissions", "read,write,admin", "--data-dir", str(folder))
    assert made.returncode == 0
    assert made.stdout.startswith("cp_")
    assert len(made.stdout.split()) == 1
    listed = run("keys", "list", "--data-dir", str(folder))
    assert listed.stdout.split("\t")[:4] == ["agent", "owner", "admin,read,write", "valid"]
    assert made.stdout.strip() not in listed.stdout


async def test_a_key_made_while_the_server_runs_opens_it_and_revoking_closes_it(folder: Path) -> None:
    with served(folder) as server:
        key = run("keys", "create", "agent", "--data-dir", str(folder)).stdout.strip()
        async with over_http(server, key=key) as client:
            assert (await client.call_tool("server_status", {})).is_error is False
        assert run("keys", "revoke", "agent", "--data-dir", str(folder)).returncode == 0
        with pytest.raises(BaseException):  # noqa: B017, PT011 (the client wraps the 401 in groups of its own)
            async with over_http(server, key=key) as client:
                await client.call_tool("server_status", {})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("serve", "--transport", "pigeon"), "pigeon"),
        (("serve", "--dialect", "klingon"), "klingon"),
        (("serve", "--tools", "add_memroy"), "add_memroy"),
        (("serve", "--http-port", "many"), "many"),
        (("serve", "--config", "nowhere.toml"), "nowhere.toml"),
        (("keys", "create", "x", "--permissions", "fly"), "fly"),
        (("keys", "revoke", "nobody"), "nobody"),
        (("keys", "create", "x", "--days", "-1"), "negative"),
    ],
)
def test_a_mistake_is_explained_in_one_line_without_a_traceback(
    folder: Path, arguments: tuple[str, ...], words: str
) -> None:
    answer = run(*arguments, COMMONPLACE_DATA_DIR=str(folder))
    assert answer.returncode == 2
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr
    assert answer.stdout == ""


def test_the_chain_is_verified_from_the_command_line(folder: Path) -> None:
    answer = run("verify", "--data-dir", str(folder))
    assert (answer.returncode, answer.stdout) == (0, "0 blocks: the chain is valid\n")


def test_vacuum_leaves_a_sound_store(folder: Path) -> None:
    assert run("vacuum", "--data-dir", str(folder)).returncode == 0
    assert run("verify", "--data-dir", str(folder)).returncode == 0


def test_without_a_command_the_help_is_shown() -> None:
    answer = run()
    assert answer.returncode == 2
    assert "serve" in answer.stdout


def test_the_first_start_shows_the_owner_key_once_and_how_to_connect(folder: Path) -> None:
    with served(folder, key="") as server:
        server.process.terminate()
        assert server.process.stderr
        first = server.process.stderr.read().decode()
    assert "Owner key, shown this once: cp_" in first
    assert f"claude mcp add --transport http commonplace {server.url()}" in first
    assert '"mcpServers"' in first
    with served(folder, key="") as server:
        server.process.terminate()
        assert server.process.stderr
        second = server.process.stderr.read().decode()
    assert "cp_" not in second
    assert "keys create" in second
