"""Pages in a browser: none by default, and those that the settings name."""

from pathlib import Path

import httpx2

from tests.serving import Served, served
from tests.transports.wire import modern_headers, post, request

PAGE = "https://app.example"


def preflight(server: Served, origin: str, method: str = "POST", path: str = "/mcp") -> httpx2.Response:
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization,mcp-method"}
    return httpx2.options(server.url(path), headers={"Origin": origin} | asked)


def test_by_default_no_page_is_told_that_it_may(server: Served) -> None:
    assert preflight(server, PAGE).status_code == 403
    own = preflight(server, "http://localhost:3000")
    assert "access-control-allow-origin" not in own.headers


def test_a_named_origin_may_ask_and_read_and_others_may_not(folder: Path) -> None:
    with served(folder, "--cors-origins", PAGE, "--cors-methods", "GET,POST") as server:
        allowed = preflight(server, PAGE)
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == PAGE
        assert "authorization" in allowed.headers["access-control-allow-headers"]
        assert preflight(server, PAGE, "DELETE").status_code == 400
        assert preflight(server, "https://evil.example").status_code == 403
        read = post(server, request("tools/list", modern=True), modern_headers("tools/list") | {"Origin": PAGE})
        assert (read.status_code, read.headers["access-control-allow-origin"]) == (200, PAGE)
        assert "Mcp-Session-Id" in read.headers["access-control-expose-headers"]
        refused = post(
            server, request("tools/list", modern=True), modern_headers("tools/list", key="") | {"Origin": PAGE}
        )
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, PAGE)
        url = f"http://127.0.0.1:{server.sse_port}/sse"
        assert (
            httpx2.options(url, headers={"Origin": PAGE, "Access-Control-Request-Method": "GET"}).headers[
                "access-control-allow-origin"
            ]
            == PAGE
        )


def test_every_origin_may_where_the_settings_say_so_but_not_every_host(folder: Path) -> None:
    with served(folder, "--cors-origins", "*") as server:
        assert preflight(server, "https://anyone.example").headers["access-control-allow-origin"] == "*"
        foreign = {"Origin": PAGE, "Host": "evil.example"}
        assert httpx2.get(server.url("/health"), headers=foreign).status_code == 421
