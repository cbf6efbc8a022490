"""A sentence with facts in it, which can be said in another language."""

from typing import Any


class Phrase(str):
    """It reads as plain English; a dialect that speaks otherwise looks its form up, and puts the facts in there."""

    form: str
    facts: dict[str, Any]

    def __new__(cls, form: str, **facts: Any) -> "Phrase":
        phrase = super().__new__(cls, form.format(**facts))
        phrase.form, phrase.facts = form, facts
        return phrase
