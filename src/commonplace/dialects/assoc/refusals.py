"""What went wrong, in this dialect's words: the one place where an error of the domain becomes Japanese."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from commonplace.dialects._dialect import Body
from commonplace.dialects.assoc.failures import FAILURES
from commonplace.dialects.assoc.japanese import NOUNS, said
from commonplace.dialects.assoc.wording import KEPT, Wording
from commonplace.domain import errors
from commonplace.domain.access import Right
from commonplace.domain.errors import CommonplaceError

MOST_FAULTS = 100
MOST_FAULTS_TOLD = 20
MOST_NAMED = 5
NAME_SESSION = "user の create_session で作成するか、switch_session で切り替えるか、session_id を指定してください"


def refusal(error: CommonplaceError) -> Body:
    """Assoc's error body: what happened in a few words, and again with the particulars and what to do."""
    wording = worded(error)
    problem = {"code": wording.code, "message": in_words(error)}
    return {"success": False, "data": _data(error), "message": wording.words, "error": problem}


def in_words(error: CommonplaceError) -> str:
    """The whole of it in one line."""
    wording = worded(error)
    particulars = "。".join(wording.particulars(error))
    return f"{wording.words}: {particulars}" if particulars else wording.words


def worded(error: CommonplaceError) -> Wording:
    kind = next(kind for kind in type(error).__mro__ if kind in WORDINGS)
    found = WORDINGS[kind]
    return found if isinstance(found, Wording) else found(error)


def _data(error: CommonplaceError) -> dict[str, Any] | None:
    """What a program can read of a failure, in the form that the same action has where it succeeds."""
    if isinstance(error, errors.NoneDeleted):
        return {"deleted_count": 0, "deleted": [], "not_found": [*error.missing], "denied": [*error.denied]}
    if not isinstance(error, errors.BundleRefused):
        return None
    return {
        "imported_count": 0,
        "skipped_count": 0,
        "error_count": len(error.faults),
        "errors": [
            {"line": fault.line, "field": _field(fault) or None, "reason": _fault(fault)[0]}
            for fault in error.faults[:MOST_FAULTS]
        ],
        "errors_left_out": max(len(error.faults) - MOST_FAULTS, 0),
    }


# Refusals


def _literal(text: str) -> str:
    """As part of a form that is still to be filled in."""
    return text.replace("{", "{{").replace("}", "}}")


def _invalid(error: errors.Invalid) -> Wording:
    told = "; ".join(f"{one.field}: {said(one.reason)}" for one in (error, *error.also))
    return Wording("VALIDATION_ERROR", _WRONG, _literal(told))


def _bundle(error: errors.BundleRefused) -> Wording:
    """Each fault with its entry, and once what can be done about them."""
    told = [_fault(fault) for fault in error.faults[:MOST_FAULTS_TOLD]]
    shown = "; ".join(reason for reason, _ in told)
    more = len(error.faults) - len(told)
    detail = f"何も取り込みませんでした。{shown}" + (f"; 他{more}件" if more else "")
    remedies = "。".join(dict.fromkeys(remedy for _, remedy in told if remedy))
    code, words = ("PERMISSION_DENIED", _DENIED) if error.denied else ("VALIDATION_ERROR", _WRONG)
    return Wording(code, words, _literal(detail), _literal(remedies))


def _fault(fault: errors.Fault) -> tuple[str, str]:
    """Which entry, which of its fields and what is wrong with it; and what to do."""
    if isinstance(fault.error, errors.Invalid):
        wrong, remedy = said(fault.error.reason), _fields(fault.error)
    else:
        wording = worded(fault.error)
        detail, *remedies = wording.particulars(fault.error) or [wording.words]
        wrong = f"{wording.words}: {detail}" if isinstance(fault.error, errors.NotFound) else detail
        remedy = "".join(remedies)
    entry, element = (f"{number}件目" if number else "" for number in (fault.line, fault.element))
    return ": ".join(filter(None, (entry, _field(fault), element, wrong))), remedy


def _no_field(error: errors.NoField) -> Wording:
    return replace(_invalid(error), remedy=_literal(_fields(error)))


def _fields(error: errors.Invalid) -> str:
    return f"使えるフィールド: {', '.join(error.known)}" if isinstance(error, errors.NoField) else ""


def _field(fault: errors.Fault) -> str:
    """Of an entry, or of all that was given; nothing where it is the entry itself."""
    error = fault.error
    if isinstance(error, errors.NotFound):
        return f"{error.what}_id"
    if isinstance(error, errors.Forbidden):
        where, place, _ = error.needs.partition(":")
        at = f"{where}_id" if place else "domain"
        return at if fault.line else "import_data.places"
    field = error.field if isinstance(error, errors.Invalid) else ""
    return field if fault.line or field.startswith("import_data") else f"import_data.{_PARTS.get(field, field)}"


def _none_deleted(error: errors.NoneDeleted) -> Wording:
    code, words, search = _MISSING["memory"]
    parts = (("削除する権限がない記憶", error.denied, _ASK), ("見つからない記憶", error.missing, search))
    told = "; ".join(f"{why}: {_named(ids)}" for why, ids, _ in parts if ids)
    remedy = "。".join(remedy for _, ids, remedy in parts if ids)
    code, words = ("PERMISSION_DENIED", _DENIED) if error.denied else (code, words)
    return Wording(code, words, _literal(f"何も削除しませんでした。{told}"), remedy)


def _named(names: Sequence[str]) -> str:
    """The first of them; the others are counted."""
    return ", ".join(map(repr, names[:MOST_NAMED])) + _more(names)


def _more(named: Sequence[object]) -> str:
    return f" 他{len(named) - MOST_NAMED}件" if len(named) > MOST_NAMED else ""


def _not_found(error: errors.NotFound) -> Wording:
    code, words, remedy = _MISSING.get(error.what, ("VALIDATION_ERROR", "見つかりません", ""))
    detail = "{e.name!r}" if error.what in _MISSING else "{what} {e.name!r}"
    return Wording(code, words, detail, remedy or _literal(said(error.advice)))


def _not_carried(error: errors.NotCarried) -> Wording:
    found = _not_found(error)
    return Wording(found.code, found.words, found.detail, _NOT_CARRIED.get(error.what, _ANEW))


def _session_required(error: errors.SessionRequired) -> Wording:
    """With those that are open: an agent that has come back finds its own among them."""
    known = ", ".join(f"{name!r} (ID: {one})" for one, name in error.open[:MOST_NAMED]) + _more(error.open)
    remedy = f"{NAME_SESSION}。開いているセッション: {known}" if known else NAME_SESSION
    return Wording("SESSION_REQUIRED", "セッションが必要です", "現在のセッションがありません", _literal(remedy))


def _exists(error: errors.AlreadyExists) -> Wording:
    if error.what == "member":
        remedy = "ロールを変えるには、remove_member のあとに add_member を実行してください"
        return Wording("MEMBER_EXISTS", "すでにメンバーです", "{e.name!r}", remedy)
    return Wording("VALIDATION_ERROR", "すでに存在します", "{what} {e.name!r}", "別の名前を指定してください")


def _forbidden(error: errors.Forbidden) -> Wording:
    """What is needed is a permission of the key, a right on a place, or a key that opens all."""
    where, place, right = error.needs.partition(":")
    if where == "global":
        need, remedy = "全員の領域への書き込みには admin 権限が必要です", "admin 権限のあるキーを使ってください"
    elif place:
        need, remedy = _role(NOUNS.get(where, where), right)
    elif where == "account":
        need = "{act} には、範囲が限定されていないキーが必要です"
        remedy = "範囲が限定されていないキーを使ってください"
    else:
        need, remedy = f"{{act}} には {where} 権限が必要です", f"{where} 権限のあるキーを使ってください"
    return Wording("PERMISSION_DENIED", _DENIED, need, remedy)


def _role(noun: str, right: str) -> tuple[str, str]:
    """What a right on a place is to who shares it: a role that its owner gives, or what no role includes."""
    if right == Right.ADMIN:
        return f"これは{noun}の所有者だけが行えます", f"{noun}の所有者に依頼してください"
    if right == Right.WRITE:
        return (
            f"{{act}} には、この{noun}での editor ロールが必要です",
            f"{noun}の所有者に editor への変更を依頼してください",
        )
    return f"{{act}} には、この{noun}への参加が必要です", f"{noun}の所有者に追加を依頼してください"


def _unauthenticated(error: errors.Unauthenticated) -> Wording:
    if error.shown:
        detail = "キーが無効です。未登録か、取り消し済みか、期限切れです"
        return Wording("PERMISSION_DENIED", _UNKNOWN, detail, "`commonplace keys create NAME` で新しいキーを作れます")
    remedy = "`Authorization: Bearer KEY` または `X-API-Key: KEY` で送ってください"
    return Wording("PERMISSION_DENIED", _UNKNOWN, "有効なキーがありません", remedy)


def _unseen(error: errors.Unseen) -> Wording:
    why = "読み取った後に変更されています" if error.changed else "このセッションではまだ読み取られていません"
    return Wording(
        "CONFLICT",
        "先に読み取ってください",
        f"{{what}} {{e.name!r}} は{why}",
        "読み取ってから、もう一度変更してください",
    )


def _stranding(error: errors.Stranding) -> Wording:
    more = f" 他{error.more}件" if error.more else ""
    left = ", ".join(map(repr, error.stranded)) + more
    detail = f"{{e.name!r}} を削除すると、次の記憶への道がなくなります: {_literal(left)}"
    return Wording("VALIDATION_ERROR", _WRONG, detail, "先にそれらを削除するか、別の道を付けてください")


# Failures


_ANEW = (
    "ここで作成してそのIDをデータに書くか、places を含む json で取り込んでください。"
    "domain を user にすれば、自分の記憶として取り込めます"
)
_LET_IN = "ここにあるはずなら、所有者に project の add_member で editor として追加してもらってください。なければ、"
_NOT_CARRIED = {"project": _LET_IN + _ANEW}
"""What to do where a place is not here, or is and not to be seen, which must sound the same."""
_PARTS = {"links": "associations"}
"""What was brought, by the names of this dialect."""
_DENIED = "権限がありません"
_ASK = "作成者か所有者に依頼してください"
_UNKNOWN = "認証が必要です"
_WRONG = "入力が正しくありません"
_MISSING: Mapping[str, tuple[str, str, str]] = {
    "memory": ("MEMORY_NOT_FOUND", "記憶が見つかりません", "memory の search で探して、IDを確認してください"),
    "project": ("PROJECT_NOT_FOUND", "プロジェクトが見つかりません", "project の list でIDを確認してください"),
    "session": ("SESSION_NOT_FOUND", "セッションが見つかりません", "user の get_sessions でIDを確認してください"),
    "member": ("MEMBER_NOT_FOUND", "メンバーが見つかりません", "project の get でメンバーを確認してください"),
    "user": ("VALIDATION_ERROR", "ユーザーが見つかりません", "ユーザーのIDか名前を確認してください"),
    "backup": ("VALIDATION_ERROR", "バックアップが見つかりません", "admin の system_stats で名前を確認してください"),
    "collection": ("VALIDATION_ERROR", "保存先が見つかりません", "ドメインとIDを確認してください"),
    "tie to": (
        "VALIDATION_ERROR",
        "関連付けが見つかりません",
        "memory の get_related を depth 1 で実行すると、関連付けられた記憶を確認できます",
    ),
    "folder for backups of": ("VALIDATION_ERROR", "バックアップ先がありません", "`--backup-dir` で指定してください"),
}
WORDINGS: Mapping[type[BaseException], Wording | Callable[[Any], Wording]] = {
    CommonplaceError: Wording("INTERNAL_ERROR", "内部エラーが発生しました"),
    errors.Invalid: _invalid,
    errors.NoField: _no_field,
    errors.BundleRefused: _bundle,
    errors.NoneDeleted: _none_deleted,
    errors.NotFound: _not_found,
    errors.NotCarried: _not_carried,
    errors.AlreadyExists: _exists,
    errors.Forbidden: _forbidden,
    errors.Unauthenticated: _unauthenticated,
    errors.Unseen: _unseen,
    errors.Stranding: _stranding,
    errors.NotTheAuthor: Wording(
        "PERMISSION_DENIED",
        _DENIED,
        "{act}は、記憶の作成者とその場所の所有者だけが行えます",
        _ASK,
    ),
    errors.ReadOnly: Wording(
        "PERMISSION_DENIED",
        _DENIED,
        "このサーバーは読み取り専用のため、{act} は実行できません",
        "`--read-only` を付けずに起動したサーバーを使ってください",
    ),
    errors.SpaceForbidden: Wording(
        "PERMISSION_DENIED",
        _DENIED,
        "このキーではスペース {e.space!r} を使えません",
        "管理者にスペースの追加を依頼してください",
    ),
    errors.SessionRequired: _session_required,
    errors.Conflict: Wording(
        "CONFLICT", "他で変更されました", "{what} {e.name!r}", "もう一度読み取ってから、変更をやり直してください"
    ),
    errors.Busy: Wording("CONFLICT", "すでに実行中です", "{what} {e.name!r}", "終わってから、もう一度実行してください"),
    errors.Circular: Wording(
        "VALIDATION_ERROR",
        _WRONG,
        "{e.name!r} は {e.target!r} 自身の下に入るため、循環します",
        "{e.target!r} の下にない場所を選んでください",
    ),
    errors.PlanRefused: Wording(
        "VALIDATION_ERROR", "統合の計画を受け付けられません", "(詳細: {reason})", f"もう一度実行してください。{KEPT}"
    ),
    **FAILURES,
}
