"""Snapshots to draw, harmless and hostile."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from docs.samples import sample

from commonplace.pictures import KINDS, Dot, Snapshot, Tie, draw

__all__ = ["FORMS", "HOSTILE", "NOW", "dot", "drawn", "hub", "of", "poisoned", "sample"]

NOW = datetime(2026, 3, 14, 9, 26, tzinfo=UTC)
FORMS = (*KINDS, "neighbourhood")
HOSTILE = (
    "</script><script>alert(1)</script>",
    "</style><img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "]]><!-- --><![CDATA[",
    'x"]; evil [label="y',
    "\\N \\G \\l \\\\ &lt;b&gt; &#60;i&#62; <<b>x</b>>",
    "\u202eevil\u202c \u2066isolated\u2069 \u200fmark",
    "lone \ud800 and \udfff, nul \x00, bell \x07, nonsense \ufffe\uffff",
    "'; background:url(//evil) }",
    "javascript:alert(1)",
    "{n} {0} %s ${x} `y`",
    "Z" + "\u0301" * 500,
    "﷽" * 40 + "𒐫" * 40,
    "W" * 400,
    "记忆" * 300,
    "👩‍👩‍👧‍👦" * 50,
    "مرحبا بالعالم " * 20,
    "",
    " \n\t ",
    "\u2028\u2029\x85",
)


def dot(at: int, text: str = "a thought", **facts: object) -> Dot:
    made = Dot(f"m{at}", text, "user", "work", ("tag",), 0.5, NOW - timedelta(days=at))
    return replace(made, **facts)  # type: ignore[arg-type]


def of(*dots: Dot, ties: tuple[Tie, ...] = (), zone: str = "Asia/Tokyo", **facts: object) -> Snapshot:
    made = Snapshot(dots, ties, len(dots), "Memories", ZoneInfo(zone), NOW)
    return replace(made, **facts)  # type: ignore[arg-type]


def hub(snapshot: Snapshot) -> str:
    """The memory with the most ties."""
    ends = [end for tie in snapshot.ties for end in (tie.source, tie.target)]
    return max(sorted(set(ends)), key=ends.count) if ends else snapshot.dots[0].id


def drawn(form: str, snapshot: Snapshot, format: str) -> str:  # noqa: A002
    if form == "neighbourhood":
        return draw("memory_map", replace(snapshot, center=hub(snapshot)), format)
    return draw(form, snapshot, format)


def poisoned(*texts: str) -> Snapshot:
    """Each text everywhere: as the words, the domain, the category, a tag, an id, a kind of tie and the title."""
    dots = tuple(
        replace(dot(at, text), id=f"{text}{at}", domain=text, category=text, tags=(text, "b"))
        for at, text in enumerate(texts)
    )
    ties = tuple(Tie(dots[0].id, other.id, other.text, 0.5) for other in dots[1:])
    return of(*dots, ties=ties, title=texts[0], language=texts[0], center=None)
