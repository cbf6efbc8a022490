import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from docs.pages import FOLDER, pages

from tests.serving import PROGRAM, environment

ROOT = Path(__file__).parent.parent
PROSE = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", sorted(pages()))
def test_a_generated_page_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run `make docs`"


def test_the_readme_can_be_read_in_one_sitting() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("page", PROSE, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_python_example_of_the_readme_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    folder = str(Path(PROGRAM).parent)
    answer = subprocess.run(
        [sys.executable, "-c", example],
        cwd=tmp_path,
        env=environment(PATH=folder + os.pathsep + os.environ["PATH"], COMMONPLACE_DIALECT="assoc"),
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert answer.stdout == "프로젝트 X의 데드라인이 2월 15일로 연기되었다\n", answer.stderr


def test_the_commands_of_the_readme_exist(tmp_path: Path) -> None:
    commands = re.findall(r"^commonplace (keys .+?)(?:\s+#.*)?$", README, re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["create", "list", "revoke"]
    for command in commands:
        run = subprocess.run(
            [PROGRAM, *command.split(), "--data-dir", str(tmp_path)], env=environment(), capture_output=True, timeout=60
        )
        assert run.returncode == 0, run.stderr


def test_the_options_named_in_the_readme_exist() -> None:
    known = set(re.findall(r"--[a-z-]+", pages()["serve.md"])) | {"--permissions", "--user", "--from", "--yes"}
    assert set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", README)) <= known | {"--header"}


def test_the_repository_names_no_machine_and_no_registry() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True).stdout.split()
    for name in tracked:
        path = ROOT / name
        if path.suffix in {".py", ".md", ".toml", ".txt", ".sql", ".sh", ".json"} and path.name != "test_docs.py":
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"(?<![\w.])/(root|work)/|pypi\.org|registry\.npmjs", text), name
