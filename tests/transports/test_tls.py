"""An own certificate: https on both ports, and nothing older than TLS 1.3 unless told."""

import ssl
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
import trustme
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client

from tests.serving import OWNER_KEY, PROGRAM, free_port
from tests.transports.test_cli_programs import run
from tests.transports.wire import bearer, listening


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def files(authority: trustme.CA, tmp_path: Path) -> tuple[str, str]:
    issued = authority.issue_cert("127.0.0.1", "localhost")
    certificate, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    key.write_bytes(issued.private_key_pem.bytes())
    certificate.write_bytes(b"".join(part.bytes() for part in issued.cert_chain_pems))
    return str(certificate), str(key)


def trusting(authority: trustme.CA, newest: ssl.TLSVersion = ssl.TLSVersion.MAXIMUM_SUPPORTED) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    context.maximum_version = newest
    return context


def command(folder: Path, http: int, sse: int, files: tuple[str, str], *options: str) -> list[str]:
    ports = ["--transport", "http,sse", "--http-port", str(http), "--sse-port", str(sse)]
    return [
        PROGRAM,
        "serve",
        "--data-dir",
        str(folder),
        *ports,
        "--tls-cert",
        files[0],
        "--tls-key",
        files[1],
        *options,
    ]


@asynccontextmanager
async def connected(authority: trustme.CA, port: int) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers=bearer(), verify=trusting(authority), timeout=30) as web,
        Client(
            streamable_http_client(f"https://127.0.0.1:{port}/mcp/greeum", http_client=web), mode="legacy"
        ) as client,
    ):
        yield client


@pytest.mark.anyio
async def test_a_client_that_trusts_the_certificate_is_served_over_tls_1_3(
    folder: Path, authority: trustme.CA, files: tuple[str, str]
) -> None:
    http, sse = free_port(), free_port()
    with listening(command(folder, http, sse, files), http, scheme="https", COMMONPLACE_OWNER_KEY=OWNER_KEY) as server:
        async with connected(authority, http) as client:
            assert len((await client.list_tools()).tools) == 15
        with httpx2.Client(verify=trusting(authority)) as web:
            assert web.get(f"https://127.0.0.1:{sse}/health").status_code == 200
            with web.stream("GET", f"https://127.0.0.1:{sse}/sse", headers=bearer()) as stream:
                assert next(stream.iter_lines()).startswith("id: ")
        with (
            pytest.raises(httpx2.ConnectError),
            httpx2.Client(verify=trusting(authority, ssl.TLSVersion.TLSv1_2)) as web,
        ):
            web.get(f"https://127.0.0.1:{http}/health")
        with pytest.raises(httpx2.ConnectError):
            httpx2.get(f"https://127.0.0.1:{http}/health")
        with pytest.raises(httpx2.HTTPError):
            httpx2.get(f"http://127.0.0.1:{http}/health")
        server.terminate()
        _, said = server.communicate(timeout=20)
        assert f"https://127.0.0.1:{http}/mcp" in said
        assert f"https://127.0.0.1:{sse}/sse" in said


def test_tls_1_2_is_accepted_where_the_settings_say_so(
    folder: Path, authority: trustme.CA, files: tuple[str, str]
) -> None:
    http, sse = free_port(), free_port()
    with (
        listening(command(folder, http, sse, files, "--tls-minimum", "1.2"), http, scheme="https"),
        httpx2.Client(verify=trusting(authority, ssl.TLSVersion.TLSv1_2)) as web,
    ):
        assert web.get(f"https://127.0.0.1:{http}/health").status_code == 200


@pytest.mark.parametrize("broken", ["no key", "no such file", "not a certificate", "another's key", "locked"])
def test_a_certificate_that_cannot_be_used_is_told_at_the_start(
    folder: Path, authority: trustme.CA, files: tuple[str, str], tmp_path: Path, broken: str
) -> None:
    certificate, key = files
    match broken:
        case "no key":
            options = ["--tls-cert", certificate]
        case "no such file":
            options = ["--tls-cert", "nowhere.pem", "--tls-key", key]
        case "not a certificate":
            options = ["--tls-cert", key, "--tls-key", key]
        case "another's key":
            authority.issue_cert("127.0.0.1").private_key_pem.write_to_path(str(tmp_path / "other.pem"))
            options = ["--tls-cert", certificate, "--tls-key", str(tmp_path / "other.pem")]
        case _:
            locked = tmp_path / "locked.pem"
            subprocess.run(
                ["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", str(locked)], check=True
            )
            options = ["--tls-cert", certificate, "--tls-key", str(locked)]
    answer = run(PROGRAM, "serve", "--transport", "http", "--data-dir", str(folder), *options, check=False)
    assert answer.returncode == 2
    assert "tls-cert" in answer.stderr
    assert "Traceback" not in answer.stderr
