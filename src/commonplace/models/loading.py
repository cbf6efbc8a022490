"""Loading a model beside those who wait for it: the first use of one may be a download of minutes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from commonplace.domain.errors import EmbeddingFailed

_FIRST_WAIT = 20.0
"""Seconds that callers wait for a model that is loaded for the first time: enough for one that is on this disk."""
_LATER_WAIT = 2.0
"""The same after a failure, which mostly happens again."""


class Loading:
    """A model that is loaded once; what fails is begun again by a later caller. Called from one thread at a time."""

    def __init__(
        self, name: str, load: Callable[[], Any], first_wait: float = _FIRST_WAIT, later_wait: float = _LATER_WAIT
    ) -> None:
        self._name = name
        self._load = load
        self._wait = first_wait
        self._later_wait = later_wait
        self._outcome: Future[Any] | None = None
        self._until = 0.0

    def model(self) -> Any:
        """The model, or EmbeddingFailed: it could not be loaded, or is not there yet."""
        outcome = self._outcome = self._outcome or self._begun()
        try:
            error = outcome.exception(max(self._until - time.monotonic(), 0.0))
        except TimeoutError:
            raise EmbeddingFailed(self._name, "the model is still being loaded") from None
        if error is None:
            return outcome.result()
        self._outcome = None
        if isinstance(error, EmbeddingFailed):
            raise error
        raise EmbeddingFailed(self._name, f"{type(error).__name__}: {error}") from error

    def _begun(self) -> Future[Any]:
        outcome: Future[Any] = Future()
        self._until = time.monotonic() + self._wait
        self._wait = self._later_wait
        # A daemon, because a download must not keep the program from ending.
        threading.Thread(target=self._run, args=(outcome,), name="commonplace-model", daemon=True).start()
        return outcome

    def _run(self, outcome: Future[Any]) -> None:
        try:
            model = self._load()
        except Exception as error:
            outcome.set_exception(error)
        else:
            outcome.set_result(model)
