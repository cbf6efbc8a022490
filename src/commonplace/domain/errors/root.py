"""The root of everything that can go wrong."""


class CommonplaceError(Exception):
    """The root: every refusal and failure a caller may be told about."""

    def __str__(self) -> str:
        return self.message

    @property
    def message(self) -> str:
        """What happened, in one sentence."""
        return type(self).__name__

    @property
    def remedy(self) -> str:
        """What the caller can do about it; empty where there is nothing to do."""
        return ""

    @property
    def in_full(self) -> str:
        """What happened, and what to do about it."""
        return f"{self.message}. {self.remedy[0].upper()}{self.remedy[1:]}" if self.remedy else self.message
