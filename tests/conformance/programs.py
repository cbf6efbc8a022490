"""The official suite and the inspector, with the Node they need, installed beside the packages of this environment."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.targets import Target

SUITE = "@modelcontextprotocol/conformance"
INSPECTOR = "@modelcontextprotocol/inspector"
VERSIONS = {SUITE: "0.2.0-alpha.12", INSPECTOR: "2.12.0"}
NODE_VERSION = "22"
_INSTALL = ["install", "--no-audit", "--no-fund", "--no-package-lock", "--ignore-scripts", "--loglevel=error"]
_PATIENCE = 90.0
"""Seconds for one run of a program; the longest takes a fifth of it."""
_ARCHITECTURES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}


class Unavailable(Exception):
    """The programs cannot be had here, and why."""


@dataclass(frozen=True)
class Programs:
    """Where they were installed."""

    folder: Path

    def run(
        self, target: Target, package: str, arguments: Sequence[str], preload: Path | None = None, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a package's program on a server to its end, away from the home of whoever runs the tests."""
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        options = ["--import", str(preload)] if preload else []
        command = [str(self._modules / ".bin" / "node"), *options, str(self._program(package)), *arguments]
        environment = os.environ | {"HOME": str(home), "NO_COLOR": "1"} | more
        try:
            return subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=_PATIENCE, check=False
            )
        except subprocess.TimeoutExpired as error:
            raise AssertionError(f"{' '.join(arguments)}: no end; the server stood at\n{target.stacks()}") from error

    @property
    def _modules(self) -> Path:
        return self.folder / "node_modules"

    def _program(self, package: str) -> Path:
        programs: dict[str, str] = json.loads((self._modules / package / "package.json").read_text())["bin"]
        return self._modules / package / next(iter(programs.values()))


def installed() -> Programs:
    """The programs, fetched through npm where they are not there yet; Unavailable where they cannot be."""
    folder = Path(sys.prefix) / "node"
    wanted = [f"{name}@{version}" for name, version in ({_node_package(): NODE_VERSION} | VERSIONS).items()]
    stamp = folder / "installed"
    if not stamp.exists() or stamp.read_text().split() != wanted:
        folder.mkdir(exist_ok=True)
        (folder / "package.json").write_text('{"private": true}\n')
        _install(folder, wanted)
        stamp.write_text("\n".join(wanted))
    return Programs(folder)


def _node_package() -> str:
    """npm carries Node itself, so that the age of the system's own does not matter."""
    machine = platform.machine().lower()
    if sys.platform not in ("linux", "darwin") or machine not in _ARCHITECTURES:
        raise Unavailable(f"npm has no Node for {sys.platform} on {machine}")
    return f"node-{sys.platform}-{_ARCHITECTURES[machine]}"


def _install(folder: Path, wanted: Sequence[str]) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    try:
        done = subprocess.run(
            [npm, *_INSTALL, *wanted], cwd=folder, capture_output=True, text=True, timeout=300, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Unavailable("npm did not finish in five minutes") from error
    if done.returncode != 0:
        raise Unavailable(f"npm could not install {', '.join(wanted)}: {done.stderr.strip()[-400:]}")
