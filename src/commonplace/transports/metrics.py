"""Figures for Prometheus: counted as things happen, put into its words when it asks."""

from __future__ import annotations

import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from commonplace import __version__
from commonplace.domain.errors import CommonplaceError
from commonplace.engine import Engine
from commonplace.ports import Statistics
from commonplace.transports.watching import Report

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

_BOUNDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass(slots=True)
class _Latency:
    """How long the calls of one tool took."""

    counts: list[int] = field(default_factory=lambda: [0] * (len(_BOUNDS) + 1))
    seconds: float = 0.0

    def note(self, seconds: float) -> None:
        self.counts[bisect_left(_BOUNDS, seconds)] += 1
        self.seconds += seconds

    def buckets(self) -> list[tuple[str, float]]:
        names = [*map(str, _BOUNDS), "+Inf"]
        return [(name, float(sum(self.counts[: place + 1]))) for place, name in enumerate(names)]


class Figures:
    """Everything counted in this process. Labels name tools, dialects and transports, never users or memories."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._began = time.monotonic()
        self._calls: Counter[tuple[str, str, str]] = Counter()
        self._latencies: dict[tuple[str, str], _Latency] = {}
        self._answers: Counter[tuple[str, int]] = Counter()
        self._open: Counter[str] = Counter()
        self.sessions: dict[str, Callable[[], int]] = {}
        """By transport, how many sessions it has."""
        self._registry: CollectorRegistry | None = None
        self._statistics: Statistics | None = None

    def note(self, report: Report) -> None:
        self._calls[report.dialect, report.tool, report.outcome] += 1
        self._latencies.setdefault((report.dialect, report.tool), _Latency()).note(report.seconds)

    def counted(self, app: ASGIApp, transport: str) -> ASGIApp:
        """The same, with its requests and answers counted."""

        async def counting(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    self._answers[transport, message["status"]] += 1
                await send(message)

            self._open[transport] += 1
            try:
                await app(scope, receive, noting)
            finally:
                self._open[transport] -= 1

        return counting

    async def state(self) -> dict[str, Any]:
        """How the house stands, for whoever may know."""
        statistics = await self._read()
        embedding, store = self._engine.embedding, self._engine.store
        well = statistics is not None and not (store.trouble or store.damage or embedding.failure)
        return {
            "status": "ok" if well else "degraded",
            "version": __version__,
            "uptime_seconds": round(time.monotonic() - self._began),
            "store": {
                "readable": statistics is not None,
                "writable": store.writable,
                "trouble": store.trouble,
                "damage": store.damage,
                "memories": statistics.memories if statistics else None,
                "events": statistics.events if statistics else None,
                "bytes": statistics.bytes if statistics else None,
                "waiting_writes": store.waiting,
            },
            "embedder": {
                "name": embedding.name,
                "failure": embedding.failure,
                "pending": statistics.unembedded if statistics else None,
            },
            "sessions": {transport: count() for transport, count in self.sessions.items()},
        }

    async def exposition(self, accepted: str) -> tuple[bytes, str]:
        """What Prometheus reads, and the type of it that it prefers."""
        from prometheus_client.exposition import choose_encoder

        self._statistics = await self._read()
        encode, kind = choose_encoder(accepted)
        return encode(self._collectors()), kind

    async def _read(self) -> Statistics | None:
        await self._engine.embedding.until_chosen()
        now = self._engine.clock.now()
        try:
            return await self._engine.store.read(lambda tx: tx.statistics(now))
        except CommonplaceError:
            return None

    def _collectors(self) -> CollectorRegistry:
        from prometheus_client import CollectorRegistry, GCCollector, PlatformCollector, ProcessCollector

        if self._registry is None:
            self._registry = CollectorRegistry(auto_describe=False)
            self._registry.register(self)
            for collector in (ProcessCollector, PlatformCollector, GCCollector):
                collector(registry=self._registry)
        return self._registry

    def collect(self) -> Iterator[Any]:
        """For prometheus_client."""
        yield from self._about_calls()
        yield from self._about_connections()
        yield from self._about_keeping()

    def describe(self) -> list[Any]:
        """Nothing before it is asked for: prometheus_client would collect when registering."""
        return []

    def _about_calls(self) -> Iterator[Any]:
        from prometheus_client.metrics_core import CounterMetricFamily, HistogramMetricFamily

        calls = CounterMetricFamily(
            "commonplace_calls", "Tool calls by how they ended", labels=("dialect", "tool", "outcome")
        )
        for labels, count in self._calls.items():
            calls.add_metric(labels, count)
        took = HistogramMetricFamily("commonplace_call_seconds", "How long they took", labels=("dialect", "tool"))
        for tool, latency in self._latencies.items():
            took.add_metric(tool, latency.buckets(), latency.seconds)
        yield calls
        yield took

    def _about_connections(self) -> Iterator[Any]:
        from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily

        answers = CounterMetricFamily("commonplace_responses", "Answers by status", labels=("transport", "status"))
        for (transport, status), count in self._answers.items():
            answers.add_metric((transport, str(status)), count)
        connections = GaugeMetricFamily("commonplace_connections", "Requests and streams open", labels=("transport",))
        for transport, count in self._open.items():
            connections.add_metric((transport,), count)
        sessions = GaugeMetricFamily("commonplace_sessions", "Sessions", labels=("transport",))
        for transport, counted in self.sessions.items():
            sessions.add_metric((transport,), counted())
        yield from (answers, connections, sessions)

    def _about_keeping(self) -> Iterator[Any]:
        from prometheus_client.metrics_core import GaugeMetricFamily, InfoMetricFamily

        embedding, store = self._engine.embedding, self._engine.store
        yield InfoMetricFamily("commonplace_build", "This program", {"version": __version__})
        yield InfoMetricFamily("commonplace_embedder", "What makes vectors", {"name": embedding.name})
        gauges: list[tuple[str, str, float]] = [
            ("store_up", "1 when the store can be read", self._statistics is not None),
            ("store_writable", "1 when it can be written", store.writable and not store.trouble),
            ("write_queue", "Writes that wait for their turn", store.waiting),
            ("embedder_up", "1 unless the last attempt failed", not embedding.failure),
            ("embedding_queue", "Requests that wait for the embedder", embedding.waiting),
        ]
        if kept := self._statistics:
            gauges += [
                ("memories", "Memories kept", kept.memories),
                ("memories_ephemeral", "Those of them that end by themselves", kept.ephemeral),
                ("blocks", "Blocks of the chain", kept.blocks),
                ("events", "The number of the last event", kept.events),
                ("store_bytes", "The size of the file and its log", kept.bytes),
                ("index_memories", "Memories in the index in RAM", kept.cached),
                ("embeddings_pending", "Memories that wait for their vectors", kept.unembedded),
            ]
        for name, text, value in gauges:
            yield GaugeMetricFamily(f"commonplace_{name}", text, float(value))
