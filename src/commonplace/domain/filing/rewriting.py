"""Whether rules ask that a file be rewritten or kept short, so that it may lose most of its text.

They do if a sentence says so, and says no word of denial, that stands
- in a line that names the file: "`activeContext.md` may be rewritten";
- in what the rules say of the file: below the heading, list item or line that begins with its name;
- anywhere, if it speaks of all files: "All files may be condensed".

"Says so" means a word for rewriting, overwriting, replacing, condensing, summarising, trimming, emptying as an order
("rewrite it each time", "à réécrire", "remplacer"), as leave ("may be rewritten", "peut être résumé") or as a habit
("is rewritten each session"); or a wish that the file be short ("keep it short", "garder court", "max 200 lines"). A
noun does not count: "the status of the rewrite" gives no leave. A denial counts before those words and up to three
words behind them. When in doubt, there is no leave.
"""

import re

from commonplace.domain.bank import same
from commonplace.domain.filing.names import mentions
from commonplace.domain.filing.rules import read
from commonplace.domain.filing.words import folded

_SENTENCES = re.compile(r"[;。；!！?？|]|\.(?:\s|$)|\bbut\b|\bmais\b|\bsauf\b|\bexcept\b", re.IGNORECASE)
_VERB = "(?:rewrite|overwrite|replace|condense|summari[sz]e|trim|prune|shorten|empty|clear)"
_DONE = "(?:rewritten|overwritten|replaced|condensed|summari[sz]ed|trimmed|pruned|shortened|emptied|cleared)"
_MAY = "(?:may|can|could|should|must|shall|will)"
_ITSELF = "(?:file|it|this|page|text|contents?)"
# What follows an order: nothing, what it is about, or when. "Replace strategy" is none.
_OBJECT = (
    "(?:$|(?:it|this|the|them|its|old|all|each|every|whole|freely|completely|entirely|what|at|on|after|before|when|"
    "whenever|as|if|from|regularly|often) )"
)
_FRENCH = (
    "(?:reecrire|reecris|reecrivez|reecrite?s?|remplacer|remplacez|remplacee?s?|resumer|resumez|resumee?s?|"
    "condenser|condensez|condensee?s?|raccourcir|elaguer|vider|videe?s?|ecraser|ecrasee?s?)"
)
_ASKS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"^ (?:always |please |freely )?{_VERB} {_OBJECT}| {_MAY} (?:\w+ )?{_VERB} | (?:and|then) {_VERB} {_OBJECT}",
        rf" {_MAY} be (?:\w+ )?{_DONE} | {_ITSELF} (?:is|are|gets) (?:\w+ ){{0,2}}{_DONE} ",
        rf"^ (?:is |are |gets )?{_DONE} ",
        r" (?:keep|kept|stays?|remains?) (?:\w+ ){0,4}(?:short|brief|concise|small|lean|compact|(?:under|below) \d+) ",
        r" (?:max|maximum|at most) \d+ (?:lines|words|characters|entries|kb) ",
        rf"^ (?:a |toujours )?{_FRENCH} | (?:peut|peuvent|doit|doivent) (?:etre )?(?:\w+ )?{_FRENCH} ",
        rf" (?:fichier|contenu|il|elle|page|texte) (?:est|sera) (?:\w+ )?{_FRENCH} ",
        r" (?:garder|gardez|rester?|restez|tenir|maintenir) (?:\w+ ){0,3}(?:courte?s?|bref|breve|concise?|compacte?) ",
        r" (?:max|maximum|au plus) \d+ (?:lignes|mots) | \d+ (?:lignes|mots) (?:max|maximum|au plus) ",
        r"書き換え|書き直|上書き|置き換え|短く|簡潔に|要約し|行以内",
        r"重写|改写|重寫|覆盖|替换|保持简短|保持简洁|精简|行以内",
        r"다시 쓰|다시 작성|덮어쓰|교체|짧게|간결하게|요약하|줄 이내",
    )
)
_SHORT_OF = re.compile(r" (?:no|not) more than ")
_DENIES = re.compile(
    r" (?:not|never|no|nor|without|don t|doesn t|cannot|can t|won t|avoid|forbidden|nothing|"
    r"ne|n|pas|jamais|sans|aucune?|interdit|eviter|rien) |ない|ません|禁止|せず|不|勿|别|않|마세요|금지"
)
_WORDS_AFTER = 3
"""A denial further behind is about something else: "may be rewritten: it holds what matters now, not the past"."""
_ALL = re.compile(
    r" (?:all|any|every|each|the) (?:\w+ )?(?:bank )?files? | (?:all|every) of them | the (?:whole )?bank |"
    r" (?:tous les|les|chaque) (?:\w+ )?fichiers? | toute la bank |"
    r"(?:すべて|全て|全|各)の?ファイル|所有文件|每个文件|各文件|모든 파일|각 파일"
)


def may_be_rewritten(rules: str, filename: str) -> bool:
    """Whether the rules ask for it, as told above."""
    found = read(rules)
    sketch = found.sketches.get(same(filename))
    return any(_asks(line, filename) for line in (sketch.said if sketch else ())) or any(
        _asks(line, filename) and _ALL.search(folded(line)) for line in found.general
    )


def _asks(line: str, filename: str) -> bool:
    """Of a line with several files, only what names this one counts."""
    sentences = _SENTENCES.split(line)
    if len(mentions(line)) > 1:
        sentences = [sentence for sentence in sentences if filename.casefold() in sentence.casefold()]
    # The name itself could be taken for a word of the sentence.
    return any(_says_so(re.sub(re.escape(filename), " ", sentence, flags=re.IGNORECASE)) for sentence in sentences)


def _says_so(sentence: str) -> bool:
    words = _SHORT_OF.sub(" at most ", folded(sentence))
    found = [match for pattern in _ASKS for match in pattern.finditer(words)]
    return any(not _DENIES.search(_around(words, match.end())) for match in found)


def _around(words: str, end: int) -> str:
    """The sentence up to a few words behind a place; all of it in scripts without blanks, which deny at the end."""
    after = words[end:].split()
    return f"{words[:end]} {' '.join(after[:_WORDS_AFTER])} "
