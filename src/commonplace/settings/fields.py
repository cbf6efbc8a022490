"""Every setting, once: a field here is an option of `serve`, an environment variable and a key of the settings file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

EMBEDDERS = ("use", "openai", "ollama", "sentence-transformers", "fastembed")
_EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104
"""Addresses to listen on that no client can name, and what reaches them from this machine."""


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
    store: str = _setting(
        "sqlite", "what keeps the memories: sqlite (a file in that folder) or what a package adds", metavar="NAME"
    )
    host: str = _setting("127.0.0.1", "the address to listen on; for other names than localhost, --allowed-hosts too")
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
    request_timeout: float = _setting(120.0, "seconds that a whole request may take to arrive", metavar="S")
    max_connections: int = _setting(450, "connections to each port at a time", metavar="N")
    max_sessions: int = _setting(2000, "sessions over HTTP at a time", metavar="N")
    session_timeout: float = _setting(3600.0, "seconds after which an idle session over HTTP or SSE ends", metavar="S")
    sse_heartbeat: float = _setting(30.0, "seconds between two signs of life on an SSE stream; 0: none", metavar="S")
    sse_max_connections: int = _setting(100, "SSE streams of each credential at a time; all: a third more", metavar="N")
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
    embedder_key: str = _setting("", "the key for that endpoint (for openai, OPENAI_API_KEY serves too)", secret=True)
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
