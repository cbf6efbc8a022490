"""`commonplace import`: moving in from another program."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.cli.house import add_data_dir, folder_settings, plain, with_engine

if TYPE_CHECKING:
    from commonplace.engine import Engine


def add_import(commands: Any) -> None:
    text = "bring the memories of another program; doing it twice doubles nothing"
    parser = commands.add_parser("import", help=text, description=text.capitalize() + ".")
    parser.set_defaults(run=lambda options: parser.print_help() or 2)
    sources = parser.add_subparsers(title="sources", metavar="SOURCE")
    nocturne = sources.add_parser("nocturne", help="Nocturne Memory's SQLite file", description="Import from Nocturne.")
    nocturne.add_argument("file", metavar="FILE", help="its SQLite file; it is only read")
    nocturne.set_defaults(run=_nocturne)
    add_data_dir(nocturne)


def _nocturne(options: argparse.Namespace) -> int:
    from commonplace.bootstrap import nocturne_arrivals

    arrivals, odd = nocturne_arrivals(Path(options.file).expanduser())
    domains = sorted({path.address.domain for arrival in arrivals for path in arrival.paths})

    async def work(engine: Engine) -> int:
        actor = (await engine.access.local_owner()).through("import.nocturne", "import/nocturne")
        report = await engine.arrivals.bring(actor, "nocturne", arrivals)
        print("\n".join(map(plain, [*report.lines, *odd])))
        allowed = [domain.lower() for domain in folder_settings(options).valid_domains]
        if unknown := [domain for domain in domains if domain not in allowed]:
            print(f"to reach them, serve with VALID_DOMAINS={','.join([*allowed, *unknown])}")
        return 0

    return with_engine(options, work, founding=True)
