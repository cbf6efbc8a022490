"""JWTs: what opens the door and what does not, and OAuth's signposts."""

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import jwt
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from tests.serving import OWNER_KEY, PROGRAM, Served, over_http, served
from tests.transports.test_cli_programs import run
from tests.transports.wire import bearer, key_for, modern_headers, opened, post, request

SECRET = "a secret that is long enough to be one"


def claims(**changed: Any) -> dict[str, Any]:
    """A good token, changed; None removes."""
    now = int(time.time())
    good = {"sub": "jay", "aud": "commonplace", "exp": now + 300, "scope": "read write"}
    return {name: value for name, value in {**good, **changed}.items() if value is not None}


def token(algorithm: str = "HS256", key: Any = SECRET, headers: dict[str, Any] | None = None, **changed: Any) -> str:
    return jwt.encode(claims(**changed), key, algorithm, headers)


def status(server: Served, credential: str) -> int:
    answer = post(server, request("tools/list", modern=True), modern_headers("tools/list", key=credential))
    return int(answer.status_code)


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server that accepts JWTs beside keys, and knows a user named jay."""
    folder = tmp_path_factory.mktemp("tokens")
    run(PROGRAM, "keys", "create", "jays", "--user", "jay", "--data-dir", str(folder))
    with served(folder, "--failure-rate-limit", "0", COMMONPLACE_JWT_SECRET=SECRET) as server:
        yield server


def test_a_good_token_opens_as_its_user(trusting: Served) -> None:
    assert status(trusting, token()) == 200
    assert status(trusting, token(aud=["other", "commonplace"])) == 200
    assert status(trusting, token(scope=None, permissions=["read"])) == 200
    assert status(trusting, OWNER_KEY) == 200


def part(value: bytes) -> str:
    return base64.urlsafe_b64encode(value).decode().rstrip("=")


def signed(content: Any, secret: bytes = SECRET.encode(), algorithm: str = "HS256") -> str:
    """By hand, because the library refuses to make what it refuses to read."""
    head = json.dumps({"alg": algorithm, "typ": "JWT"}).encode()
    text = f"{part(head)}.{part(json.dumps(content).encode())}"
    return f"{text}.{part(hmac.new(secret, text.encode(), hashlib.sha256).digest())}"


def unsigned(algorithm: str) -> str:
    return signed(claims(), algorithm=algorithm).rpartition(".")[0] + "."


NOW = int(time.time())
BAD = {
    "alg none": unsigned("none"),
    "alg none, spelt otherwise": unsigned("nOnE"),
    "alg none, signed": signed(claims(), algorithm="none"),
    "another algorithm": token("HS512", SECRET * 2),
    "another key": token(key="another secret that is long enough"),
    "no expiry": token(exp=None),
    "expired": token(exp=NOW - 10),
    "an expiry that is no number": signed(claims(exp="soon")),
    "claims that are no object": signed(["sub"]),
    "an expiry beyond all time": token(exp=10**30),
    "no audience": token(aud=None),
    "another audience": token(aud="someone else"),
    "not yet valid": token(nbf=NOW + 3600),
    "nobody": token(sub=None),
    "an unknown user": token(sub="nobody we know"),
    "an empty user": token(sub=""),
    "changed on the way": token()[:-4] + "AAAA",
    "not a token": "a.b.c",
    "lone surrogates": token(sub="\\ud800"),
}


@pytest.mark.parametrize("credential", BAD.values(), ids=BAD.keys())
def test_a_bad_token_is_refused(trusting: Served, credential: str) -> None:
    assert status(trusting, credential) == 401


def test_a_token_is_no_key(trusting: Served) -> None:
    sent = modern_headers("tools/list", key="") | {"X-API-Key": token()}
    assert post(trusting, request("tools/list", modern=True), sent).status_code == 401


def test_a_token_that_allows_nothing_here_is_told_so(trusting: Served) -> None:
    for changed in ({"scope": None}, {"scope": "openid email"}, {"permissions": 3, "scope": None}):
        sent = modern_headers("tools/list", key=token(**changed))
        refused = post(trusting, request("tools/list", modern=True), sent)
        assert refused.status_code == 403
        assert 'error="insufficient_scope"' in refused.headers["www-authenticate"]


@pytest.mark.anyio
async def test_a_token_allows_what_it_says_and_never_more_than_the_settings(trusting: Served) -> None:
    async with over_http(trusting, key=token(scope="read")) as client:
        reading = {tool.name for tool in (await client.list_tools()).tools}
        assert "add_memory" not in reading
    async with over_http(trusting, key=token(scope="read write admin"), path="/mcp/greeum") as client:
        allowed = {tool.name for tool in (await client.list_tools()).tools}
        assert reading < allowed
        assert (await client.call_tool("verify_chain", {})).is_error is False
    figures = httpx2.get(trusting.url("/metrics"), headers=bearer(token(scope="admin")))
    assert figures.status_code == 403


@pytest.mark.anyio
async def test_a_token_reaches_the_memories_of_its_user_and_no_others(trusting: Served) -> None:
    key = await key_for(trusting.folder, "jay", name="another of jay's")
    async with (
        over_http(trusting) as owner,
        over_http(trusting, key=key) as jay,
        over_http(trusting, key=token()) as by,
    ):
        await owner.call_tool("add_memory", {"content": "zaqowner alone"})
        await jay.call_tool("add_memory", {"content": "zaqjay alone"})
        found = str((await by.call_tool("query_memory", {"query": "zaqowner zaqjay alone"})).structured_content)
        assert "zaqjay" in found
        assert "zaqowner" not in found


@pytest.mark.anyio
async def test_what_two_users_do_is_not_one_session(trusting: Served) -> None:
    run(PROGRAM, "keys", "create", "kays", "--user", "kay", "--data-dir", str(trusting.folder))
    shown = set()
    for user in ("jay", "kay"):
        async with over_http(trusting, key=token(sub=user), path="/mcp/assoc") as client:
            answer = await client.call_tool("user", {"action": "get_current"})
            assert answer.structured_content
            shown.add(answer.structured_content["data"]["credential"])
    assert shown == {"jay/jwt", "kay/jwt"}


@pytest.mark.anyio
async def test_a_session_outlives_the_renewal_of_its_token(trusting: Served) -> None:
    session = opened(trusting, token())
    again = bearer(token(exp=NOW + 999)) | {"Mcp-Session-Id": session}
    assert post(trusting, request("tools/list"), again).status_code == 200


@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_public_key_checks_what_its_private_key_signed(folder: Path, tmp_path: Path, algorithm: str) -> None:
    private = rsa.generate_private_key(65537, 2048) if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())
    pem = private.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    file = tmp_path / "public.pem"
    file.write_bytes(pem)
    run(PROGRAM, "keys", "create", "jays", "--user", "jay", "--data-dir", str(folder))
    options = ("--jwt-public-key", str(file), "--jwt-algorithm", algorithm, "--auth", "jwt", "--jwt-issuer", "us")
    with served(folder, *options) as server:
        assert status(server, token(algorithm, private, iss="us")) == 200
        assert status(server, token(algorithm, private)) == 401
        assert status(server, token(algorithm, private, iss="them")) == 401
        # The public key, which everybody knows, taken for a secret.
        assert status(server, signed(claims(iss="us"), pem)) == 401
        assert status(server, OWNER_KEY) == 401


@pytest.mark.parametrize("kind", [serialization.PrivateFormat.PKCS8, serialization.PrivateFormat.TraditionalOpenSSL])
@pytest.mark.parametrize("algorithm", ["RS256", "ES256"])
def test_a_private_key_in_the_place_of_the_public_one_is_refused_and_not_shown(
    folder: Path, tmp_path: Path, algorithm: str, kind: serialization.PrivateFormat
) -> None:
    private = rsa.generate_private_key(65537, 2048) if algorithm == "RS256" else ec.generate_private_key(ec.SECP256R1())
    pem = private.private_bytes(serialization.Encoding.PEM, kind, serialization.NoEncryption())
    file = tmp_path / "private.pem"
    file.write_bytes(pem)
    options = ("--jwt-public-key", str(file), "--jwt-algorithm", algorithm)
    answer = run(PROGRAM, "serve", "--transport", "http", "--data-dir", str(folder), *options, check=False)
    assert answer.returncode == 2
    assert f"jwt-public-key: {file} is a private key" in answer.stderr
    assert "openssl pkey -in private.pem -pubout" in answer.stderr
    assert not [line for line in pem.decode().splitlines() if line in answer.stderr]


@pytest.mark.parametrize(
    ("options", "more", "named"),
    [
        (("--auth", "jwt"), {}, "jwt"),
        (("--jwt-algorithm", "RS256"), {"COMMONPLACE_JWT_SECRET": SECRET}, "jwt-algorithm"),
        (("--jwt-public-key", "nowhere.pem"), {}, "jwt-algorithm"),
        (("--jwt-public-key", "nowhere.pem", "--jwt-algorithm", "ES256"), {}, "nowhere.pem"),
        (("--jwt-public-key", "nowhere.pem"), {"COMMONPLACE_JWT_SECRET": SECRET}, "choose one"),
        ((), {"COMMONPLACE_JWT_SECRET": "short"}, "jwt-secret"),
    ],
)
def test_settings_that_do_not_go_together_are_told_at_the_start(
    folder: Path, options: tuple[str, ...], more: dict[str, str], named: str
) -> None:
    answer = run(PROGRAM, "serve", "--transport", "http", "--data-dir", str(folder), *options, check=False, **more)
    assert answer.returncode == 2
    assert named in answer.stderr
    assert "Traceback" not in answer.stderr
    assert SECRET not in answer.stderr


# OAuth


def test_a_client_is_pointed_to_the_authorization_server(folder: Path) -> None:
    run(PROGRAM, "keys", "create", "jays", "--user", "jay", "--data-dir", str(folder))
    options = ("--authorization-servers", "https://login.example.org", "--public-url", "https://memory.example.org/")
    with served(folder, *options, COMMONPLACE_JWT_SECRET=SECRET) as server:
        refused = post(server, request("tools/list", modern=True), modern_headers("tools/list", key=""))
        place = "https://memory.example.org/.well-known/oauth-protected-resource/mcp"
        assert f'resource_metadata="{place}"' in refused.headers["www-authenticate"]
        for path in ("", "/mcp", "/mcp/greeum"):
            told = httpx2.get(server.url(f"/.well-known/oauth-protected-resource{path}")).json()
            assert told["resource"] == f"https://memory.example.org{path}"
            assert told["authorization_servers"] == ["https://login.example.org"]
            assert told["scopes_supported"] == ["read", "write"]
        assert status(server, token()) == 401
        assert status(server, token(aud="https://memory.example.org/mcp")) == 200
        url = f"http://127.0.0.1:{server.sse_port}/sse"
        assert "oauth-protected-resource/sse" in httpx2.get(url).headers["www-authenticate"]


def test_without_an_authorization_server_there_are_no_signposts(server: Served) -> None:
    assert httpx2.get(server.url("/.well-known/oauth-protected-resource")).status_code == 404
    refused = post(server, request("tools/list", modern=True), modern_headers("tools/list", key=""))
    assert "resource_metadata" not in refused.headers["www-authenticate"]
