import contextlib
import os
import socket
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
    assert f"a new store was made in {folder}" in made.stderr
    listed = run("keys", "list", "--data-dir", str(folder))
    header, row = listed.stdout.splitlines()
    assert header.split("\t")[:4] == ["NAME", "USER", "PERMISSIONS", "STATE"]
    assert row.split("\t")[:4] == ["agent", "owner", "admin,read,write", "valid"]
    assert row.split("\t")[5] == "never"
    assert made.stdout.strip() not in listed.stdout
    assert run("keys", "create", "second", "--data-dir", str(folder)).stderr == ""


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
        (("serve", "--tools", "add_memroy"), "'add_memroy' is not a tool of any dialect; did you mean 'add_memory'?"),
        (("serve", "--http-port", "many"), "many"),
        (("serve", "--config", "nowhere.toml"), "nowhere.toml is not there, or is no file: --config"),
        (("import", "live", "nowhere"), "nowhere is not there: name a folder, s3://"),
        (("keys", "create", "x", "--permissions", "fly"), "fly"),
        (("keys", "revoke", "nobody"), "no store"),
        (("keys", "create", "x", "--days", "0"), "from 1"),
        (("keys", "create", "two\nlines"), "printable"),
        (("verify",), "no store"),
        (("vacuum",), "no store"),
        (("keys", "list"), "no store"),
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


def test_a_slip_in_the_name_of_a_variable_is_told_once_at_the_start(folder: Path) -> None:
    more = {"COMMONPLACE_HTP_PORT": "81", "COMMONPLACE_DATA_DIR": str(folder)}
    command = [PROGRAM, "serve"]
    told = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, env=environment(**more), timeout=60
    ).stderr
    assert told.count("COMMONPLACE_HTP_PORT is no setting; did you mean COMMONPLACE_HTTP_PORT?") == 1
    assert told.count("is no setting") == 1


def test_the_chain_is_verified_from_the_command_line(folder: Path) -> None:
    run("keys", "create", "first", "--data-dir", str(folder))
    answer = run("verify", "--data-dir", str(folder))
    assert (answer.returncode, answer.stdout) == (0, "0 blocks: the chain is valid\n")


def test_a_damaged_file_is_not_called_valid(folder: Path) -> None:
    run("keys", "create", "first", "--data-dir", str(folder))
    file = folder / "commonplace.db"
    data = bytearray(file.read_bytes())
    data[4096 * 5 : 4096 * 7] = b"\xaa" * 8192
    file.write_bytes(data)
    answer = run("verify", "--data-dir", str(folder))
    assert answer.returncode != 0
    assert "Traceback" not in answer.stderr
    assert "damaged" in answer.stdout or "malformed" in answer.stderr


def test_a_port_that_is_taken_is_told_in_one_line(folder: Path) -> None:
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = str(taken.getsockname()[1])
        answer = run("serve", "--transport", "http", "--http-port", port, "--data-dir", str(folder))
    assert answer.returncode == 2
    assert "--http-port" in answer.stderr
    assert "Traceback" not in answer.stderr


def test_a_folder_that_is_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    answer = run("keys", "create", "x", "--data-dir", str(tmp_path / "file"))
    assert answer.returncode == 2
    assert "is a file" in answer.stderr


def test_vacuum_leaves_a_sound_store(folder: Path) -> None:
    run("keys", "create", "first", "--data-dir", str(folder))
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


@pytest.mark.parametrize("unread", ["stdout", "stderr"])
@pytest.mark.parametrize(
    "command", ["--help", "", "serve --help", "nonsense", "keys list", "verify", "history session s"]
)
def test_a_command_that_nobody_reads_any_more_ends_quietly(folder: Path, command: str, unread: str) -> None:
    assert run("keys", "create", "agent", COMMONPLACE_DATA_DIR=str(folder)).returncode == 0
    reading, writing = os.pipe()
    os.close(reading)
    out, err = (writing, subprocess.PIPE) if unread == "stdout" else (subprocess.PIPE, writing)
    environ = environment(COMMONPLACE_DATA_DIR=str(folder))
    ended = subprocess.run([PROGRAM, *command.split()], stdout=out, stderr=err, text=True, env=environ, timeout=60)
    os.close(writing)
    assert "Error" not in (ended.stdout or "") + (ended.stderr or "")
    assert "Traceback" not in (ended.stdout or "") + (ended.stderr or "")
    if command in {"stdout": ("keys list", "verify"), "stderr": ("history session s",)}[unread]:
        assert ended.returncode == 141


async def test_what_would_be_revoked_with_a_key_is_shown_before_it_is(folder: Path) -> None:
    where = ("--data-dir", str(folder))
    stolen = run("keys", "create", "stolen", "--permissions", "read,write,admin", *where).stdout.strip()
    with served(folder, "--dialect", "live") as server:
        async with over_http(server, key=stolen) as thief:
            made = await thief.call_tool("admin_create_token", {"name": "second", "permissions": "read"})
            assert not made.is_error
    assert run("keys", "list", *where).stdout.splitlines()[-1].endswith("\tstolen")
    shown = run("keys", "revoke", "stolen", "--dry-run", *where)
    assert "would revoke second (token), made with it" in shown.stderr
    assert "revoked" not in run("keys", "list", *where).stdout
    assert "revoked second (token), made with it" in run("keys", "revoke", "stolen", *where).stderr
    assert run("keys", "list", *where).stdout.count("\trevoked\t") == 2
