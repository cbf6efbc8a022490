"""System : santé et identité."""

from __future__ import annotations

import time
from typing import Any

from commonplace import __version__
from commonplace.dialects._dialect import Call
from commonplace.dialects.live._live import live
from commonplace.domain.access import Permission
from commonplace.engine.health import Condition

_BEGAN = time.monotonic()
_DOCUMENTATION = "docs/reference/live.md"


@live.tells
async def system_health(call: Call) -> dict[str, Any]:
    """Tell whether everything works; to strangers no more than that."""
    found = await call.engine.health.conditions()
    answer: dict[str, Any] = {"status": "ok" if found.well else "degraded", "version": __version__}
    if Permission.READ not in call.actor.permissions:
        return answer
    waiting = {"files_waiting": found.files.waiting} if found.files.trouble else {}
    services = {"s3": {**_state(found.files), **waiting}, "llmaas": {**_state(found.model), "model": _model(call)}}
    return {
        **answer,
        "services": services,
        "uptime_seconds": int(time.monotonic() - _BEGAN),
        "spaces_count": len(await call.engine.spaces.all(call.actor)),
    }


@live.tells
async def system_about(call: Call) -> dict[str, Any]:
    """Tell what this server is."""
    answer: dict[str, Any] = {"status": "ok", "name": "Live Memory MCP Server", "version": __version__}
    if Permission.READ not in call.actor.permissions:
        return answer
    return {
        **answer,
        "description": "Mémoire de travail partagée pour agents IA collaboratifs",
        "tools_count": len(live.offered(call.settings)),
        "author": "Commonplace",
        "documentation": _DOCUMENTATION,
    }


def _state(condition: Condition) -> dict[str, Any]:
    """Under the names the reference has for the services; what is not used cannot fail."""
    if condition.trouble:
        return {"status": "error", "message": condition.trouble}
    return {"status": "ok" if condition.used else "off", "latency_ms": round(condition.latency * 1000)}


def _model(call: Call) -> str:
    """Who consolidates: the model of the settings, the client's, or nobody but the rules."""
    from commonplace.engine.consolidation import BUILT_IN  # with word lists that few calls need

    return call.engine.health.model or (call.model.name if call.model else BUILT_IN)
