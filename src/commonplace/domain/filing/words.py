"""The words by which rules and headings name the seven categories, in five languages."""

import re
import unicodedata
from functools import lru_cache

from commonplace.domain.bank import Category
from commonplace.domain.unicode import normalised

NAMES = 3.0
"""The weight of words that name a category; those that only hint at it weigh less."""
HINTS = 2.0

# Latin words are matched from the beginning of a word, so that a singular finds its plural; a blank at the end asks for
# the whole word. Words of scripts without blanks are found anywhere. All are written as `folded` leaves them.
_WORDS: dict[Category, dict[float, str]] = {
    Category.OBSERVATION: {
        3.0: "observation|finding|facts |constat|faits observes|観察|所見|観測|观察|观测|發現|发现|관찰|관측|발견",
        2.0: "remark|remarque|noted|measurement|メモ|备注|메모",
        1.0: "recent change|changements recents|current state|etat actuel|current focus|最近の変更|近期变化|최근 변경",
    },
    Category.DECISION: {
        3.0: "decision|decide|choix|arbitrage|adr |adrs |決定|意思決定|决策|决定|決策|결정",
        2.0: "choice|trade off|tradeoff|rationale|compromis|選択|选择|取捨|取舍|선택",
    },
    Category.TODO: {
        3.0: (
            "todo|to do |to dos |task|next step|what s left|left to |what remains|remaining|backlog|action item|"
            "tache|a faire|prochaines etapes|prochaine etape|reste a |ce qui reste|"
            "次のステップ|次の一手|やること|タスク|残作業|残っている|残りの|未完了|未着手|"
            "待办|待辦|下一步|任务|任務|待完成|未完成|剩余|할 일|할일|다음 단계|남은|작업 목록"
        ),
        2.0: "plan|roadmap|priorit|next |upcoming|pending|a venir|予定|今後|计划|計劃|后续|계획|예정",
    },
    Category.INSIGHT: {
        3.0: (
            "insight|learning|lesson|learned|learnt|takeaway|lecon|enseignement|apprentissage|retour d experience|"
            "学び|気づき|知見|洞察|教訓|洞见|洞見|心得|经验|經驗|教训|인사이트|통찰|배운|교훈|깨달"
        ),
        2.0: "pattern|analys|gotcha|best practice|bonnes pratiques|motif|パターン|分析|模式|패턴|분석",
    },
    Category.QUESTION: {
        3.0: (
            "question|unknowns|open point|points ouverts|en suspens|質問|疑問|不明点|未決|"
            "疑问|疑問|待确认|待確認|开放问题|未决|질문|궁금|미결"
        ),
        2.0: "clarif|to confirm|a confirmer|確認事項|検討事項|待讨论|확인 사항|검토",
        1.0: "consideration",
    },
    Category.PROGRESS: {
        3.0: (
            "progress|status|avancement|progres|進捗|進行状況|進み具合|ステータス|"
            "进度|進度|进展|進展|状态|狀態|진행|진척|상태"
        ),
        2.0: (
            "what works|what s done|done |complet|finished|achiev|accompli|milestone|ce qui fonctionne|ce qui marche|"
            "fait |termine|realis|jalon|en cours|完了|動いている|動作する|できていること|達成|"
            "已完成|完成|里程碑|可用功能|완료|달성|작동"
        ),
    },
    Category.ISSUE: {
        3.0: (
            "issue|bug|defect|blocker|blocage|blocking|incident|anomalie|probleme|known problem|"
            "問題|不具合|バグ|課題|障害|已知问题|已知問題|缺陷|故障|阻塞|이슈|문제|버그|장애"
        ),
        2.5: "problem|问题",
        2.0: "error|erreur|risk|risque|limitation|technical debt|dette|difficult|リスク|风险|風險|오류|위험",
    },
}
# What a product is for, not what is wrong with it.
_NO_ISSUES = re.compile(
    r"problems? (?:it|that it|this|the \w+) solves?|problems? solved|problem solving|problem statement|"
    r"problemes? (?:resolus?|a resoudre|qu il resout|que \w+ \w+ resout)|解決する(?:問題|課題)|解决的问题|해결하는 문제"
)

HEADINGS: dict[str, dict[Category, str]] = {
    "en": dict(
        zip(
            Category,
            ["Observations", "Decisions", "To do", "Insights", "Open questions", "Progress", "Known issues"],
            strict=True,
        )
    ),
    "fr": dict(
        zip(
            Category,
            [
                "Observations",
                "Décisions",
                "À faire",
                "Enseignements",
                "Questions ouvertes",
                "Avancement",
                "Problèmes connus",
            ],
            strict=True,
        )
    ),
    "ja": dict(
        zip(Category, ["観察", "決定事項", "やること", "気づき", "未解決の質問", "進捗", "既知の問題"], strict=True)
    ),
    "zh": dict(zip(Category, ["观察", "决策", "待办", "心得", "待确认", "进展", "已知问题"], strict=True)),
    "ko": dict(
        zip(
            Category,
            ["관찰", "결정 사항", "할 일", "배운 점", "미해결 질문", "진행 상황", "알려진 문제"],
            strict=True,
        )
    ),
}
"""What a category's own heading is called where the rules give it none."""

_FRENCH = frozenset("le la les des et dans pour une du est sont ce qui avec sur par chaque fichier".split())
_ENGLISH = frozenset("the and of to in is are for what with on by each file this that it".split())
_CAMEL = re.compile(r"(?<=[^\W\dA-Z_])(?=[A-Z])")
_BREAKS = re.compile(r"[^\w]+|_+")
_LATIN_MARKS = re.compile("[\u0300-\u036f]")


def folded(text: str) -> str:
    """Small letters without accents, in words with one blank around each."""
    spread = _CAMEL.sub(" ", text)
    bare = _LATIN_MARKS.sub("", normalised("NFD", normalised("NFKC", spread).casefold()))
    return f" {_BREAKS.sub(' ', normalised('NFC', bare)).strip()} "


@lru_cache(maxsize=4096)
def weight(category: Category, text: str) -> float:
    """How much a short text is about a category: the weight of the best word for it, 0.0 for none."""
    words = folded(text)
    if category is Category.ISSUE:
        words = _NO_ISSUES.sub(" ", words)
    return next((heavy for heavy, known in _KNOWN[category] if any(word in words for word in known)), 0.0)


def named(text: str) -> Category | None:
    """The category that a word or two are the very name of."""
    words = folded(text).strip()
    return _EXACTLY.get(words) or _EXACTLY.get(words.removesuffix("s"))


def language(text: str) -> str:
    """The language that headings of our own should be in: en, fr, ja, zh or ko."""
    kana = sum("\u3041" <= char <= "\u30fa" for char in text)
    hangul = sum("\uac00" <= char <= "\ud7a3" for char in text)
    han = sum("\u4e00" <= char <= "\u9fff" for char in text)
    if max(kana, hangul, han) * 8 > sum(map(str.isalpha, text)):
        return "ja" if kana * 8 > han else "ko" if hangul > han else "zh"
    words = folded(text).split()
    french, english = sum(word in _FRENCH for word in words), sum(word in _ENGLISH for word in words)
    return "fr" if french > english else "en"


def capitalised(text: str) -> str:
    return text[:1].upper() + text[1:]


def _findable(word: str) -> str:
    return f" {word}" if unicodedata.name(word[0], "").startswith("LATIN") else word


_KNOWN = {
    category: [(heavy, tuple(map(_findable, words.split("|")))) for heavy, words in by_weight.items()]
    for category, by_weight in _WORDS.items()
}
_EXACTLY = {
    **{word.strip(): category for category, words in _WORDS.items() for word in words[NAMES].split("|")},
    **{folded(name).strip(): category for names in HEADINGS.values() for category, name in names.items()},
    **{category.value: category for category in Category},
}
