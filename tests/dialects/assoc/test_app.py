"""The page for pictures inside a host that knows MCP Apps, in a real browser."""

import importlib
import json
from importlib.resources import files
from typing import Any

import pytest

from commonplace.pictures import Snapshot, draw
from tests.pictures.samples import sample
from tests.pictures.test_browser import browser, tab

behaviour = pytest.mark.behaviour
__all__ = ["browser", "tab"]

HOST = """<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>host</title>
<iframe sandbox="allow-scripts" style="width:1200px;height:900px"></iframe>
<script>
  const heard = window.heard = [], frame = document.querySelector("iframe");
  const tell = (message) => frame.contentWindow.postMessage({ jsonrpc: "2.0", ...message }, "*");
  window.tell = tell;
  window.addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    heard.push(data);
    if (data.method === "ui/initialize") tell({ id: data.id, result: {
      protocolVersion: data.params.protocolVersion, hostInfo: { name: "host", version: "1" },
      hostCapabilities: {}, hostContext: {} } });
  });
  frame.srcdoc = APP;
</script>"""


def _page() -> str:
    app = files("commonplace.pictures").joinpath("static", "app.html").read_text(encoding="utf-8")
    return HOST.replace("APP", json.dumps(app).replace("</", "<\\/"))


def _methods(page: Any) -> list[str]:
    return [message.get("method", "answer") for message in page.evaluate("heard")]


def _result(snapshot: Snapshot, form: str = "html", **more: Any) -> dict[str, Any]:
    data = {"type": "memory_map", "format": form, "content": draw("memory_map", snapshot, form)}
    return {"structuredContent": {"success": True, "data": data}, "isError": False, **more}


def _tell(page: Any, method: str, params: Any = None, **more: Any) -> None:
    page.evaluate("message => tell(message)", {"method": method, "params": params, **more})


@behaviour("assoc.visualize.app_shown")
def test_the_page_greets_its_host_and_shows_what_was_drawn(tab: Any) -> None:
    page = tab.show(_page(), "host.html")
    page.wait_for_function("heard.length >= 2")
    assert _methods(page)[:2] == ["ui/initialize", "ui/notifications/initialized"]
    inside = page.frames[1]
    assert inside.locator("#waiting").inner_text() == "Waiting for a picture…"
    _tell(page, "ui/notifications/tool-input", {"arguments": {"type": "memory_map"}})
    _tell(page, "ui/notifications/tool-result", _result(sample(50)))
    inside.locator("svg").first.wait_for()
    assert inside.locator("h1").inner_text() == "Memories"
    assert inside.locator("#waiting").count() == 0
    assert _methods(page)[2] == "ui/notifications/size-changed"


@behaviour("assoc.visualize.app_host")
def test_the_picture_is_as_light_as_its_host_and_says_how_high_it_is(tab: Any) -> None:
    page = tab.show(_page().replace("hostContext: {}", 'hostContext: { theme: "dark" }'), "host.html")
    page.wait_for_function("heard.length >= 2")
    _tell(page, "ui/notifications/tool-result", _result(sample(50)))
    inside = page.frames[1]
    inside.locator("svg").first.wait_for()
    ground = importlib.import_module("playwright.sync_api").expect(inside.locator("body"))
    ground.to_have_css("background-color", "rgb(17, 20, 27)")  # the page lets nobody wait for a script of his own
    _tell(page, "ui/notifications/host-context-changed", {"theme": "light"})
    ground.to_have_css("background-color", "rgb(244, 245, 248)")
    high = inside.evaluate("Math.ceil(document.documentElement.getBoundingClientRect().height)")
    page.wait_for_function(
        f"heard.at(-1).method === 'ui/notifications/size-changed' && heard.at(-1).params.height === {high}"
    )


@behaviour("assoc.visualize.app_shown")
def test_a_second_picture_replaces_the_first_and_the_host_may_end_it(tab: Any) -> None:
    page = tab.show(_page(), "host.html")
    page.wait_for_function("heard.length >= 2")
    inside = page.frames[1]
    for _ in range(2):
        before = len(_methods(page))
        _tell(page, "ui/notifications/tool-result", _result(sample(50)))
        page.wait_for_function(f"heard.length > {before}")
        inside.locator("svg").first.wait_for()
    _tell(page, "ui/resource-teardown", {}, id=7)
    page.wait_for_function("heard.some(one => one.id === 7 && one.result)")


@behaviour("assoc.visualize.app_shown")
def test_what_cannot_be_shown_is_said(tab: Any) -> None:
    page = tab.show(_page(), "host.html")
    page.wait_for_function("heard.length >= 2")
    words = page.frames[1].locator("#waiting")
    for result, said in (
        (_result(sample(5), "svg"), "Ask for format html to see the picture here."),
        ({"isError": True, "structuredContent": {"data": None}}, "The picture could not be drawn."),
        ({}, "The picture could not be drawn."),
    ):
        _tell(page, "ui/notifications/tool-result", result)
        page.frames[1].get_by_text(said).wait_for()
    _tell(page, "ui/notifications/tool-cancelled", {})
    page.frames[1].get_by_text("The picture was cancelled.").wait_for()
    assert words.count() == 1
