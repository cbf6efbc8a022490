"""The built-in summariser: a text's own sentences, without a model."""

from commonplace.language.summary import summary


class SentenceSummariser:
    """The Summariser port."""

    name = "sentences"

    def summarise(self, text: str, most_chars: int) -> str:
        return summary(text, most_chars)
