"""What putting back a part of a backup has come to: in figures, and by name what nobody may expect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from commonplace.domain.backup import Part
from commonplace.domain.recovery import Fate, Notice, Recovered

MOST_NOTICES = 50
_COUNTED: Mapping[Fate, str] = {
    Fate.PUT_BACK: "復元",
    Fate.CHANGED_BACK: "変更を元に戻した記憶",
    Fate.UNCHANGED: "変更なし",
    Fate.KEPT: "新しいため現状のまま",
    Fate.OVER: "期限切れのため対象外",
    Fate.SESSION_GONE: "セッションがないため対象外",
    Fate.IN_SPACE: "スペース内のため対象外",
    Fate.END_GONE: "記憶がないため結べない関連",
}
_NAMES = {"place": "domain", "end": "expires_at", "author": "author_id", "owner": "owner_id"}
"""What is otherwise than in the backup, by the names of this dialect."""
_IDS = {Part.MEMORIES: "memory_id", Part.PROJECTS: "project_id", Part.SESSIONS: "session_id"}
_CAME_BACK = {
    "place": "元のプロジェクトやセッションがここにないため、user ドメインに復元しました",
    "author": "作成者がここのユーザーではないため、復元した人が作成者になりました",
    "owner": "所有者がここのユーザーではないため、復元した人が所有者になりました",
    "members": "メンバーの一部は戻していません (外された人、ここにいない人、外されたかどうか確認できない人)",
    "memories": "中にあった記憶の一部は戻っていません (今ある場所にそのままか、削除されています)",
}
_STAYED_AWAY = {
    Fate.OVER: "期限が過ぎたため、復元していません",
    Fate.SESSION_GONE: "セッションがないため、復元していません。期限内なら include_data に sessions を加えると戻ります",
    Fate.END_GONE: "一方の記憶がここにないため、関連を復元していません",
}


def data(recovered: Recovered, parts: Iterable[Part]) -> dict[str, Any]:
    told = [_told(one) for one in recovered.notices[:MOST_NOTICES]]
    return {
        **{f"restored_{part}": recovered.restored(part) for part in Part},
        "outcome": {part.value: {fate.value: count for fate, count in recovered.of(part)} for part in parts},
        "notices": told,
        "notices_total": len(recovered.notices),
        "notices_left_out": len(recovered.notices) - len(told),
    }


def words(recovered: Recovered) -> str:
    """The same in a line."""
    counts = {fate: sum(recovered.fates[part, fate] for part in Part) for fate in Fate}
    told = "、".join(f"{_COUNTED[fate]} {count}件" for fate, count in counts.items() if count)
    more = "。現状のままの内容や、元と異なる点は notices を確認してください" if recovered.notices else ""
    return f": {told or '対象はありません'}{more}"


def _told(notice: Notice) -> dict[str, Any]:
    return {
        "kind": notice.part.value,
        **_named(notice),
        "result": notice.fate.value,
        "restored_fields": list(notice.returned),
        "different": [_NAMES.get(name, name) for name in notice.otherwise],
        "reason": _reason(notice),
    }


def _named(notice: Notice) -> dict[str, str]:
    if notice.part is Part.ASSOCIATIONS:
        return {"from_memory_id": notice.id, "to_memory_id": notice.other}
    return {_IDS[notice.part]: notice.id}


def _reason(notice: Notice) -> str:
    if notice.fate is Fate.PUT_BACK:
        return "。".join(_CAME_BACK[name] for name in notice.otherwise)
    different = ", ".join(_NAMES.get(name, name) for name in notice.otherwise)
    stays = f"{different} は現状のままです" if different else ""
    if notice.fate is Fate.CHANGED_BACK:
        back = f"バックアップ後に変わった {', '.join(notice.returned)} を元に戻しました。変更後の版は履歴に残っています"
        return f"{back}。{stays}" if stays else back
    if notice.fate is Fate.KEPT:
        return f"バックアップ後に変わっています。{stays or '現状のままです'}"
    return _STAYED_AWAY[notice.fate]
