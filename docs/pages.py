"""Writes the reference pages from the code: `make docs`. A test fails when one of them is stale."""

import contextlib
import io
import json
from pathlib import Path
from typing import Any

from commonplace.bootstrap import DIALECTS, dialect_named
from commonplace.cli import main
from commonplace.dialects._dialect import Dialect, Tool

FOLDER = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """Every generated page by file name."""
    return {"serve.md": serve_page()} | {f"{name}.md": dialect_page(dialect_named(name)) for name in DIALECTS}


def serve_page() -> str:
    return (
        "# commonplace serve\n\nMade from `commonplace serve --help` by `make docs`.\n\n```\n"
        + help_text("serve").rstrip()
        + "\n```\n\nA settings file has the same names, as TOML or JSON:\n\n```toml\n"
        'transport = ["http", "sse"]\nhttp_port = 8000\ntimezone = "Asia/Seoul"\n```\n'
    )


def help_text(*command: str) -> str:
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), contextlib.suppress(SystemExit):
        main([*command, "--help"])
    return shown.getvalue()


def dialect_page(dialect: Dialect) -> str:
    head = f"# {dialect.name}\n\nMade from the code by `make docs`.\n\n> {_quoted(dialect.instructions)}\n"
    tools = "\n".join(tool_section(tool) for tool in dialect.tools.values())
    rows = "\n".join(
        f"| `{r.uri}` | {', '.join(f'`{a}`' for a in r.aliases)} | {r.description} |" for r in dialect.resources
    )
    return f"{head}\n## Tools\n\n{tools}\n## Resources\n\n| address | also | what it is |\n|---|---|---|\n{rows}\n"


def tool_section(tool: Tool) -> str:
    schema = tool.input_schema
    required = schema.get("required", [])
    rows = "\n".join(_row(name, entry, name in required) for name, entry in schema.get("properties", {}).items())
    table = f"\n| parameter | type | default | |\n|---|---|---|---|\n{rows}\n" if rows else "\nNo parameters.\n"
    return f"### {tool.name}\n\n{tool.description} *({tool.act.value})*\n{table}"


def _row(name: str, entry: dict[str, Any], required: bool) -> str:
    default = "required" if required else _default(entry)
    return f"| `{name}` | {_type(entry)} | {default} | {entry.get('description', '')} |"


def _type(entry: dict[str, Any]) -> str:
    if "enum" in entry:
        return ", ".join(f"`{value}`" for value in entry["enum"])
    kinds = [one for one in entry.get("anyOf", [entry]) if one.get("type") != "null"]
    return " or ".join(f"{one.get('type', '')}{_bounds(entry | one)}" for one in kinds)


def _bounds(entry: dict[str, Any]) -> str:
    least, most = entry.get("minimum"), entry.get("maximum")
    if least is not None:
        return f", {least} and more" if most is None else f", {least} to {most}"
    units = {"maximum": "", "maxItems": "", "maxLength": " characters"}
    return "".join(f", at most {entry[name]:,}{unit}" for name, unit in units.items() if name in entry)


def _default(entry: dict[str, Any]) -> str:
    return f"`{json.dumps(entry['default'], ensure_ascii=False)}`" if entry.get("default") is not None else ""


def _quoted(text: str) -> str:
    return text.replace("\n", "\n> ")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text, encoding="utf-8")
