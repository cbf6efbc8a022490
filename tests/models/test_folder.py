import json
from pathlib import Path
from typing import Any

import pytest

from commonplace.domain.errors import EmbeddingFailed
from commonplace.models.folder import folder_of, mark, onnx_file, pooling


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    (folder / "1_Pooling").mkdir(parents=True)
    (folder / "model.safetensors").write_bytes(bytes(range(256)) * 4096)
    (folder / "config.json").write_text("{}")
    return folder


def test_a_folder_is_a_folder_and_a_name_a_name(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model.parent)
    assert folder_of(str(model)) == folder_of("model") == folder_of("./model") == model.resolve()
    assert folder_of("all-MiniLM-L6-v2") is None
    assert folder_of("BAAI/bge-m3") is None
    assert folder_of("\x00") is None


@pytest.mark.parametrize("missing", ["/nowhere/at/all", "./nowhere", "~/nowhere-at-all"])
def test_a_path_that_leads_nowhere_is_not_taken_for_a_name(missing: str) -> None:
    with pytest.raises(EmbeddingFailed, match="no such folder"):
        folder_of(missing)


def test_a_model_is_the_same_wherever_it_lies(model: Path) -> None:
    before = mark(model)
    (model / "README.md").write_text("about it")
    (model / ".cache").mkdir()
    (model / ".cache" / "x").write_text("y")
    moved = model.rename(model.with_name("moved"))
    assert mark(moved) == before


@pytest.mark.parametrize("at", [0, 65_536, 65_536 * 15 + 4095])
def test_other_weights_are_another_model(model: Path, at: int) -> None:
    before = mark(model)
    weights = bytearray((model / "model.safetensors").read_bytes())
    weights[at] ^= 1
    (model / "model.safetensors").write_bytes(weights)
    assert mark(model) != before


def test_another_setting_is_another_model(model: Path) -> None:
    before = mark(model)
    (model / "config.json").write_text('{"a": 1}')
    assert mark(model) != before


@pytest.mark.parametrize("name", ["model.onnx", "onnx/model.onnx"])
def test_the_onnx_form_is_found(model: Path, name: str) -> None:
    with pytest.raises(EmbeddingFailed, match=r"onnx/model\.onnx"):
        onnx_file(model)
    (model / name).parent.mkdir(exist_ok=True)
    (model / name).touch()
    assert onnx_file(model) == name


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"word_embedding_dimension": 4, "pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}, "CLS"),
        ({"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True, "include_prompt": True}, "MEAN"),
        ({"pooling_mode": "lasttoken"}, "LAST_TOKEN"),
    ],
)
def test_pooling_is_as_written(model: Path, written: dict[str, Any], read: str) -> None:
    assert pooling(model) == "MEAN"
    (model / "1_Pooling" / "config.json").write_text(json.dumps(written))
    assert pooling(model) == read


@pytest.mark.parametrize("written", ['{"pooling_mode": "max"}', '{"pooling_mode": ["cls", "mean"]}', "{}", "[1]", "?"])
def test_a_pooling_that_is_not_understood_is_refused(model: Path, written: str) -> None:
    (model / "1_Pooling" / "config.json").write_text(written)
    with pytest.raises(EmbeddingFailed):
        pooling(model)
