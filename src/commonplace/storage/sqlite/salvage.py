"""Reading a damaged file: a page that is lost costs what stood on it, not everything that is read along with it."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import apsw

from commonplace.storage.sqlite.statements import Row

T = TypeVar("T")


class Salvage:
    """Goes on past what cannot be read, and says what the file answered there."""

    def __init__(self) -> None:
        self.lost = ""

    def attempt(self, read: Callable[[], T]) -> T | None:
        """What this gives, or nothing where it meets damage."""
        try:
            return read()
        except apsw.CorruptError as error:
            self.lost = str(error)
            return None

    def rows(self, read: Callable[[Sequence[int]], list[Row]], numbers: Sequence[int]) -> list[Row]:
        """What can be read of these, by halves down to the ones that cannot."""
        found = self.attempt(lambda: read(numbers))
        if found is not None or len(numbers) <= 1:
            return found or []
        middle = len(numbers) // 2
        return self.rows(read, numbers[:middle]) + self.rows(read, numbers[middle:])
