"""Addresses of memories: `domain://names/of/the/path`."""

import re
import unicodedata
from dataclasses import dataclass
from urllib.parse import quote, unquote

from commonplace.domain.errors import Invalid
from commonplace.domain.limits import text
from commonplace.domain.unicode import normalised

DEFAULT_DOMAIN = "core"
SYSTEM = "system"
PLACELESS = "memory"
"""The domain of memories without a path: `memory://<id>`, and below it their children."""
RESERVED = frozenset({SYSTEM, PLACELESS})
MAX_NAME_CHARS = 120
MAX_NAMES = 64
MAX_ADDRESS_CHARS = 10_000

_SCHEME = re.compile(r"([^\W\d_][\w+.-]*)://(.*)\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Address:
    """A domain and the names from its root down; without names, the root itself."""

    domain: str
    names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.domain}://{'/'.join(self.names)}"

    @property
    def is_root(self) -> bool:
        return not self.names

    @property
    def parent(self) -> "Address":
        return Address(self.domain, self.names[:-1])

    @property
    def name(self) -> str:
        return self.names[-1]

    def child(self, name: str) -> "Address":
        return Address(self.domain, (*self.names, name))

    @property
    def uri(self) -> str:
        """In ASCII, for those who take nothing else."""
        return f"{self.domain}://{quote('/'.join(self.names))}"


def address(written: str, field: str = "uri") -> Address:
    """Read an address: the domain in any case, a bare path in the default domain, slashes at the ends ignored."""
    plain = _plain(written, field)
    found = _SCHEME.match(plain)
    domain, path = (found[1].lower(), found[2]) if found else (DEFAULT_DOMAIN, plain)
    path = path.strip("/ \t\r\n")
    if not found and not path:
        raise Invalid(field, "must not be empty; write it like core://agent")
    names = tuple(name.strip() for name in path.split("/")) if path else ()
    if not all(names):
        raise Invalid(field, f"{plain[:200]!r} has an empty name between two slashes")
    return Address(domain, names)


def _plain(written: str, field: str) -> str:
    """Without the escapes of a URI, which no name can hold."""
    if len(written) > MAX_ADDRESS_CHARS:
        raise Invalid(field, f"is {len(written)} characters long; at most {MAX_ADDRESS_CHARS} are allowed")
    unescaped = unquote(written, errors="replace") if "%" in written else written
    return normalised("NFC", text(field, unescaped)).strip()


def title(name: str, field: str = "title") -> str:
    """A name that may be given to a path: letters (with their marks) and digits of any script, `_` and `-`."""
    kept = normalised("NFC", text(field, name)).strip()
    if len(kept) > MAX_NAME_CHARS:
        raise Invalid(field, f"is {len(kept)} characters long; at most {MAX_NAME_CHARS} are allowed")
    if not _is_name(kept):
        raise Invalid(field, f"{kept!r} may hold only letters and digits (of any script), '_' and '-'")
    return kept


def _is_name(word: str) -> bool:
    kinds = ["L" if char in "_-" else unicodedata.category(char)[0] for char in word]
    return bool(kinds) and kinds[0] != "M" and {"L", "M", "N"}.issuperset(kinds)  # many scripts write vowels as marks
