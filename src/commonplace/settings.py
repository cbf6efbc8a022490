"""Every setting, once: a field here is an option of `serve`, an environment variable and a key of the settings file."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any, get_type_hints
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commonplace.domain.address import address
from commonplace.domain.errors import Invalid
from commonplace.settings_file import from_file

PREFIX = "COMMONPLACE_"
_BORROWED = {
    "embedder_key": "OPENAI_API_KEY",
    "core_memory_uris": "CORE_MEMORY_URIS",
    "valid_domains": "VALID_DOMAINS",
    "owner_key": "ADMIN_BOOTSTRAP_KEY",
    "s3_endpoint": "S3_ENDPOINT_URL",
    "s3_region": "S3_REGION_NAME",
    "s3_access_key": "S3_ACCESS_KEY_ID",
    "s3_secret_key": "S3_SECRET_ACCESS_KEY",
    "model": "LLMAAS_MODEL",
    "model_url": "LLMAAS_API_URL",
    "model_key": "LLMAAS_API_KEY",
    "model_tokens": "LLMAAS_MAX_TOKENS",
    "consolidation_timeout": "CONSOLIDATION_TIMEOUT",
}
"""Variables that users of other programs have set already; our own names come first."""
TRANSPORTS = ("stdio", "http", "sse")
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Addresses to listen on that no client can name, and what reaches them from this machine."""
AUTHS = ("api_key", "jwt")
TLS_VERSIONS = ("1.3", "1.2")
SHORTEST_SECRET = 32
"""Bytes: less than what a hash of HS256 has, and it could be found by trying."""
_GUARDS = ("jwt_secret", "encryption_key")
"""Secrets without which a server starts all the same, with less protection."""
ALGORITHMS = ("HS256", "RS256", "ES256")
EMBEDDERS = ("use", "openai", "ollama", "sentence-transformers", "fastembed")
_KINDS = {bool: "yes or no", int: "a whole number", float: "a number", str: "text"}
_YES = frozenset({"1", "true", "yes", "on"})
_NO = frozenset({"0", "false", "no", "off", ""})


def _setting(default: Any, help_text: str, *, metavar: str = "", secret: bool = False) -> Any:
    return field(default=default, metadata={"help": help_text, "metavar": metavar, "secret": secret})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Frozen when the process starts. Nobody else reads the environment."""

    transport: tuple[str, ...] = _setting(
        ("stdio",), "how clients connect: stdio, http, sse; several separated by commas", metavar="NAMES"
    )
    dialect: str = _setting("assoc", "the dialect served on stdio, /mcp and /sse", metavar="NAME")
    data_dir: str = _setting(
        "", "the folder of the memories (default: the platform's data folder, commonplace in it)", metavar="DIR"
    )
    host: str = _setting("127.0.0.1", "the address to listen on; others than loopback need --allowed-hosts")
    http_host: str = _setting("", "the address for streamable HTTP (default: as --host)", metavar="HOST")
    sse_host: str = _setting("", "the address for SSE (default: as --host)", metavar="HOST")
    http_port: int = _setting(8000, "the port for streamable HTTP", metavar="N")
    sse_port: int = _setting(8001, "the port for SSE", metavar="N")
    port: int = _setting(0, "the port of the one chosen transport, http or sse", metavar="N")
    public_url: str = _setting(
        "", "how clients reach this server, where that differs, e.g. https://memory.example.org", metavar="URL"
    )
    allowed_hosts: tuple[str, ...] = _setting(
        (), "Host headers to accept beside loopback, e.g. memory.example.org:8000", metavar="HOSTS"
    )
    allowed_origins: tuple[str, ...] = _setting(
        (), "Origin headers to accept beside loopback, e.g. https://example.org", metavar="ORIGINS"
    )
    cors_origins: tuple[str, ...] = _setting(
        (), "origins whose pages may call this server and read its answers, or * (default: none)", metavar="ORIGINS"
    )
    cors_methods: tuple[str, ...] = _setting(
        ("GET", "POST", "DELETE", "OPTIONS"), "the methods these pages may use", metavar="METHODS"
    )
    trusted_proxies: tuple[str, ...] = _setting(
        (), "addresses or networks of proxies whose X-Forwarded-For is believed", metavar="ADDRESSES"
    )
    tls_cert: str = _setting("", "a certificate (PEM, with its chain): HTTP and SSE become https", metavar="FILE")
    tls_key: str = _setting("", "the private key of that certificate (PEM)", metavar="FILE")
    tls_minimum: str = _setting("1.3", "the oldest TLS version to accept: 1.3 or 1.2", metavar="VERSION")
    auth: str = _setting(
        "api_key", "what opens HTTP and SSE: api_key (and JWT where one is set up) or jwt alone", metavar="KIND"
    )
    api_key_header: str = _setting("X-API-Key", "the header of keys, beside Authorization: Bearer", metavar="NAME")
    jwt_secret: str = _setting("", "the secret of JWTs signed with HS256, 32 bytes at least", secret=True)
    jwt_public_key: str = _setting("", "the public key (PEM) of JWTs signed with RS256 or ES256", metavar="FILE")
    jwt_algorithm: str = _setting(
        "HS256", "the one algorithm that JWTs may be signed with: HS256, RS256, ES256", metavar="NAME"
    )
    jwt_audience: tuple[str, ...] = _setting(
        (),
        "whom JWTs must be meant for, one of these (default: commonplace; with --authorization-servers the addresses "
        "of this server)",
        metavar="NAMES",
    )
    jwt_issuer: str = _setting("", "who must have issued JWTs (default: not looked at)", metavar="NAME")
    jwt_permissions: tuple[str, ...] = _setting(
        ("read", "write"), "the most that a JWT may allow: read, write, admin", metavar="NAMES"
    )
    authorization_servers: tuple[str, ...] = _setting(
        (), "OAuth 2.1 authorization servers that clients are pointed to", metavar="URLS"
    )
    rate_limit: int = _setting(
        6000, "requests a minute for each user; a minute's worth may come at once; 0: no limit", metavar="N"
    )
    address_rate_limit: int = _setting(60000, "the same for each address, whoever sends them", metavar="N")
    failure_rate_limit: int = _setting(60, "different wrong credentials a minute for each address", metavar="N")
    max_body_bytes: int = _setting(16_777_216, "the largest request to accept", metavar="N")
    session_timeout: float = _setting(3600.0, "seconds after which an idle session over HTTP or SSE ends", metavar="S")
    sse_heartbeat: float = _setting(30.0, "seconds between two signs of life on an SSE stream; 0: none", metavar="S")
    sse_max_connections: int = _setting(100, "SSE streams at a time", metavar="N")
    metrics_public: bool = _setting(False, "answer /metrics without a credential")
    otel_endpoint: str = _setting(
        "", "where to send OpenTelemetry traces over HTTP, e.g. http://localhost:4318 (extra: otel)", metavar="URL"
    )
    owner_key: str = _setting("", "the owner's key, instead of a generated one", secret=True)
    encryption_key: str = _setting("", "encrypts the store and its backups; nothing opens them without it", secret=True)
    encryption_key_file: str = _setting(
        "", "a file with the encryption key in its first line, instead of COMMONPLACE_ENCRYPTION_KEY", metavar="FILE"
    )
    backup_dir: str = _setting("", "the folder of the backups (default: backups in the data folder)", metavar="DIR")
    backup_daily: bool = _setting(
        True,
        "back up by itself, every day and when there is much more than in the last one: yes or no",
        metavar="yes|no",
    )
    backup_hour: int = _setting(3, "the hour from which the backup of a day is due", metavar="H")
    backup_keep_days: int = _setting(7, "days to keep the backups that were made by themselves", metavar="N")
    spaces: str = _setting(
        "",
        "where the files of spaces are: a folder, s3://BUCKET/PREFIX, or none (default: spaces in the data folder; "
        "none where the store is encrypted)",
        metavar="PLACE",
    )
    s3_endpoint: str = _setting("", "the address of an S3 service other than Amazon's", metavar="URL")
    s3_region: str = _setting("", "the region of the bucket", metavar="NAME")
    s3_access_key: str = _setting("", "the access key for the bucket", secret=True)
    s3_secret_key: str = _setting("", "the secret key for the bucket", secret=True)
    model: str = _setting("", "the model that consolidates spaces (default: the client's, else none)", metavar="NAME")
    model_url: str = _setting("", "its OpenAI-compatible endpoint, up to /v1", metavar="URL")
    model_key: str = _setting("", "the key for that endpoint", secret=True)
    model_tokens: int = _setting(0, "the longest answer to ask it for, in tokens; 0: its own limit", metavar="N")
    consolidation_timeout: float = _setting(600.0, "seconds that a consolidation may wait for a model", metavar="S")
    read_only: bool = _setting(False, "offer only tools that read; of one with several actions refuse those that write")
    tools: tuple[str, ...] = _setting((), "offer only these tools", metavar="NAMES")
    exclude_tools: tuple[str, ...] = _setting((), "offer all tools but these", metavar="NAMES")
    timezone: str = _setting(
        "", "the time zone of phrases like 'yesterday', e.g. Asia/Seoul (default: this machine's)", metavar="ZONE"
    )
    embedder: str = _setting("use", f"what turns text into vectors: {', '.join(EMBEDDERS)}", metavar="NAME")
    embedder_model: str = _setting(
        "",
        "the model of that embedder; for sentence-transformers and fastembed also a folder that holds one, "
        "for fastembed as model.onnx or onnx/model.onnx (default: the embedder's usual one)",
        metavar="NAME",
    )
    embedder_url: str = _setting("", "the base URL of an OpenAI-compatible endpoint, up to /v1", metavar="URL")
    embedder_key: str = _setting("", "the key for that endpoint (OPENAI_API_KEY serves too)", secret=True)
    embedder_dimensions: int = _setting(0, "ask the endpoint for vectors of this length, at most 2048", metavar="N")
    embedder_timeout: float = _setting(20.0, "seconds to wait for the endpoint", metavar="S")
    summariser: str = _setting(
        "sentences", "what makes summaries: sentences (a text's own, no model) or what a package adds", metavar="NAME"
    )
    ttl_short: int = _setting(3600, "greeum: seconds a short-term memory of type short lives", metavar="S")
    ttl_medium: int = _setting(86400, "greeum: the same for type medium", metavar="S")
    ttl_long: int = _setting(604800, "greeum: the same for type long", metavar="S")
    prompt_tokens: int = _setting(2000, "greeum: about how many tokens generate_prompt may add", metavar="N")
    core_memory_uris: tuple[str, ...] = _setting(
        (), "nocturne: the addresses that system://boot reads, e.g. core://agent,core://my_user", metavar="URIS"
    )
    valid_domains: tuple[str, ...] = _setting(
        ("core", "writer", "game", "notes"), "nocturne: the domains that addresses may begin with", metavar="NAMES"
    )
    boot_tokens: int = _setting(8000, "nocturne: about how many tokens system://boot may take", metavar="N")
    log_level: str = _setting("warning", "what goes to the log on stderr: debug, info, warning, error", metavar="LEVEL")

    @property
    def folder(self) -> Path:
        return Path(self.data_dir)

    @property
    def backup_folder(self) -> Path:
        return Path(self.backup_dir).expanduser().absolute() if self.backup_dir else self.folder / "backups"

    @property
    def zone(self) -> ZoneInfo:
        return ZoneInfo(self.timezone)

    def listens_on(self, transport: str) -> tuple[str, int]:
        """The address and port of http or sse."""
        host, port = (self.http_host, self.http_port) if transport == "http" else (self.sse_host, self.sse_port)
        return host or self.host, port

    def base_url(self, transport: str) -> str:
        """How a client reaches http or sse, without a path."""
        if self.public_url:
            return self.public_url.rstrip("/")
        host, port = self.listens_on(transport)
        reached = _EVERYWHERE.get(host, host)
        return f"{'https' if self.tls_cert else 'http'}://{f'[{reached}]' if ':' in reached else reached}:{port}"


def settings_from(
    given: Mapping[str, Any],
    environment: Mapping[str, str] = os.environ,
    file: str | None = None,
    usual: Mapping[str, Any] | None = None,
) -> Settings:
    """Options first, then the environment, then the file, then what is usual."""
    file = file or environment.get(f"{PREFIX}CONFIG")
    names = [f.name for f in dataclasses.fields(Settings)]
    written = from_file(Path(file).expanduser(), names, environment) if file else {}
    told = {name: value for name, value in given.items() if value is not None}
    layers: list[dict[str, Any]] = [dict(usual or {}), written, _from_environment(environment), told]
    read = _read_all({name: value for layer in _with_ports(layers) for name, value in layer.items()})
    _check_guards(read)
    read["data_dir"] = str(Path(read.get("data_dir") or _data_dir(environment)).expanduser().absolute())
    read["timezone"] = read.get("timezone") or _local_zone(environment)
    return _checked(Settings(**read))


def new_encryption_key(environment: Mapping[str, str] = os.environ) -> str:
    """The key to change to: not a setting, because only one command ever looks at it."""
    return environment.get(f"{PREFIX}NEW_ENCRYPTION_KEY", "")


def variable(name: str) -> str:
    """The environment twin of a setting."""
    return PREFIX + name.upper()


def _from_environment(environment: Mapping[str, str]) -> dict[str, str]:
    names = (f.name for f in dataclasses.fields(Settings))
    found = {name: environment[variable(name)] for name in names if variable(name) in environment}
    borrowed = {name: environment[other] for name, other in _BORROWED.items() if other in environment}
    return borrowed | found


def _with_ports(layers: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """A port without a name belongs to the one transport that has one, and yields to a later layer as that one does."""
    told = next((layer["transport"] for layer in reversed(layers) if "transport" in layer), ())
    chosen = [name for name in _read("transport", told, tuple) if name in ("http", "sse")]
    if len(chosen) > 1 and any(layer.get("port") for layer in layers):
        raise Invalid("port", "two transports need one each: use --http-port and --sse-port")
    return [{f"{name}_port": layer["port"] for name in chosen if layer.get("port")} | layer for layer in layers]


def _read_all(values: Mapping[str, Any]) -> dict[str, Any]:
    hints = get_type_hints(Settings)
    return {name: _read(name, value, hints[name]) for name, value in values.items()}


def _read(name: str, value: Any, kind: Any) -> Any:
    try:
        if kind is bool:
            return _read_switch(value)
        if kind in (int, float):
            return kind(value)
        if kind is str:
            return str(value)
        entries = value.split(",") if isinstance(value, str) else value
        return tuple(str(entry).strip() for entry in entries if str(entry).strip())
    except (ValueError, TypeError) as error:
        raise Invalid(name.replace("_", "-"), f"{value!r} is not {_KINDS.get(kind, 'a list')}") from error


def _read_switch(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in _YES | _NO:
        return str(value).lower() in _YES
    raise ValueError(value)


def _check_guards(read: Mapping[str, Any]) -> None:
    """Whoever sets a secret wants it to guard something; where it is empty by mistake, nothing else would tell."""
    for name in _GUARDS:
        if read.get(name) == "":
            raise Invalid(name.replace("_", "-"), "is set, but empty: give it a value, or leave it out")


def _checked(settings: Settings) -> Settings:
    _one_of("transport", settings.transport, TRANSPORTS)
    _one_of("log-level", (settings.log_level,), ("debug", "info", "warning", "error"))
    for name in ("http_port", "sse_port"):
        _in_range(name, getattr(settings, name), 1, 65535)
    for name in ("ttl_short", "ttl_medium", "ttl_long"):
        _in_range(name, getattr(settings, name), 60, 2_592_000)
    _check_keeping(settings)
    _check_network(settings)
    _in_range("embedder_dimensions", settings.embedder_dimensions, 0, 2048)
    _in_range("prompt_tokens", settings.prompt_tokens, 100, 1_000_000)
    _in_range("boot_tokens", settings.boot_tokens, 500, 1_000_000)
    _check_domains(settings)
    if not settings.ttl_short < settings.ttl_medium < settings.ttl_long:
        raise Invalid("ttl-short", "the three TTLs must grow: short < medium < long")
    try:
        ZoneInfo(settings.timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Invalid("timezone", f"{settings.timezone!r} is not a time zone; write it like Asia/Seoul") from error
    return settings


def _check_keeping(settings: Settings) -> None:
    _in_range("backup_hour", settings.backup_hour, 0, 23)
    _in_range("backup_keep_days", settings.backup_keep_days, 1, 36_500)
    _in_range("consolidation_timeout", settings.consolidation_timeout, 1, 86_400)
    _in_range("model_tokens", settings.model_tokens, 0, 10_000_000)
    if bool(settings.model) != bool(settings.model_url):
        raise Invalid("model", "needs --model-url, and that needs --model: which model, and where it is asked")
    if settings.encryption_key and settings.encryption_key_file:
        raise Invalid("encryption-key-file", "the key itself is set as well; choose one of the two")


def _check_network(settings: Settings) -> None:
    _one_of("auth", (settings.auth,), AUTHS)
    _one_of("tls-minimum", (settings.tls_minimum,), TLS_VERSIONS)
    _one_of("jwt-algorithm", (settings.jwt_algorithm,), ALGORITHMS)
    _one_of("jwt-permissions", settings.jwt_permissions, ("read", "write", "admin"))
    for name in ("rate_limit", "address_rate_limit", "failure_rate_limit"):
        _in_range(name, getattr(settings, name), 0, 100_000_000)
    _in_range("max_body_bytes", settings.max_body_bytes, 1000, 2**31)
    _in_range("session_timeout", settings.session_timeout, 1, 31_536_000)
    _in_range("sse_heartbeat", settings.sse_heartbeat, 0, 86_400)
    _in_range("sse_max_connections", settings.sse_max_connections, 1, 100_000)
    if not settings.api_key_header.replace("-", "a").isalnum() or not settings.api_key_header.isascii():
        raise Invalid("api-key-header", f"{settings.api_key_header!r} is not the name of a header")
    if 0 < len(settings.jwt_secret.encode()) < SHORTEST_SECRET:
        raise Invalid("jwt-secret", f"is too short to be safe: use {SHORTEST_SECRET} random bytes at least")
    for proxy in settings.trusted_proxies:
        _check_network_name(proxy)
    for url in filter(None, (settings.public_url, *settings.authorization_servers)):
        if not url.startswith(("https://", "http://")):
            raise Invalid("public-url, authorization-servers", f"{url!r} is not an address: it begins with https://")


def _check_network_name(name: str) -> None:
    try:
        ip_network(name, strict=False)
    except ValueError as error:
        raise Invalid("trusted-proxies", f"{name!r} is neither an address nor a network like 10.0.0.0/8") from error


def _check_domains(settings: Settings) -> None:
    for name in settings.valid_domains:
        if not name.replace("_", "a").replace("-", "a").isalnum() or not name[:1].isalpha():
            raise Invalid("valid-domains", f"{name!r} cannot begin an address: use letters and digits")
    for uri in settings.core_memory_uris:
        address(uri, "core-memory-uris")


def _one_of(name: str, values: tuple[str, ...], allowed: tuple[str, ...]) -> None:
    for value in values or ("",):
        if value not in allowed:
            raise Invalid(name, f"{value!r} is not one of {', '.join(allowed)}")


def _in_range(name: str, value: float, least: int, most: int) -> None:
    if not least <= value <= most:
        raise Invalid(name.replace("_", "-"), f"must be from {least} to {most}, not {value}")


def _data_dir(environment: Mapping[str, str]) -> str:
    """Where the platform wants the data of programs."""
    if os.name == "nt":
        base = environment.get("LOCALAPPDATA") or str(Path.home() / "AppData" / "Local")
    elif os.uname().sysname == "Darwin":
        base = str(Path.home() / "Library" / "Application Support")
    else:
        base = environment.get("XDG_DATA_HOME") or str(Path.home() / ".local" / "share")
    return str(Path(base) / "commonplace")


def _local_zone(environment: Mapping[str, str]) -> str:
    """This machine's time zone by name, UTC where it has none."""
    candidates = [environment.get("TZ", "").lstrip(":")]
    link = Path("/etc/localtime")
    if link.is_symlink():
        candidates.append(str(link.readlink()).partition("zoneinfo/")[2])
    for name in candidates:
        try:
            if name:
                ZoneInfo(name)
                return name
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return "UTC"
