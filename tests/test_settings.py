import dataclasses
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import Invalid
from commonplace.settings import Settings, misnamed, settings_from, variable


def read(given: Any = None, file: Any = None, **environment: str) -> Settings:
    return settings_from(given or {}, {"HOME": "/home/x", **environment}, str(file) if file else None)


def test_an_option_beats_the_environment_which_beats_the_file(tmp_path: Path) -> None:
    file = tmp_path / "commonplace.toml"
    file.write_text('http_port = 1\nsse-port = 1\nttl_short = 61\ntransport = ["http", "sse"]\n')
    settings = read({"http_port": "3"}, file, COMMONPLACE_HTTP_PORT="2", COMMONPLACE_SSE_PORT="2")
    assert (settings.http_port, settings.sse_port, settings.ttl_short) == (3, 2, 61)
    assert settings.transport == ("http", "sse")


def test_a_json_file_serves_too(tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text('{"dialect": "greeum", "read_only": true}')
    assert read(file=file).read_only


def test_the_file_may_be_named_by_the_environment(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("http_port = 9")
    assert read(COMMONPLACE_CONFIG=str(file)).http_port == 9


@pytest.mark.parametrize("field", dataclasses.fields(Settings), ids=lambda field: field.name)
def test_every_setting_has_an_environment_twin(field: "dataclasses.Field[object]") -> None:
    values = {"timezone": "UTC", "transport": "http", "embedder": "openai", "log_level": "info", "ttl_short": "70"}
    values |= {"backup_daily": "no", "backup_hour": "5"}
    if field.name in ("ttl_medium", "ttl_long"):
        values[field.name] = {"ttl_medium": "5000", "ttl_long": "90000"}[field.name]
    values |= {"public_url": "https://x.org", "authorization_servers": "https://x.org", "trusted_proxies": "10.0.0.0/8"}
    values |= {"tls_minimum": "1.2", "auth": "jwt", "jwt_algorithm": "ES256", "jwt_permissions": "read"}
    values |= {"jwt_secret": "s" * 32}
    values |= dict.fromkeys(("model_url", "embedder_url", "s3_endpoint", "otel_endpoint"), "https://x.org")
    values |= {"allowed_origins": "https://x.org", "cors_origins": "https://x.org"}
    usual = {bool: "true", int: "1000", float: "1.5"}.get(type(field.default), "text")
    value = values.get(field.name, usual)
    partners = {"model": {"COMMONPLACE_MODEL_URL": "https://x.org/v1"}, "model_url": {"COMMONPLACE_MODEL": "m"}}
    partners |= {"tls_cert": {"COMMONPLACE_TLS_KEY": "key.pem"}, "tls_key": {"COMMONPLACE_TLS_CERT": "cert.pem"}}
    settings = read(**{variable(field.name): value}, **partners.get(field.name, {}))
    assert getattr(settings, field.name) != field.default
    assert field.metadata["help"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("transport", "carrier-pigeon"),
        ("transport", ""),
        ("http_port", "high"),
        ("http_port", "70000"),
        ("ttl_short", "59"),
        ("ttl_short", "90000"),
        ("embedder_dimensions", "2049"),
        ("embedder_dimensions", "-1"),
        ("embedder_timeout", "0"),
        ("embedder_timeout", "-5"),
        ("timezone", "Mars/Olympus"),
        ("read_only", "perhaps"),
        ("log_level", "loud"),
    ],
)
def test_a_bad_value_is_refused_by_its_name(name: str, value: str) -> None:
    with pytest.raises(Invalid) as refusal:
        read(**{variable(name): value})
    assert refusal.value.field.replace("-", "_") == name


@pytest.mark.parametrize("name", ["jwt_secret", "encryption_key"])
def test_a_secret_that_would_guard_nothing_is_refused(tmp_path: Path, name: str) -> None:
    file = tmp_path / "a.toml"
    file.write_text(f'{name} = ""')
    for told in ({variable(name): ""}, {"file": file}):
        with pytest.raises(Invalid, match="is set, but empty: give it a value, or leave it out"):
            read(**told)


def test_an_unknown_setting_in_the_file_is_named_with_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text("htp_port = 9")
    with pytest.raises(Invalid, match="did you mean 'http_port'"):
        read(file=file)


@pytest.mark.parametrize("text", ["= nonsense", None])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "a.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(Invalid, match=r"a\.toml"):
        read(file=file)


def test_the_data_folder_follows_the_platform() -> None:
    assert read(XDG_DATA_HOME="/data/home").data_dir == "/data/home/commonplace"
    assert read({"data_dir": "/elsewhere"}, XDG_DATA_HOME="/data/home").data_dir == "/elsewhere"


def test_the_time_zone_is_the_machines_unless_told() -> None:
    assert read(TZ="Asia/Tokyo").timezone == "Asia/Tokyo"
    assert read(TZ="nonsense").timezone
    assert read(TZ="Asia/Tokyo", COMMONPLACE_TIMEZONE="Europe/Paris").timezone == "Europe/Paris"


def test_the_usual_key_of_openai_serves() -> None:
    assert read(OPENAI_API_KEY="sk").embedder_key == "sk"
    assert read(OPENAI_API_KEY="sk", COMMONPLACE_EMBEDDER_KEY="mine").embedder_key == "mine"


def test_the_key_of_openai_is_not_told_to_ollama(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('embedder = "ollama"')
    for told in ({"given": {"embedder": "ollama"}}, {"file": file}, {"COMMONPLACE_EMBEDDER": "ollama"}):
        assert read(OPENAI_API_KEY="sk", **told).embedder_key == ""
        assert read(OPENAI_API_KEY="sk", COMMONPLACE_EMBEDDER_KEY="mine", **told).embedder_key == "mine"


def test_a_variable_that_is_no_setting_is_named_with_the_nearest(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text('owner_key = "${COMMONPLACE_MINE}"')
    known = {variable(field.name): "x" for field in dataclasses.fields(Settings)}
    beside = {
        "COMMONPLACE_CONFIG": str(file),
        "COMMONPLACE_NEW_ENCRYPTION_KEY": "x",
        "COMMONPLACE_MINE": "x",
        "HOME": "x",
    }
    assert misnamed(known | beside) == {}
    strange = {"COMMONPLACE_HTP_PORT": "81", "COMMONPLACE_QQQQQQQQQQQQQQQQQQ": "x"}
    assert misnamed(known | strange) == {
        "COMMONPLACE_HTP_PORT": "COMMONPLACE_HTTP_PORT",
        "COMMONPLACE_QQQQQQQQQQQQQQQQQQ": "",
    }
