"""What may stand at the other side of stdin and stdout: pipes, files, a terminal, someone who reads late or never."""

import json
import os
import pty
import shlex
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.serving import PROGRAM, environment
from tests.transports.wire import INITIALIZE, INITIALIZED, request

PATIENCE = 60


def _command(folder: Path) -> list[str]:
    return [PROGRAM, "serve", "--dialect", "greeum", "--data-dir", str(folder)]


def _script(requests: Sequence[dict[str, Any]]) -> bytes:
    """What a script pipes in: without a line end after the last one."""
    return "\n".join(json.dumps(one) for one in (INITIALIZE, INITIALIZED, *requests)).encode()


def _stores(count: int) -> list[dict[str, Any]]:
    return [
        request("tools/call", n, name="add_memory", arguments={"content": f"記憶 {n}", "keywords": [], "tags": []})
        for n in range(count)
    ]


def _answers(out: bytes) -> dict[int | str, dict[str, Any]]:
    return {message["id"]: message for message in map(json.loads, out.splitlines())}


def _kept(out: bytes, count: int) -> bool:
    answers = _answers(out)
    return all(answers[n]["result"]["structuredContent"]["block_index"] is not None for n in range(count))


def test_what_is_piped_in_is_answered_before_the_program_ends(folder: Path) -> None:
    done = subprocess.run(
        _command(folder),
        input=_script(_stores(8)),
        capture_output=True,
        timeout=PATIENCE,
        env=environment(),
        check=True,
    )
    assert _kept(done.stdout, 8)
    assert b"Traceback" not in done.stderr


def test_files_take_the_place_of_pipes(folder: Path, tmp_path: Path) -> None:
    asked, answered = tmp_path / "asked", tmp_path / "answered"
    asked.write_bytes(_script(_stores(8)))
    with asked.open("rb") as stdin, answered.open("wb") as stdout:
        subprocess.run(_command(folder), stdin=stdin, stdout=stdout, timeout=PATIENCE, env=environment(), check=True)
    assert _kept(answered.read_bytes(), 8)


@pytest.fixture
def terminal() -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    yield ours, theirs
    os.close(ours)
    os.close(theirs)


def test_a_terminal_takes_the_place_of_a_pipe_and_stays_as_it_was(folder: Path, terminal: tuple[int, int]) -> None:
    ours, theirs = terminal
    with subprocess.Popen(_command(folder), stdin=theirs, stdout=subprocess.PIPE, env=environment()) as process:
        os.write(ours, json.dumps(INITIALIZE).encode() + b"\n")
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["id"] == "first"
        assert os.get_blocking(theirs)
        os.write(ours, b"\x04")  # the end of the input, as one types it
        assert process.wait(PATIENCE) == 0


def test_who_reads_late_gets_everything(folder: Path) -> None:
    listings = [request("tools/list", n) for n in range(200)]  # far more than a pipe holds
    pipe = subprocess.PIPE
    with subprocess.Popen(_command(folder), stdin=pipe, stdout=pipe, env=environment()) as process:
        assert process.stdin is not None
        process.stdin.write(_script(listings) + b"\n")
        process.stdin.flush()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(3)
        out, _ = process.communicate(None, PATIENCE)
        assert process.returncode == 0
    answers = _answers(out)
    assert all(len(answers[n]["result"]["tools"]) == 15 for n in range(200))


def test_who_reads_later_than_the_end_gets_everything(folder: Path) -> None:
    script = _script([request("tools/list", n) for n in range(40)])
    late = f"{shlex.join(_command(folder))} | (sleep 12; cat)"
    done = subprocess.run(
        ["/bin/sh", "-c", late], input=script, capture_output=True, env=environment(), timeout=PATIENCE
    )
    assert len(_answers(done.stdout)) == 41


def test_what_cannot_be_written_is_said(folder: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            _command(folder),
            input=_script(_stores(1)),
            stdout=full,
            stderr=subprocess.PIPE,
            env=environment(),
            timeout=PATIENCE,
        )
    assert b"stdout cannot be written to: No space left on device" in done.stderr


def test_two_requests_under_one_id_are_both_answered_before_the_end(folder: Path) -> None:
    store, ping = _stores(1)[0], request("ping", 0)
    done = subprocess.run(
        _command(folder), input=_script([store, ping]), capture_output=True, env=environment(), timeout=PATIENCE
    )
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [one["id"] for one in answers].count(0) == 2
    assert not any("error" in one for one in answers)


def test_who_stops_reading_is_no_reason_to_fail(folder: Path) -> None:
    with subprocess.Popen(
        _command(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(_script(_stores(1)) + b"\n")
        process.stdin.flush()
        process.stdout.readline()
        process.stdout.close()
        _, log = process.communicate(b"no message\n" + _script(_stores(3)), PATIENCE)
        assert process.returncode == 0
        assert b"Traceback" not in log


@pytest.mark.parametrize("closed", [0, 1, 2], ids=["stdin", "stdout", "stderr"])
def test_what_is_closed_is_never_mistaken_for_a_file_of_ours(folder: Path, closed: int) -> None:
    redirected = f'exec "$@" {closed}>&-'
    done = subprocess.run(
        ["/bin/sh", "-c", redirected, "sh", *_command(folder)],
        input=_script(_stores(2)),
        capture_output=True,
        timeout=PATIENCE,
        env=environment(),
        check=True,
    )
    assert b"Traceback" not in done.stderr
    assert bool(done.stdout) == (closed == 2), "only where someone asks and someone listens is there an answer"
    verified = subprocess.run(
        [PROGRAM, "doctor", "--data-dir", str(folder)], capture_output=True, timeout=PATIENCE, env=environment()
    )
    assert verified.returncode == 0, verified.stdout
