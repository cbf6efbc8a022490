"""How an error is put into words: a code, what happened, the particulars, what to do."""

from __future__ import annotations

from dataclasses import dataclass

from commonplace.dialects.assoc.japanese import NOUNS, said
from commonplace.domain.errors import CommonplaceError

KEPT = "変更は行われていません"


@dataclass(frozen=True, slots=True)
class Wording:
    """A code, what happened in a few words, the particulars, and what to do.

    In the last two `{e}` is the error; `{act}`, `{reason}` and `{what}` are its fields in Japanese.
    """

    code: str
    words: str
    detail: str = ""
    remedy: str = ""

    def particulars(self, error: CommonplaceError) -> list[str]:
        fields = {name: said(getattr(error, name, "")) for name in ("act", "reason", "what")}
        fields["what"] = NOUNS.get(fields["what"], fields["what"])
        return [part.format(e=error, **fields) for part in (self.detail, self.remedy) if part]
