"""OpenTelemetry: a span for every tool call, with its name and its fate, and nothing of what was said."""

from __future__ import annotations

from threading import Thread
from typing import Any

from commonplace import __version__
from commonplace.domain.errors import Invalid
from commonplace.transports.watching import Report

_NANOSECONDS = 1_000_000_000
_PATIENCE = 2.0
"""Seconds that the end of the process waits for a collector."""


class Tracing:
    """Sends spans in the background; what cannot be sent is dropped, and no call waits for it."""

    def __init__(self, endpoint: str) -> None:
        try:
            from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
            from opentelemetry.sdk.resources import Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
        except ImportError as error:
            reason = "needs the extra `otel`: pip install 'commonplace[otel]'"
            raise Invalid("otel-endpoint", reason) from error
        resource = Resource.create({"service.name": "commonplace", "service.version": __version__})
        # Ours alone, not the process's: the SDK's own spans carry messages of errors, and these may quote a memory.
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=_traces(endpoint))))
        self._tracer = self._provider.get_tracer("commonplace", __version__)

    def note(self, report: Report) -> None:
        from opentelemetry.trace import SpanKind, StatusCode

        span = self._tracer.start_span(
            f"tools/call {report.tool}",
            context=_parent(report),
            kind=SpanKind.SERVER,
            start_time=report.ended_at - int(report.seconds * _NANOSECONDS),
            attributes={
                "mcp.method.name": "tools/call",
                "gen_ai.tool.name": report.tool,
                "commonplace.dialect": report.dialect,
                "commonplace.outcome": report.outcome,
            },
        )
        span.set_status(StatusCode.OK if report.outcome == "ok" else StatusCode.ERROR)
        span.end(report.ended_at)

    def close(self) -> None:
        """Send what is left, but not for ever: the library would wait for a collector that does not answer."""
        sending = Thread(target=self._provider.shutdown, daemon=True)
        sending.start()
        sending.join(_PATIENCE)


def _traces(endpoint: str) -> str:
    base = endpoint.rstrip("/")
    return base if base.endswith("/v1/traces") else f"{base}/v1/traces"


def _parent(report: Report) -> Any:
    """The caller's span, where it told one in the W3C form."""
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    carrier = {
        name: value for name in ("traceparent", "tracestate") if isinstance(value := report.trace.get(name), str)
    }
    return TraceContextTextMapPropagator().extract(carrier, context=Context())
