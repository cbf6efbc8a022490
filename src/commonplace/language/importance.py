"""How important a text sounds, where its author does not say: by its own words, the same every time."""

import re

USUAL = 0.5
_LOOK = 4000

_STRONG = re.compile(
    r"\b(?:important|critical|crucial|essential|urgent|must|never|always|required|mandatory|decided|decision"
    r"|deadline|password|secret|security|breaking|root cause|important[es]?|essentiel(?:le)?s?|urgente?s?|jamais"
    r"|toujours|obligatoire|décid[ée]+|décision|échéance|mot de passe|sécurité)\b"
    r"|重要|必須|緊急|絶対|決定|締め?切|期限|禁止|注意|秘密|パスワード|セキュリティ|必ず"
    r"|关键|紧急|必须|绝对|决定|截止|密码|务必|重點|關鍵"
    r"|중요|긴급|필수|반드시|절대|결정|마감|금지|주의|비밀번호|보안",
    re.IGNORECASE,
)
_WEAK = re.compile(
    r"\b(?:maybe|perhaps|test|testing|lol|ok|okay|hello|hi|thanks?|todo later|peut-être|essai|bonjour|salut|merci)\b"
    r"|たぶん|かも|テスト|こんにちは|ありがとう|也许|可能吧|测试|你好|谢谢|아마|테스트|안녕|감사",
    re.IGNORECASE,
)
_FACT = re.compile(r"\d{2,}|[A-Z]{2,}|https?://|[\w.]+@[\w.]+|`[^`]+`")


def importance(text: str) -> float:
    """From 0.2 to 0.9: words that weigh, facts that can be looked up, a length that says something."""
    seen = text[:_LOOK]
    strong = min(len(_STRONG.findall(seen)), 3)
    weak = min(len(_WEAK.findall(seen)), 2)
    facts = min(len(_FACT.findall(seen)), 4)
    length = -0.1 if len(seen.strip()) < 12 else 0.05 if len(seen) > 400 else 0.0
    judged = USUAL + 0.12 * strong - 0.1 * weak + 0.025 * facts + length
    return round(min(max(judged, 0.2), 0.9), 2)
