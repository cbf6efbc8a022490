"""A language model behind any OpenAI-compatible endpoint: OpenAI itself, vLLM, Ollama, LM Studio and their like."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from commonplace.domain.errors import ModelFailed
from commonplace.ports.completions import Completion

_MOST_BYTES = 8 * 1024 * 1024
_SHORTLY = 5.0
"""Seconds in which an endpoint that is well says which models it has."""
_MOST_TOLD = 300
"""Characters of an error's body that are passed on."""


@dataclass(frozen=True, kw_only=True)
class ChatCompletions:
    """The Completer port over `POST {url}/chat/completions`."""

    url: str
    model: str
    key: str = ""
    timeout: float = 600.0
    """Seconds for a whole answer, however slowly it comes."""
    max_tokens: int = 0
    """The longest answer to ask for; 0 leaves it to the endpoint."""

    @property
    def name(self) -> str:
        return self.model

    async def complete(self, system: str, user: str) -> Completion:
        messages = [{"role": "system", "content": _sound(system)}, {"role": "user", "content": _sound(user)}]
        body: dict[str, Any] = {"model": self.model, "messages": messages, "stream": False}
        status, answer = await self._asked("POST", "chat/completions", self._limited(body, "max_tokens"))
        if status == 400 and self.max_tokens and b"max_completion_tokens" in answer:
            # Some models know the limit by its later name only, and say so.
            limited = self._limited(body, "max_completion_tokens")
            status, answer = await self._asked("POST", "chat/completions", limited)
        self._require_success(status, answer)
        return self._read(answer)

    async def check(self) -> float:
        start = time.perf_counter()
        self._require_success(*await self._asked("GET", "models", within=min(self.timeout, _SHORTLY)))
        return time.perf_counter() - start

    def _limited(self, body: dict[str, Any], limit: str) -> dict[str, Any]:
        return body | {limit: self.max_tokens} if self.max_tokens else body

    async def _asked(
        self, method: str, what: str, body: dict[str, Any] | None = None, within: float = 0.0
    ) -> tuple[int, bytes]:
        import httpx2

        seconds = within or self.timeout
        try:
            async with asyncio.timeout(seconds), httpx2.AsyncClient(timeout=seconds) as client:
                url = f"{self.url.rstrip('/')}/{what}"
                async with client.stream(method, url, json=body, headers=self._headers) as answer:
                    return answer.status_code, await self._bounded(answer)
        except (TimeoutError, httpx2.TimeoutException) as error:
            raise self._failed(f"no whole answer from {self._place} within {seconds:g} seconds") from error
        except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError, UnicodeError) as error:
            # Not chained: an error about a header quotes it, with the key.
            raise self._failed(f"{type(error).__name__} at {self._place}") from None

    async def _bounded(self, answer: Any) -> bytes:
        whole = bytearray()
        async for piece in answer.aiter_bytes():
            whole += piece
            if len(whole) > _MOST_BYTES:
                raise self._failed(f"the answer from {self._place} is larger than {_MOST_BYTES} bytes")
        return bytes(whole)

    def _require_success(self, status: int, answer: bytes) -> None:
        if status != 200:
            told = " ".join(answer[: _MOST_TOLD * 8].decode(errors="replace").split())[:_MOST_TOLD]
            raise self._failed(f"{self._place} answered {status}" + (f": {told}" if told else ""))

    def _read(self, answer: bytes) -> Completion:
        try:
            found = json.loads(answer)
            choice = found["choices"][0]
            text = choice["message"]["content"]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise self._failed(f"{self._place} gave an answer that is no chat completion") from error
        if choice.get("finish_reason") == "length":
            raise self._failed("the answer was cut off at the longest length allowed")
        if not isinstance(text, str) or not text.strip():
            raise self._failed(f"{self._place} gave an empty answer")
        return Completion(text, _tokens(found.get("usage")))

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"} if self.key else {}

    @property
    def _place(self) -> str:
        """The endpoint as it may be named: without a user, a password or a query, which can hold a key."""
        try:
            parts = urlsplit(self.url)
            port = f":{parts.port}" if parts.port else ""
        except ValueError:
            return "the endpoint"
        return f"{parts.scheme}://{parts.hostname}{port}{parts.path}"

    def _failed(self, reason: str) -> ModelFailed:
        return ModelFailed(self.model, reason.replace(self.key, "…") if self.key else reason)


def _sound(text: str) -> str:
    """Without half characters, which cannot be sent."""
    return text.encode(errors="replace").decode()


def _tokens(usage: Any) -> int:
    total = usage.get("total_tokens") if isinstance(usage, dict) else None
    return max(total, 0) if isinstance(total, int) else 0
