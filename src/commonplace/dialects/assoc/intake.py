"""What an import has come to: in figures, and line by line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from commonplace.dialects.assoc import formats
from commonplace.dialects.assoc.japanese import said
from commonplace.domain.record import KNOWN, OVER, BundleReport

MOST_SHOWN = 100


def data(report: BundleReport) -> dict[str, Any]:
    odd = [{"line": line, "reason": "; ".join(map(said, why))} for line, why in report.odd[:MOST_SHOWN]]
    return {
        "imported_count": report.imported,
        "skipped_count": report.skipped,
        "identical_count": report.count(KNOWN),
        "differing_count": len(report.differing),
        "expired_count": report.count(OVER),
        "error_count": 0,
        "errors": [],
        "errors_left_out": 0,
        "report": [{"line": n, "memory_id": id_, "result": said(what)} for n, id_, what in report.lines[:MOST_SHOWN]],
        "report_left_out": max(len(report.lines) - MOST_SHOWN, 0),
        "differing": [
            {"line": line, "memory_id": memory, "fields": [_NAMES.get(name, name) for name in names]}
            for line, memory, names in report.differing[:MOST_SHOWN]
        ],
        "differing_left_out": max(len(report.differing) - MOST_SHOWN, 0),
        "associations_not_taken": [formats.untied(one) for one in report.untied[:MOST_SHOWN]],
        "odd_times": odd,
        "odd_times_left_out": max(len(report.odd) - MOST_SHOWN, 0),
    }


def words(report: BundleReport, not_taken: Sequence[str]) -> str:
    """The same in a line."""
    nothing = "" if report.lines else " (データに記憶がありません)"
    kinds = (
        ("同じ内容", report.count(KNOWN)), ("内容が異なる", len(report.differing)), ("期限切れ", report.count(OVER)),
    )  # fmt: skip
    parts = "、".join(f"{kind} {count}件" for kind, count in kinds if count)
    of_them = f"。内訳: {parts}" if report.skipped > report.count(KNOWN) else ""
    skipped = f" (省略: {report.skipped}件{of_them})" if report.skipped else ""
    unlike = (
        " (ここにある記憶は変えていません。異なるフィールドは differing で確認できます)" if report.differing else ""
    )
    left = f" (取り込まないフィールド: {', '.join(not_taken)})" if not_taken else ""
    odd = f" (日時が不自然な記憶: {len(report.odd)}件。odd_times を確認してください)" if report.odd else ""
    return f"{report.imported}件をインポートしました{nothing}{skipped}{unlike}{left}{odd}"


_NAMES = {"place": "project_id/session_id"}
"""Of what is compared, by the names of this dialect."""
