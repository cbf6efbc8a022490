"""The settings file with chapters, and what it takes from the environment."""

import json
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import Invalid
from commonplace.settings import Settings, settings_from

CHAPTERS: dict[str, Any] = {
    "transports": {
        "stdio": {"enabled": True},
        "http": {
            "enabled": True,
            "port": 8010,
            "host": "localhost",
            "cors": {"allowed_origins": ["http://localhost:3000"], "allowed_methods": ["GET", "POST", "OPTIONS"]},
        },
        "sse": {"enabled": True, "port": 8011, "host": "127.0.0.1", "max_connections": 7, "heartbeat_interval": 3},
    },
    "authentication": {
        "stdio": {"type": "none"},
        "http": {"type": "jwt", "header": "X-Key", "jwt_secret": "${JWT_SECRET}"},
        "sse": {"type": "session", "timeout": 60},
    },
}
SECRET = "s" * 32


def read(folder: Path, content: Any, given: Any = None, **environment: str) -> Settings:
    file = folder / "settings.json"
    file.write_text(json.dumps(content))
    return settings_from(given or {}, {"HOME": "/home/x", **environment}, str(file))


def changed(path: str, value: Any) -> dict[str, Any]:
    """The chapters with one key changed or added."""
    content: dict[str, Any] = json.loads(json.dumps(CHAPTERS))
    *way, last = path.split(".")
    place = content
    for name in way:
        place = place[name]
    place[last] = value
    return content


def test_every_key_of_the_chapters_has_its_setting(tmp_path: Path) -> None:
    settings = read(tmp_path, CHAPTERS, JWT_SECRET=SECRET)
    assert settings.transport == ("stdio", "http", "sse")
    assert settings.listens_on("http") == ("localhost", 8010)
    assert settings.listens_on("sse") == ("127.0.0.1", 8011)
    assert settings.cors_origins == ("http://localhost:3000",)
    assert settings.cors_methods == ("GET", "POST", "OPTIONS")
    assert (settings.sse_max_connections, settings.sse_heartbeat, settings.session_timeout) == (7, 3.0, 60.0)
    assert (settings.auth, settings.api_key_header, settings.jwt_secret) == ("jwt", "X-Key", SECRET)


def test_a_transport_that_is_off_or_not_named_is_not_served(tmp_path: Path) -> None:
    assert read(tmp_path, changed("transports.sse.enabled", False), JWT_SECRET=SECRET).transport == ("stdio", "http")
    assert read(tmp_path, {"transports": {"http": {}}}).transport == ("http",)
    with pytest.raises(Invalid, match="transport"):
        read(tmp_path, {"transports": {"http": {"enabled": False}}})


def test_options_and_environment_go_before_the_chapters(tmp_path: Path) -> None:
    settings = read(tmp_path, CHAPTERS, {"transport": "http"}, JWT_SECRET=SECRET, COMMONPLACE_HTTP_PORT="9")
    assert (settings.transport, settings.http_port) == (("http",), 9)


def test_chapters_and_keys_of_ours_stand_side_by_side(tmp_path: Path) -> None:
    assert read(tmp_path, {**CHAPTERS, "read-only": True}, JWT_SECRET=SECRET).read_only
    with pytest.raises(Invalid, match="'http_port' twice"):
        read(tmp_path, {**CHAPTERS, "http_port": 1}, JWT_SECRET=SECRET)


def test_a_variable_is_taken_from_the_environment_in_any_string(tmp_path: Path) -> None:
    content = {"allowed_hosts": ["${NAME}.example.org", "plain $5 ${}"], "owner_key": "a${NAME}b"}
    settings = read(tmp_path, content, NAME="memory")
    assert settings.allowed_hosts == ("memory.example.org", "plain $5 ${}")
    assert settings.owner_key == "amemoryb"


def test_a_variable_that_is_not_set_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="JWT_SECRET, which is not set"):
        read(tmp_path, CHAPTERS)


def test_a_variable_that_is_empty_is_named(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="JWT_SECRET, which is empty"):
        read(tmp_path, CHAPTERS, JWT_SECRET="")


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("transports.http.prot", "transports.http.port"),
        ("transports.http.cors.allowed_origin", "transports.http.cors.allowed_origins"),
        ("transports.sse.max_conections", "transports.sse.max_connections"),
        ("authentication.http.jwt_secrets", "authentication.http.jwt_secret"),
        ("transport_", "transport"),
    ],
)
def test_an_unknown_key_is_refused_with_the_nearest_name(tmp_path: Path, path: str, near: str) -> None:
    with pytest.raises(Invalid, match=f"unknown setting '{path}'; did you mean '{near}"):
        read(tmp_path, changed(path, 1), JWT_SECRET=SECRET)


@pytest.mark.parametrize("chapter", ["transports", "authentication"])
@pytest.mark.parametrize("entry", [{}, {"enabled": True}, True])
def test_an_unknown_transport_is_named_with_those_there_are(tmp_path: Path, chapter: str, entry: Any) -> None:
    with pytest.raises(Invalid, match=f"{chapter}.ftp: 'ftp' is not one of stdio, http, sse"):
        read(tmp_path, {chapter: {"ftp": entry}})


@pytest.mark.parametrize("entry", [{}, {"http": {"enabled": False}}])
def test_a_chapter_that_enables_no_transport_is_told_which_there_are(tmp_path: Path, entry: Any) -> None:
    with pytest.raises(Invalid, match="transports enables none of stdio, http, sse"):
        read(tmp_path, {"transports": entry})


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("authentication.http.type", "none"),
        ("authentication.sse.type", "none"),
        ("authentication.stdio.type", "api_key"),
        ("transports.http.enabled", "perhaps"),
        ("transports.http.port", "high"),
        ("transports.sse.max_connections", 0),
        ("transports", []),
        ("transports.http", 3),
    ],
)
def test_a_value_that_cannot_hold_is_refused(tmp_path: Path, path: str, value: Any) -> None:
    with pytest.raises(Invalid):
        read(tmp_path, changed(path, value), JWT_SECRET=SECRET)


# The port without a name


@pytest.mark.parametrize("transport", ["http", "sse", "stdio,http"])
def test_a_port_without_a_name_is_that_of_the_one_transport(tmp_path: Path, transport: str) -> None:
    settings = read(tmp_path, {}, {"transport": transport, "port": "9000"})
    assert settings.listens_on(transport.split(",")[-1])[1] == 9000


def test_two_transports_need_a_port_each(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="--http-port and --sse-port"):
        read(tmp_path, {}, {"transport": "http,sse", "port": "9000"})


def test_an_option_for_one_transport_goes_before_a_port_of_the_environment(tmp_path: Path) -> None:
    settings = read(tmp_path, {}, {"transport": "http", "http_port": "2"}, COMMONPLACE_PORT="9000")
    assert settings.http_port == 2


# What cannot be safe


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("jwt_secret", "too short"),
        ("jwt_algorithm", "none"),
        ("jwt_permissions", "read,everything"),
        ("tls_minimum", "1.1"),
        ("trusted_proxies", "everyone"),
        ("api_key_header", "a b"),
        ("max_body_bytes", 1),
        ("public_url", "memory.example.org"),
        ("authorization_servers", "memory.example.org"),
        ("otel_endpoint", "localhost:4318"),
        ("embedder_url", "localhost"),
        ("s3_endpoint", "minio"),
        ("embedder_timeout", -1),
        ("tls_cert", "certificate.pem"),
        ("tls_key", "key.pem"),
        ("allowed_hosts", "https://memory.example.org"),
        ("allowed_hosts", "*"),
        ("allowed_origins", "example.org"),
        ("allowed_origins", "*"),
        ("cors_origins", "https://example.org/"),
        ("cors_origins", "https://*.example.org"),
    ],
)
def test_a_setting_that_cannot_be_safe_or_hold_is_refused(tmp_path: Path, name: str, value: Any) -> None:
    with pytest.raises(Invalid) as refusal:
        read(tmp_path, {name: value})
    assert name.partition("_")[0] in refusal.value.field


def test_http_and_sse_cannot_share_a_port(tmp_path: Path) -> None:
    same = {"transport": ["http", "sse"], "http_port": 9000, "sse_port": 9000}
    for more in ({}, {"sse_host": "0.0.0.0"}):
        with pytest.raises(Invalid, match="sse-port: 9000 is the port of http as well"):
            read(tmp_path, same | more)
    assert read(tmp_path, same | {"sse_host": "192.0.2.1"}).sse_port == 9000
    assert read(tmp_path, same | {"transport": ["http"]}).sse_port == 9000


def test_names_that_a_header_can_have_are_taken(tmp_path: Path) -> None:
    origins = ["https://example.org", "http://localhost:*", "vscode-webview://abc", "null"]
    settings = read(tmp_path, {"allowed_hosts": ["a.org", "a.org:8000", "[::1]:*"], "allowed_origins": origins})
    assert settings.allowed_origins == tuple(origins)
    assert read(tmp_path, {"cors_origins": ["*"]}).cors_origins == ("*",)


# What is written as something else than it is


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("http_port", "8000", "must be a whole number, not the text '8000'"),
        ("http_port", True, "must be a whole number, not true"),
        ("http_port", 1.5, "must be a whole number, not the number 1.5"),
        ("http_port", None, "must be a whole number, not null; leave it out for what is usual"),
        ("session_timeout", "60", "must be a number, not the text '60'"),
        ("session_timeout", False, "must be a number, not false"),
        ("read_only", "yes", "must be true or false, not the text 'yes'"),
        ("read_only", 1, "must be true or false, not the number 1"),
        ("tls_minimum", 1.3, "must be text in quotes, not the number 1.3"),
        ("backup_dir", ["a"], "must be text in quotes, not a list"),
        ("tools", [1], "must be a list of texts, not a list of something else"),
        ("tools", {"store": True}, "must be a list of texts, not a table"),
        ("transports.http.port", "8000", "must be a whole number, not the text '8000'"),
        ("transports.http.port", {}, "must be a whole number, not a table"),
        ("transports.http.cors", "*", "must be a table of further settings"),
        ("authentication.sse.timeout", "3600", "must be a number, not the text '3600'"),
    ],
)
def test_a_value_of_another_kind_is_named_with_what_is_expected(
    tmp_path: Path, key: str, value: Any, words: str
) -> None:
    with pytest.raises(Invalid) as refusal:
        read(tmp_path, changed(key, value), JWT_SECRET=SECRET)
    assert f"settings.json: {key} {words}" in refusal.value.message


def test_a_secret_of_another_kind_is_not_shown(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match=r"encryption_key must be text in quotes, not a number$"):
        read(tmp_path, {"encryption_key": 12345678})


def test_what_the_environment_fills_in_may_stand_for_any_kind(tmp_path: Path) -> None:
    content = {"http_port": "${PORT}", "read_only": "${SWITCH}", "tools": "${TOOLS}", "embedder_timeout": "${S}"}
    settings = read(tmp_path, content, PORT="9000", SWITCH="yes", TOOLS="store,search", S="1.5")
    assert (settings.http_port, settings.read_only, settings.embedder_timeout) == (9000, True, 1.5)
    assert settings.tools == ("store", "search")
    chosen = {"transports": {"stdio": {}, "http": {"enabled": "${SWITCH}", "port": "${PORT}"}}}
    assert read(tmp_path, chosen, PORT="9000", SWITCH="true").transport == ("stdio", "http")
    with pytest.raises(Invalid, match="is not a whole number"):
        read(tmp_path, content, PORT="high", SWITCH="yes", TOOLS="store", S="1")


def test_a_file_that_is_no_object_is_refused_in_words(tmp_path: Path) -> None:
    with pytest.raises(Invalid, match="must be one object"):
        read(tmp_path, [1, 2])
