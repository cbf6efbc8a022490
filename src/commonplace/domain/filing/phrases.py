"""Phrases of rules: cut into pieces, freed of their markup, and told apart from orders and labels."""

import re

from commonplace.domain.bank import Category
from commonplace.domain.filing.words import capitalised, folded, named

_LINK = re.compile(r"\[([^\[\]]{1,200})\]\([^()]{0,500}\)")
_EDGES = " \t*_`#>|\"'«»“”‘’「」『』()（）[]【】.:;,。：；、，—–-→←⇒✅❌•·"
_PIECES = re.compile(r"[,;、，；/|•。()（）]|\.\s|\s[—–-]\s|(?<=\s)\+(?=\s)")
_CONJUNCTIONS = re.compile(r"\s(?:and|or|et|ou|&)\s|と|や|和|及|및|、")
_HEAD = re.compile(r"\s*(?:\*\*|__)([^*_]{1,120}?)\s*[:：]?\s*(?:\*\*|__)\s*[:：—–-]?(.*)")
_COLON = re.compile(r"[:：]\s|[:：]$|：|\s[—–-]\s|\s?[（(]")
_ARROW = re.compile(r"→|⇒|➜|➔|->|=>")
_FIRST = re.compile(r"\s(?:and|et|ou|or|the|les?|la|des|une?|an?)\s", re.IGNORECASE)
_NUMBER = re.compile(r"[0-9]{1,3}[.)、．]?\s*")
_TICKED = re.compile(r"`([^`]{1,40})`")
_QUOTED = re.compile(
    r"«([^»]{1,80})»|“([^”]{1,80})”|「([^」]{1,80})」|\"([^\"]{1,80})\"|`([^`]{1,80})`|\*\*([^*]{1,80})\*\*"
)
_MARKED = re.compile(r"`(#{2,6}) +([^`#]{1,60})`")
_CLAUSES = re.compile(r"[,;、，；。]|\.\s")
_BELOW = re.compile(r"[`*\s]*[>›#§/]+\s*([^.,;()|]{1,80})")
_ORDER_ENDS = re.compile(
    r"[をはに]?(?:記録|記載|更新|記述|列挙|整理|追記|追加|書)(?:する|すること|します|してください|く|き)?$|"
    r"[을를]?\s?(?:기록|정리|작성|추가)(?:한다|하기|합니다|하세요)?$"
)
_ORDERS = frozenset(
    "update updates updating document documents documenting record records recording add track tracks tracking capture "
    "list lists log logs note write writes describe describes defines define contains contain summarise summarize "
    "ajoute ajouter documente documenter liste lister note noter consigne consigner décris décrire décrit contient "
    "记录 更新 列出 写明 记载 说明".split()
)
_MUTED = (
    "when|how often|update frequency|update trigger|update when|frequency|use case|retention|limits|limit |max |"
    "maximum|example|format |size|never|always|keep |do not|don t|must |rule|last update|last modified|created|only |"
    "rewrite|quand|mise a jour|mettre a jour|frequence|exemple|limite|taille|ne |n |jamais|toujours|garde|regle|"
    "derniere mise|reecri|remplace|いつ|更新|例|上限|禁止|書き換え|作成|必ず|"
    "频率|限制|示例|规则|不要|不得|업데이트|예시|제한|규칙|항상|절대"
).split("|")
_TRANSPARENT = frozenset(
    "content|contents|contains|sections|key sections|structure|purpose|covers|what|about|headings|template|skeleton|"
    "contenu|contient|rubriques|sections cles|objet|role|but|modele|squelette|内容|構成|目的|見出し|セクション|"
    "記載内容|结构|目的|章节|用途|내용|구성|목적|섹션|categories|category|notes|categorie|カテゴリ|カテゴリー|分类|类别|분류|카테고리".split(
        "|"
    )
)
_ROUTERS = (
    " go | goes | belong| filed | file them| put | write | record| vont | va | mettre | ranger | noter | consign|"
    " inscri| dans |記録|書く|書き|入れ|记录|写入|放入|归入|기록|작성|넣"
).split("|")
_PLEAS = re.compile(r"(?:ください|こと|しない|ません|ましょう|ります|せよ|하세요|십시오|합니다|마세요)$")
_MOST_CHARS, _MOST_WORDS = 60, 8


def tidy(text: str) -> str:
    """Without markup, numbers and signs at its ends."""
    plain = _LINK.sub(r"\1", text).replace("**", "").replace("__", "").replace("`", "").strip(_EDGES)
    start = next((at for at, char in enumerate(plain) if char.isalpha()), len(plain))
    before = plain[:start]
    # "3. Known issues" and "🐛 Known issues" lose what is before them; "2FA rollout" and "80 % done" do not.
    return plain if any(map(str.isdigit, before)) and not _NUMBER.fullmatch(before) else plain[start:]


def heading(text: str) -> str:
    """As it stands in a bank: without the categories that rules set behind it, and with brackets that close."""
    bare = _CATEGORIES.sub("", text).rstrip(_LOOSE_ENDS) or text
    missing = [_PAIRS[char] for char in bare if char in _PAIRS and bare.count(char) > bare.count(_PAIRS[char])]
    return bare + "".join(dict.fromkeys(missing))


_CATEGORY = "(?:observation|decision|todo|insight|question|progress|issue)s?"
_CATEGORIES = re.compile(
    rf"\s*(?:[(\[（【]|[:：]|\s[—–-](?=\s))\s*{_CATEGORY}(?:\s*[,/;|、，]\s*{_CATEGORY})*\s*[)\]）】]?\s*\Z",
    re.IGNORECASE,
)
_PAIRS = {"(": ")", "[": "]", "（": "）", "【": "】", "«": " »", "「": "」"}
_LOOSE_ENDS = " \t\"'“”([（【—–-"


def pieces(text: str) -> list[str]:
    """What a sentence or a cell of a table lists."""
    return [piece for piece in map(_unjoined, _PIECES.split(text)) if piece]


def _unjoined(text: str) -> str:
    """Without an article or an "and" before it."""
    words = f" {tidy(text)} "
    joint = _FIRST.match(words)
    return words[joint.end() :].strip() if joint else words.strip()


def clauses(text: str) -> list[str]:
    return _CLAUSES.split(text)


def marked(text: str) -> list[tuple[str, int]]:
    """The headings that stand in a text as they would in a page, with their levels."""
    return [(tidy(name), len(level)) for level, name in _MARKED.findall(text) if is_heading(tidy(name))]


def categories(text: str) -> list[Category]:
    """The categories a text is the list of; empty when it says anything else."""
    words = [word for piece in pieces(text) for word in _CONJUNCTIONS.split(f" {piece} ") if tidy(word)]
    found = [named(tidy(word)) for word in words]
    return [category for category in found if category] if found and all(found) else []


def ticked(text: str) -> list[Category]:
    """The categories that stand in a text as code, spelled as the tools spell them."""
    return [Category(word) for word in _TICKED.findall(text) if word in _SPELLED]


_SPELLED = frozenset(category.value for category in Category)


def head(text: str) -> tuple[str, str]:
    """What a list item is called, and what it says more."""
    bold = _HEAD.match(text)
    if bold:
        return tidy(bold[1]), bold[2]
    colon = _COLON.search(text)
    return (tidy(text[: colon.start()]), text[colon.start() :]) if colon and colon.start() else (tidy(text), "")


def is_muted(text: str) -> bool:
    """Whether it speaks of how to keep a file, not of what is in it."""
    words = folded(text)[1:]
    return any(words.startswith(word) for word in _MUTED) or _PLEAS.search(words.strip()) is not None


def is_transparent(text: str) -> bool:
    """Whether it only announces what is in a file."""
    return folded(text).strip() in _TRANSPARENT


def ordered(text: str) -> str:
    """What an order is about: "record recent changes" is about recent changes. Empty for what is no order."""
    first, _, rest = text.partition(" ")
    if first.casefold() in _ORDERS and rest:
        return capitalised(_unjoined(rest))
    end = _ORDER_ENDS.search(text)
    return text[: end.start()] if end and end.start() else ""


def is_heading(text: str) -> bool:
    """Whether it could stand above a list."""
    short = 1 < len(text) <= _MOST_CHARS and len(text.split()) <= _MOST_WORDS
    return short and any(map(str.isalpha, text)) and not is_muted(text)


def is_sentence(text: str) -> bool:
    return text.rstrip().endswith("。") or (text.rstrip().endswith((".", "!")) and len(text.split()) > 4)


def routes(text: str) -> bool:
    """Whether it says where something goes."""
    words = folded(text)
    return bool(_ARROW.search(text)) or any(word in words for word in _ROUTERS)


def below(text: str) -> str:
    """The heading that is named after a file: `> Known issues`, `under "Decisions"`, の「決定事項」."""
    found = _BELOW.match(text) or _QUOTED.search(text)
    name = tidy(next((group for group in found.groups() if group), "")) if found else ""
    return name if is_heading(name) and name not in _SPELLED and not name.endswith(".md") else ""
