"""From settings to a running house: the one file that may import everything."""

from __future__ import annotations

import difflib
import logging
import sys
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from commonplace import plugins
from commonplace.dialects._dialect import Dialect
from commonplace.domain.arrival import Arrival
from commonplace.domain.backup import Rhythm
from commonplace.domain.errors import Invalid, KeyNeeded, RekeyUnfinished, StoreCorrupt
from commonplace.engine import Engine, Outside
from commonplace.models.sentences import SentenceSummariser
from commonplace.models.use import UniversalSentenceEncoder
from commonplace.ports import Clock, Embedder, Store, Summariser
from commonplace.ports.completions import Completer
from commonplace.ports.files import Files, FilesReading
from commonplace.settings import EMBEDDERS, SHORTEST_KEY, Settings
from commonplace.storage.sqlite.backup import SqliteVault
from commonplace.storage.sqlite.changeover import interrupted
from commonplace.storage.sqlite.encryption import Form, form
from commonplace.storage.sqlite.store import FILE_NAME, SqliteStore

if TYPE_CHECKING:
    from commonplace.storage.sqlite.exposure import Exposed
    from commonplace.storage.sqlite.rekeying import Rekeyed

DIALECTS = ("creo", "assoc", "greeum", "nocturne", "live")
"""Those that come with the house; packages may add others."""

_IN_A_FILE = "sqlite"
_ENDPOINTS = {
    "openai": ("https://api.openai.com/v1", "text-embedding-3-small"),
    "ollama": ("http://127.0.0.1:11434/v1", "bge-m3"),
}
"""Where each usually is, and its usual model."""


class SystemClock:
    """The time of this machine."""

    def now(self) -> datetime:
        return datetime.now(UTC)


def log_to_stderr(level: str) -> None:
    """stdout belongs to the protocol. At debug only our own loggers speak: libraries would log whole answers."""
    ours = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(
        stream=sys.stderr,
        level=max(ours, logging.INFO),
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
    )
    logging.getLogger("commonplace").setLevel(ours)


def embedder(settings: Settings) -> Embedder:
    """The chosen embedder. Nothing is loaded yet."""
    model = settings.embedder_model
    match settings.embedder:
        case "openai" | "ollama" as label:
            from commonplace.models.endpoint import EndpointEmbedder

            url, usual = _ENDPOINTS[label]
            return EndpointEmbedder(
                label=label,
                url=settings.embedder_url or url,
                model=model or usual,
                key=settings.embedder_key,
                dimensions=settings.embedder_dimensions,
                timeout=settings.embedder_timeout,
            )
        case "sentence-transformers":
            from commonplace.models.local import SentenceTransformer

            return SentenceTransformer(model or "all-MiniLM-L6-v2")
        case "fastembed":
            from commonplace.models.local import FastEmbed

            return FastEmbed(model or "sentence-transformers/paraphrase-multilingual-MiniLM-L12-v2")
        case "use":
            return UniversalSentenceEncoder()
    make = plugins.plugin(plugins.EMBEDDERS, settings.embedder)
    if make is None:
        known = ", ".join((*EMBEDDERS, *plugins.names(plugins.EMBEDDERS)))
        raise Invalid("embedder", f"{settings.embedder!r} is not one of {known}")
    made: Embedder = make(settings)
    return made


def summariser(settings: Settings) -> Summariser:
    """The chosen summariser; the built-in one takes a text's own sentences."""
    if settings.summariser == "sentences":
        return SentenceSummariser()
    make = plugins.plugin(plugins.SUMMARISERS, settings.summariser)
    if make is None:
        known = ", ".join(("sentences", *plugins.names(plugins.SUMMARISERS)))
        raise Invalid("summariser", f"{settings.summariser!r} is not one of {known}")
    made: Summariser = make(settings)
    return made


def kept(settings: Settings, fingerprint: str) -> Store:
    """The chosen store, for vectors of the embedder with this fingerprint."""
    if settings.store == _IN_A_FILE:
        key = encryption_key(settings)
        if not has_store(settings) and not latest_backup(settings):
            check_new_key("encryption-key", key)
        return _in_file(settings, fingerprint, key)
    make = plugins.plugin(plugins.STORES, settings.store)
    if make is None:
        known = ", ".join((_IN_A_FILE, *plugins.names(plugins.STORES)))
        raise Invalid("store", f"{settings.store!r} is not one of {known}")
    made: Store = make(settings, fingerprint)
    return made


def _in_file(settings: Settings, fingerprint: str, key: str) -> Store:
    """Where it cannot be opened, whoever asks is told which backup can."""
    try:
        store = SqliteStore(settings.folder, fingerprint, key)
    except (StoreCorrupt, KeyNeeded) as refusal:
        refusal.backup = vault(settings).opening(sealed=isinstance(refusal, KeyNeeded))
        raise
    mention_rekeying(settings)
    return store


def build(
    settings: Settings,
    *,
    store: Store | None = None,
    model: Embedder | None = None,
    clock: Clock | None = None,
    zone: ZoneInfo | None = None,
) -> Engine:
    """The engine for these settings; each part may be given instead."""
    model = model or embedder(settings)
    store = store or kept(settings, model.fingerprint)
    rhythm = Rhythm(settings.backup_daily, settings.backup_hour, timedelta(days=settings.backup_keep_days))
    return Engine(
        store,
        model,
        clock or SystemClock(),
        zone or settings.zone,
        summariser(settings),
        settings.owner_key,
        vault=vault(settings) if settings.store == _IN_A_FILE else None,
        rhythm=rhythm,
        outside=outside(settings),
    )


def outside(settings: Settings) -> Outside:
    """What spaces use beside the store. Nothing is written to a folder in the clear where the store is encrypted."""
    files = None
    if settings.spaces != "none" and (settings.spaces or not encryption_key(settings)):
        files = space_files(settings, settings.spaces)
    return Outside(files, completer(settings), timedelta(seconds=settings.consolidation_timeout))


def space_files(settings: Settings, location: str) -> Files:
    from commonplace.storage.files import Connection, files_at

    connection = Connection(
        endpoint=settings.s3_endpoint,
        region=settings.s3_region or "us-east-1",
        access_key=settings.s3_access_key,
        secret_key=settings.s3_secret_key,
    )
    return files_at(location, settings.folder / "spaces", connection)


def completer(settings: Settings) -> Completer | None:
    """The model that consolidates; None where none is set."""
    if not settings.model:
        return None
    from commonplace.models.completions import ChatCompletions

    return ChatCompletions(
        url=settings.model_url,
        model=settings.model,
        key=settings.model_key,
        timeout=settings.consolidation_timeout,
        max_tokens=settings.model_tokens,
    )


def encryption_key(settings: Settings) -> str:
    """The key of the store; empty for one that is not encrypted."""
    file = settings.encryption_key_file
    return settings.encryption_key or (key_in(Path(file).expanduser(), "encryption-key-file") if file else "")


def check_new_key(name: str, key: str) -> None:
    """Only of a key that nothing is encrypted with yet: what is there already must open as ever."""
    if 0 < len(key.encode("utf-8", "surrogateescape")) < SHORTEST_KEY:
        words = f"is too short to be safe: use {SHORTEST_KEY} bytes at least, like `head -c 32 /dev/urandom | base64`"
        raise Invalid(name, words)


def key_in(file: Path, option: str) -> str:
    """The first line of a file."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise Invalid(option, f"{file} cannot be read: {error}") from error
    if not lines or not lines[0]:
        raise Invalid(option, f"{file} has no key in its first line")
    return lines[0]


def vault(settings: Settings) -> SqliteVault:
    """The backups alone, for when the store cannot be opened."""
    _require_file(settings)
    return SqliteVault(settings.folder, settings.backup_folder, encryption_key(settings))


def rekey(settings: Settings, new: str) -> Rekeyed:
    from commonplace.storage.sqlite.rekeying import rekey

    _require_file(settings)
    check_new_key("rekey", new)
    return rekey(settings.folder, settings.backup_folder, encryption_key(settings), new)


def exposures(settings: Settings) -> list[Exposed]:
    """What lies in the clear beside a store that is encrypted."""
    from commonplace.storage.sqlite.exposure import exposed

    _require_file(settings)
    return exposed(settings.folder, settings.backup_folder)


def is_encrypted(settings: Settings) -> bool | None:
    """Whether the store is; None where its first bytes do not tell."""
    return {Form.PLAIN: False, Form.ENCRYPTED: True}.get(form(settings.folder / FILE_NAME))


def rekeying(settings: Settings) -> RekeyUnfinished | None:
    """A change of keys that was interrupted."""
    way = interrupted(settings.folder)
    if not way:
        return None
    return RekeyUnfinished(str(settings.folder), "some of its files may have the other one", way)


def mention_rekeying(settings: Settings) -> None:
    if found := rekeying(settings):
        logging.getLogger(__name__).warning("%s; %s", found.message, found.remedy)


def unfinished(settings: Settings) -> list[Path]:
    """Copies of the store that a process which was killed has left behind."""
    from commonplace.storage.sqlite.workshops import left_behind

    _require_file(settings)
    return left_behind(settings.folder, settings.backup_folder)


def _require_file(settings: Settings) -> None:
    if settings.store != _IN_A_FILE:
        words = (
            f"{settings.store!r} of another package keeps the memories: this is for the file of --store {_IN_A_FILE}"
        )
        raise Invalid("store", words)


def nocturne_arrivals(file: Path) -> tuple[list[Arrival], list[str]]:
    """What is to be brought, and what of the file cannot be brought as it is."""
    from commonplace.storage.foreign.nocturne import arrivals, oddities

    return arrivals(file), oddities(file)


def live_files(settings: Settings, location: str) -> FilesReading:
    """Files that another server keeps for its spaces: in a bucket, a folder, or packed into one file."""
    path = Path(location).expanduser()
    if "://" in location or path.is_dir():
        return space_files(settings, location)
    if not path.is_file():
        raise Invalid("source", f"{location} is not there: name a folder, s3://BUCKET/PREFIX or FILE.tar.gz")
    from commonplace.storage.files.archive import ArchivedFiles

    return ArchivedFiles(path)


def is_in_use(settings: Settings) -> bool:
    from commonplace.storage.sqlite.presence import is_anyone_here

    return is_anyone_here(settings.folder)


def mention_spaces(settings: Settings) -> None:
    """Whoever names a place for them wants files that others read; that anyone can is worth a word all the same."""
    if settings.spaces not in ("", "none") and encryption_key(settings):
        words = "the store is encrypted, but the files of spaces in %s are not: `--spaces none` writes none"
        logging.getLogger(__name__).warning(words, settings.spaces)


def has_store(settings: Settings) -> bool:
    """Whether something was ever kept in the folder; what other packages add takes care of itself."""
    if settings.store != _IN_A_FILE:
        return True
    path = settings.folder / FILE_NAME
    return path.exists() and path.stat().st_size > 0


def latest_backup(settings: Settings) -> str:
    """Its name, for when there is no store to ask; empty without one."""
    found = SqliteVault(settings.folder, settings.backup_folder).listed()
    return found[-1].name if found else ""


def check_backup_folder(settings: Settings) -> None:
    """A folder that somebody chose; the usual one is as writable as the store, which may also be only read."""
    if settings.backup_dir and settings.store == _IN_A_FILE:
        vault(settings).check_place()


def mention_backups(settings: Settings) -> None:
    """To begin anew in silence where a store has been would hide that it is gone."""
    if not has_store(settings) and (name := latest_backup(settings)):
        logging.getLogger(__name__).warning(
            "there is no store in %s, though there are backups of one; an empty one is begun: "
            "`commonplace restore %s --yes` puts the latest back",
            settings.folder,
            name,
        )


def dialect_named(name: str) -> Dialect:
    """Loaded when it is asked for: a server on stdio needs only one."""
    if name in DIALECTS:
        found: Dialect = getattr(import_module(f"commonplace.dialects.{name}"), name)
        return found
    added = plugins.plugin(plugins.DIALECTS, name)
    if not isinstance(added, Dialect):
        raise Invalid("dialect", f"{name!r} is not one of {', '.join(dialect_names())}")
    return added


def dialect_names() -> list[str]:
    return [*DIALECTS, *(name for name in plugins.names(plugins.DIALECTS) if name not in DIALECTS)]


def chosen_dialects(settings: Settings) -> dict[str, Dialect]:
    """Over HTTP every dialect has an address; elsewhere the chosen one is all there is."""
    names = dialect_names() if "http" in settings.transport else [settings.dialect]
    return {name: dialect_named(name) for name in names}


def check_tool_names(settings: Settings) -> None:
    """A misspelt tool in --tools would silently hide everything."""
    if not (settings.tools or settings.exclude_tools):
        return
    known = {tool for name in dialect_names() for tool in dialect_named(name).tools}
    for option, names in (("tools", settings.tools), ("exclude-tools", settings.exclude_tools)):
        for name in names:
            if name not in known:
                near = difflib.get_close_matches(name, sorted(known), 1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise Invalid(option, f"{name!r} is not a tool of any dialect{hint}")
