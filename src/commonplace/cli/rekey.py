"""`commonplace rekey`: encrypt, change the key, or take the encryption off."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from commonplace.cli.house import add_backup_dir, add_data_dir, folder_settings
from commonplace.domain.errors import Invalid
from commonplace.settings import new_encryption_key


def add_rekey(commands: Any) -> None:
    text = "encrypt the store and its backups, change their key, or take the encryption off"
    rekey = commands.add_parser("rekey", help=text, description=text.capitalize() + ". No server may be running.")
    rekey.add_argument(
        "--new-key-file", metavar="FILE", help="the file of the new key [or the key in COMMONPLACE_NEW_ENCRYPTION_KEY]"
    )
    rekey.add_argument("--remove", action="store_true", help="take the encryption off")
    add_data_dir(rekey)
    add_backup_dir(rekey)
    rekey.set_defaults(run=_rekey)


def _rekey(options: argparse.Namespace) -> int:
    from commonplace.bootstrap import exposures, rekey

    settings = folder_settings(options)
    done = rekey(settings, _new_key(options))
    for name, reason in done.left.items():
        print(f"commonplace: the backup {name} was left as it is: {reason}", file=sys.stderr)
    clear = [] if options.remove else exposures(settings)
    for one in clear:
        print(f"commonplace: {one.path} is in the clear, {one.what}: {one.remedy}", file=sys.stderr)
    print(f"the store and {len(done.backups)} backups are {'in the clear' if options.remove else 'encrypted'} now")
    print(_next_step(options), file=sys.stderr)
    return 1 if done.left or clear else 0


def _new_key(options: argparse.Namespace) -> str:
    from commonplace.bootstrap import key_in

    file, given = options.new_key_file, new_encryption_key()
    if sum((bool(file), bool(given), options.remove)) != 1:
        raise Invalid("rekey", "give one of COMMONPLACE_NEW_ENCRYPTION_KEY, --new-key-file FILE and --remove")
    return key_in(Path(file).expanduser(), "new-key-file") if file else given


def _next_step(options: argparse.Namespace) -> str:
    if options.remove:
        return "unset COMMONPLACE_ENCRYPTION_KEY and the like before the next start"
    if options.new_key_file:
        return f"from now on serve with --encryption-key-file {options.new_key_file}; without the key nothing opens it"
    return "from now on set COMMONPLACE_ENCRYPTION_KEY to the new key; without it nothing opens the store"
