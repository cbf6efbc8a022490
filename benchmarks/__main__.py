"""`python -m benchmarks [PART ...]`: measure and print."""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

from benchmarks.table import Table

Part = Callable[[argparse.Namespace], list[Table]]


def _start(options: argparse.Namespace) -> list[Table]:
    from benchmarks import start

    return start.tables(options.sizes, options.rounds)


def _calls(options: argparse.Namespace) -> list[Table]:
    from benchmarks import calls

    return calls.tables(options.sizes, options.calls)


def _load(options: argparse.Namespace) -> list[Table]:
    from benchmarks import load

    return load.tables(options.clients, options.requests, options.sizes[0])


def _footprint(options: argparse.Namespace) -> list[Table]:
    from benchmarks import footprint

    return footprint.tables(options.sizes, options.calls)


def _chain(options: argparse.Namespace) -> list[Table]:
    from benchmarks import chain

    return chain.tables(options.sizes)


def _paths(options: argparse.Namespace) -> list[Table]:
    from benchmarks import paths

    return paths.tables([size for size in options.sizes if size != 10_000], options.calls)


def _sharing(options: argparse.Namespace) -> list[Table]:
    from benchmarks import sharing

    return sharing.tables(options.sizes[:1], options.calls)


def _promises(options: argparse.Namespace) -> list[Table]:
    from benchmarks import promises

    return promises.tables(options.sizes[-1], options.calls, options.requests)


def _spaces(options: argparse.Namespace) -> list[Table]:
    from benchmarks import spaces

    return spaces.tables(min(options.sizes[-1], 10_000), options.calls)


def _recall(options: argparse.Namespace) -> list[Table]:
    from benchmarks import recall_quality

    return recall_quality.tables(options.eval)


PARTS: dict[str, Part] = {
    "start": _start,
    "calls": _calls,
    "load": _load,
    "footprint": _footprint,
    "chain": _chain,
    "paths": _paths,
    "sharing": _sharing,
    "promises": _promises,
    "spaces": _spaces,
    "recall": _recall,
}


def main() -> int:
    """Run the chosen parts; the exit code does not judge, the tables do."""
    options = _options()
    _keep_to_one_core()
    began = time.perf_counter()
    print(f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores, load {os.getloadavg()}")
    tables = []
    for name in options.parts or PARTS:
        for table in PARTS[name](options):
            print(table, flush=True)
            tables.append(table)
    print(f"\n{time.perf_counter() - began:.0f} s in all")
    if options.json:
        Path(options.json).write_text(json.dumps([t.as_json() for t in tables], ensure_ascii=False, indent=1))
    return 0


def _keep_to_one_core() -> None:
    """Only this process: the servers it starts choose for themselves, as they do for users."""
    chosen = os.environ.get("OPENBLAS_NUM_THREADS")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    import numpy  # noqa: F401, it looks there when it is imported, and never again

    if chosen is None:
        del os.environ["OPENBLAS_NUM_THREADS"]
    else:
        os.environ["OPENBLAS_NUM_THREADS"] = chosen


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure the program as it is used.")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--full", action="store_true", help="more of everything: steadier figures, about 20 minutes")
    parser.add_argument("--sizes", type=_numbers, default=[1000, 10_000, 100_000], help="memories in the store")
    parser.add_argument("--clients", type=_numbers, default=[16, 64], help="clients at the same time")
    parser.add_argument("--rounds", type=int, help="starts of the process")
    parser.add_argument("--calls", type=int, help="calls of each tool at each size")
    parser.add_argument("--requests", type=int, help="requests of all clients together")
    parser.add_argument("--eval", type=Path, default=Path("../shared/eval"), help="the folder of the recall sets")
    parser.add_argument("--json", metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    if unknown := set(options.parts) - set(PARTS):
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    usual = {"rounds": (6, 26), "calls": (150, 1000), "requests": (640, 6400)}
    for name, (short, long) in usual.items():
        if getattr(options, name) is None:
            setattr(options, name, long if options.full else short)
    return options


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


if __name__ == "__main__":
    sys.exit(main())
