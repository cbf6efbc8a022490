"""What the values of settings may be."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_network
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from commonplace.domain.address import address
from commonplace.domain.errors import Invalid
from commonplace.settings.fields import Settings

TRANSPORTS = ("stdio", "http", "sse")
AUTHS = ("api_key", "jwt")
TLS_VERSIONS = ("1.3", "1.2")
ALGORITHMS = ("HS256", "RS256", "ES256")
SHORTEST_SECRET = 32
"""Bytes: less than what a hash of HS256 has, and it could be found by trying."""
SHORTEST_KEY = 16
"""The same for a key of the encryption, which goes through many rounds first."""
_ENDPOINTS = ("model_url", "embedder_url", "s3_endpoint", "otel_endpoint")
_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104
_GUARDS = ("jwt_secret", "encryption_key")
"""Secrets without which a server starts all the same, with less protection."""


def check_guards(read: Mapping[str, Any]) -> None:
    """Whoever sets a secret wants it to guard something; where it is empty by mistake, nothing else would tell."""
    for name in _GUARDS:
        if read.get(name) == "":
            raise Invalid(name.replace("_", "-"), "is set, but empty: give it a value, or leave it out")


def checked(settings: Settings) -> Settings:
    _one_of("transport", settings.transport, TRANSPORTS)
    _one_of("log-level", (settings.log_level,), ("debug", "info", "warning", "error"))
    for name in ("http_port", "sse_port"):
        _in_range(name, getattr(settings, name), 1, 65535)
    for name in ("ttl_short", "ttl_medium", "ttl_long"):
        _in_range(name, getattr(settings, name), 60, 2_592_000)
    _check_keeping(settings)
    _check_network(settings)
    _check_access(settings)
    _in_range("embedder_timeout", settings.embedder_timeout, 0.1, 86_400)
    for name in _ENDPOINTS:
        _check_address(name, getattr(settings, name))
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
    _in_range("request_timeout", settings.request_timeout, 0.1, 86_400)
    _in_range("max_connections", settings.max_connections, 1, 1_000_000)
    _in_range("max_sessions", settings.max_sessions, 1, 1_000_000)
    _in_range("session_timeout", settings.session_timeout, 1, 31_536_000)
    _in_range("sse_heartbeat", settings.sse_heartbeat, 0, 86_400)
    _in_range("sse_max_connections", settings.sse_max_connections, 1, 100_000)
    if not settings.api_key_header.replace("-", "a").isalnum() or not settings.api_key_header.isascii():
        raise Invalid("api-key-header", f"{settings.api_key_header!r} is not the name of a header")
    if 0 < len(settings.jwt_secret.encode()) < SHORTEST_SECRET:
        raise Invalid("jwt-secret", f"is too short to be safe: use {SHORTEST_SECRET} random bytes at least")
    _check_address("public_url", settings.public_url)
    for url in settings.authorization_servers:
        _check_address("authorization_servers", url)
    _check_ports(settings)
    if bool(settings.tls_cert) != bool(settings.tls_key):
        raise Invalid("tls-cert", "a certificate and its key belong together: give --tls-cert and --tls-key")


def _check_ports(settings: Settings) -> None:
    (host, port), (other, same) = settings.listens_on("http"), settings.listens_on("sse")
    if {"http", "sse"} <= set(settings.transport) and port == same and (host == other or _EVERYWHERE & {host, other}):
        raise Invalid("sse-port", f"{port} is the port of http as well: give each its own, --http-port and --sse-port")


def _check_access(settings: Settings) -> None:
    """Names that no header can have would let nobody in, and nobody would know why."""
    for proxy in settings.trusted_proxies:
        _check_network_name(proxy)
    for host in settings.allowed_hosts:
        if "/" in host or "*" in host.removesuffix(":*"):
            raise Invalid(
                "allowed-hosts", f"{host!r} is in no Host header: write memory.example.org:8000, or :* for every port"
            )
    for name in ("allowed_origins", "cors_origins"):
        for origin in getattr(settings, name):
            _check_origin(name, origin)


def _check_origin(name: str, origin: str) -> None:
    scheme, found, host = origin.partition("://")
    if origin == "null" or (name == "cors_origins" and origin == "*"):
        return
    if not (scheme and found and host) or "/" in host or "*" in host.removesuffix(":*"):
        raise Invalid(
            name.replace("_", "-"), f"{origin!r} is in no Origin header: write https://example.org, without a path"
        )


def _check_address(name: str, url: str) -> None:
    if url and not url.startswith(("https://", "http://")):
        raise Invalid(name.replace("_", "-"), f"{url!r} is not an address: it begins with https:// or http://")


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


def _in_range(name: str, value: float, least: float, most: float) -> None:
    if not least <= value <= most:
        raise Invalid(name.replace("_", "-"), f"must be from {least} to {most}, not {value}")
