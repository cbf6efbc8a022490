import threading

import pytest

from commonplace.domain.errors import EmbeddingFailed
from commonplace.models.loading import Loading


def until_loaded() -> None:
    for thread in threading.enumerate():
        if thread.name == "commonplace-model":
            thread.join(10)


def test_a_model_is_loaded_once() -> None:
    models = iter(["model", "another"])
    loading = Loading("m", lambda: next(models))
    assert [loading.model(), loading.model()] == ["model", "model"]


def test_a_slow_download_does_not_hold_up_the_callers_and_is_used_when_it_is_there() -> None:
    there = threading.Event()
    loading = Loading("m", lambda: there.wait(10) and "model", first_wait=0.0)
    for _ in range(2):
        with pytest.raises(EmbeddingFailed, match="still being loaded"):
            loading.model()
    there.set()
    until_loaded()
    assert loading.model() == "model"


def test_what_could_not_be_loaded_is_told_and_tried_again() -> None:
    answers: list[Exception] = [OSError("no network"), TimeoutError("slow network")]

    def load() -> str:
        if answers:
            raise answers.pop(0)
        return "model"

    loading = Loading("m", load, later_wait=10.0)
    with pytest.raises(EmbeddingFailed, match="OSError: no network"):
        loading.model()
    with pytest.raises(EmbeddingFailed, match="TimeoutError: slow network"):
        loading.model()
    assert loading.model() == "model"
