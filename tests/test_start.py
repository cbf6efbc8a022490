import json
import subprocess
import sys
from pathlib import Path

import pytest

from commonplace.bootstrap import DIALECTS
from tests.serving import PROGRAM, environment

LATER = frozenset(
    {
        "commonplace.domain.timephrase",
        "commonplace.language.keywords",
        "commonplace.language.korean",
        "commonplace.language.tags",
        "commonplace.pictures",
        "numpy",
        "tomllib",
    }
)
"""What takes long to load, and what nobody who only says hello has asked for."""
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_the_handshake_waits_for_nothing_that_only_a_call_needs(dialect: str, folder: Path) -> None:
    asked = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": GREETING})
    started = subprocess.run(
        [sys.executable, "-X", "importtime", PROGRAM, "serve", "--dialect", dialect, "--data-dir", str(folder)],
        input=asked + "\n",
        capture_output=True,
        text=True,
        env=environment(COMMONPLACE_BACKUP_DAILY="no"),
        timeout=60,
    )
    assert json.loads(started.stdout)["result"]["serverInfo"]["name"]
    loaded = {line.rpartition("|")[2].strip() for line in started.stderr.splitlines() if line.startswith("import time")}
    assert "commonplace.dialects" in loaded
    assert sorted(LATER & loaded) == []
