"""What the floors below say in English, as this dialect says it: each sentence by its form, with the facts put in."""

from collections.abc import Mapping

from commonplace.domain.phrase import Phrase

NOUNS: Mapping[str, str] = {
    "memory": "記憶",
    "project": "プロジェクト",
    "session": "セッション",
    "member": "メンバー",
    "user": "ユーザー",
    "backup": "バックアップ",
    "global": "全員の領域",
}
_VALUES = {
    "must not be empty": "空や空白だけにはできません",
    "must be one line of printable characters": "表示できる文字だけの1行にしてください",
    "must not contain the character NUL (U+0000)": "NUL文字 (U+0000) は使えません",
    "must not contain an empty entry": "空や空白だけの要素は含められません",
    "is not valid Unicode: a lone surrogate stands at character {at}": (
        "正しいUnicodeではありません: 位置{at}に単独のサロゲートがあります"
    ),
    "has a name that is not valid Unicode: a lone surrogate stands at character {at}": (
        "名前が正しいUnicodeではありません: 位置{at}に単独のサロゲートがあります"
    ),
    "is {size} bytes long; at most {most} are allowed": "{size}バイトあります。{most}バイト以内にしてください",
    "is {size} bytes long; at most {most} (1 MB) are allowed": (
        "{size}バイトあります。{most}バイト (1MB) 以内にしてください"
    ),
    "is {size} characters long; at most {most} are allowed": "{size}文字あります。{most}文字以内にしてください",
    "has an entry of {size} characters; at most {most} are allowed": (
        "{size}文字の要素があります。各要素は{most}文字以内にしてください"
    ),
    "has {size} entries; at most {most} are allowed": "{size}件あります。{most}件以内にしてください",
    "must be a number from 0.0 to 1.0, not {value}": "0.0から1.0までの数値を指定してください (指定値: {value})",
    "must be from {least} to {most}, not {value}": "{least}から{most}までの値を指定してください (指定値: {value})",
    "must be from {least} to {most} seconds": "{least}秒から{most}秒までの値を指定してください",
    "must not be later than {last}": "{last} より後の日時は指定できません",
    "must not be greater than {last}": "{last} より大きい値は指定できません",
    "is nested more than {most} deep": "入れ子が深すぎます。{most}段以内にしてください",
    "has a number that JSON cannot write": "JSONで表せない数値が含まれています",
    "has a whole number of more than 64 bits; write it as text": (
        "64ビットを超える整数が含まれています。文字列で指定してください"
    ),
    "must be what JSON can hold": "JSONで表せる値を指定してください",
    "use up to 80 letters, digits, '-', '_' and single dots; it names a file of the folder": (
        "バックアップフォルダー内のファイル名です。英数字と「-」「_」「.」で80文字以内にしてください"
    ),
}
_ARGUMENTS = {
    "hold more than {most} values; send less at once": "値が{most}個を超えています。分けて送ってください",
    "{name!r} is not one of its fields{hint}": "{name!r} というフィールドはありません{hint}",
    "is not a parameter of {tool}{hint}": "{tool} にこのパラメータはありません{hint}",
    "; did you mean {near!r}? (it takes: {known})": "。{near!r} ではありませんか (使えるもの: {known})",
    " (it takes: {known})": " (使えるもの: {known})",
    "none": "なし",
    "is required": "必須です",
    "is required: one of {choices}": "必須です。次のいずれかを指定してください: {choices}",
    "Input should be {expected}": "次のいずれかを指定してください: {choices}",
    "Input should be a valid string": "文字列を指定してください",
    "Input should be a valid integer": "整数を指定してください",
    "Input should be a valid integer, got a number with a fractional part": "小数ではなく整数を指定してください",
    "Input should be a valid number": "数値を指定してください",
    "Input should be a finite number": "有限の数値を指定してください",
    "Input should be a valid boolean": "true か false を指定してください",
    "Input should be a valid list": "配列を指定してください",
    "Input should be a valid dictionary": "オブジェクトを指定してください",
    "Input should be greater than or equal to {ge}": "{ge}以上の値を指定してください",
    "Input should be less than or equal to {le}": "{le}以下の値を指定してください",
    "Keys should be strings": "キーは文字列にしてください",
}
_ENTRIES = {
    "has {size} entries; at most {most} can be brought at once": (
        "{size}件あります。一度に取り込めるのは{most}件までです。分けて取り込んでください"
    ),
    "{id} is that of an earlier entry, which says something else": "{id} は、内容の異なる前の要素と同じIDです",
    "{id!r} is not a UUID; leave it out for a new one": "{id!r} はUUIDではありません。省略すると新しいIDが付きます",
    "must not be negative, nor beyond counting": "0以上の、数えられる範囲の値を指定してください",
    "{named!r} is not one of {known}": "{named!r} は使えません。次のいずれかを指定してください: {known}",
    "is required for this domain": "このドメインでは必須です",
    "must be from the years 1970 to 9998": "1970年から9998年までの日時を指定してください",
    "must be later than created_at": "created_at より後の日時を指定してください",
    "has an entry that is neither a project nor a session": "プロジェクトでもセッションでもない要素があります",
    "is required for a session: it must end": "セッションには終わりが必要です",
    "{name} is in the future": "{name} が未来の日時です",
    "updated_at is before created_at": "updated_at が created_at より前の日時です",
    "a memory is not tied to itself": "記憶を自分自身に関連付けることはできません",
    "imported": "取り込みました",
    "skipped: it is here already": "省略しました: すでにここにあります",
    "skipped: it is here already, and says something else": "省略しました: すでにここにあり、内容が異なります",
    "skipped: its time is over": "省略しました: 期限が過ぎています",
    "neither of the two was brought": "どちらの記憶も取り込まれていません",
    "one of the two is not here, or not yours to tie": "一方の記憶がここにないか、関連付ける権限がありません",
}
_DEEDS = {
    "this": "この操作",
    "moving a memory to another place": "別の場所への記憶の移動",
    "there is nothing to change: give at least one field": "変更する内容がありません。1つ以上指定してください",
    "a memory cannot be tied to itself": "記憶を自分自身に関連付けることはできません",
    "the owner cannot be removed; delete the project instead": (
        "所有者は外せません。不要になったプロジェクトは delete で削除してください"
    ),
    "{unknown}: choose from {known}": "{unknown} は選べません。次から選んでください: {known}",
    "names nothing; choose from {known}, or leave it out for everything": (
        "何も指定されていません。{known} から選ぶか、省略してすべてを対象にしてください"
    ),
}
_DAMAGE = {
    "its bytes are not those that were written: the checksum differs": "書き込んだ内容とチェックサムが一致しません",
    "it does not hold what its manifest says": "内容がマニフェストと一致しません",
    "what was read back is not what was written": "書き込んだ内容を正しく読み戻せません",
    "it was removed or replaced while the server was running": "サーバーの実行中に削除されたか、置き換えられました",
    "it was closed": "すでに閉じられています",
    "the backup could not be put back in one go": "バックアップを一度に書き戻せませんでした",
    "the model is still being loaded": "モデルを読み込んでいます",
}
SENTENCES: Mapping[str, str] = {**_VALUES, **_ARGUMENTS, **_ENTRIES, **_DEEDS, **_DAMAGE}


def said(sentence: str) -> str:
    """In Japanese where it is known; the words of the system, of a model or of this dialect stay as they are."""
    form, facts = (sentence.form, sentence.facts) if isinstance(sentence, Phrase) else (str(sentence), {})
    if form not in SENTENCES:
        return str(sentence)
    return SENTENCES[form].format(**{name: _fact(fact) for name, fact in facts.items()})


def _fact(fact: object) -> object:
    return said(fact) if isinstance(fact, Phrase) else fact
