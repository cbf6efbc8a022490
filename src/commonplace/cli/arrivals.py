"""`commonplace import`: moving in from another program."""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.cli.house import add_data_dir, folder_settings, plain, with_engine
from commonplace.settings import settings_from, variable

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
    live = sources.add_parser("live", help="Live Memory's folder, bucket or archive", description="Import from Live.")
    live.add_argument("source", metavar="SOURCE", help="a folder, s3://BUCKET/PREFIX or FILE.tar.gz; it is only read")
    for name in ("s3_endpoint", "s3_region"):
        live.add_argument(f"--{name.replace('_', '-')}", help=f"for a bucket [{variable(name)}]")
    live.set_defaults(run=_live)
    add_data_dir(live)


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


def _live(options: argparse.Namespace) -> int:
    from commonplace.bootstrap import live_files
    from commonplace.engine.bringing import bring, found_in

    given = {name: getattr(options, name) for name in ("data_dir", "s3_endpoint", "s3_region")}
    source = live_files(settings_from(given, file=options.config), options.source)
    found = asyncio.run(found_in(source))  # first, so that nothing is founded where there is nothing to bring

    async def work(engine: Engine) -> int:
        actor = (await engine.access.local_owner()).through("import.live", "import/live")
        came = await bring(engine.adoption, actor, source, found)
        print(f"spaces brought: {came.spaces}, notes: {came.notes}, other files: {came.files}, tokens: {came.tokens}")
        print(f"changed there since: {came.changed}, known already: {came.known}, left: {len(came.left)}")
        for line in came.left:
            print(plain(line))
        return 0

    return with_engine(options, work, founding=True)
