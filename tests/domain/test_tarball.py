"""Archives: what is packed is unpacked, and what a stranger packed cannot reach outside or never end."""

import gzip
import io
import tarfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from commonplace.domain.errors import Invalid
from commonplace.domain.tarball import packed, unpacked

NOW = datetime(2026, 2, 20, 18, 5, 12, tzinfo=UTC)
NAMES = st.lists(
    st.text(st.characters(exclude_categories=("Cc", "Cs"), exclude_characters="/\\:"), min_size=1, max_size=40).filter(
        lambda part: part not in (".", "..") and part == part.strip()
    ),
    min_size=1,
    max_size=4,
).map("/".join)


@given(st.dictionaries(NAMES, st.binary(max_size=2000), max_size=6))
def test_what_is_packed_is_unpacked(files: dict[str, bytes]) -> None:
    assert unpacked(packed(files, NOW)) == files


def test_the_same_files_make_the_same_bytes_and_any_program_can_unpack_them() -> None:
    files = {"b/日本.md": b"2", "a.md": b"", "b/" + "x" * 200: b"3"}
    data = packed(files, NOW)
    assert packed(dict(reversed(files.items())), NOW) == data
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:gz") as archive:
        assert archive.getnames() == sorted(files)
        assert all(entry.isreg() and entry.mode == 0o600 for entry in archive)


def _archive(*entries: tarfile.TarInfo, content: bytes = b"evil", form: int = tarfile.PAX_FORMAT) -> bytes:
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w:gz", format=form) as archive:
        for entry in entries:
            entry.size = len(content) if entry.isreg() else 0
            archive.addfile(entry, io.BytesIO(content))
    return whole.getvalue()


def _entry(
    name: str, kind: bytes = tarfile.REGTYPE, target: str = "", more: Mapping[str, str] | None = None
) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.type, entry.linkname, entry.pax_headers = kind, target, dict(more or {})
    return entry


@pytest.mark.parametrize(
    "name",
    [
        *"/etc/passwd //x ../x a/../../x a/.. .. a/./b a//b C:/x C:x a\\b \\\\host\\x".split(),
        "a\nb",
        "a\x1b[0m",
        "~\x7f",
    ],
)
def test_a_path_that_could_lead_elsewhere_is_refused(name: str) -> None:
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        with pytest.raises(Invalid):
            unpacked(_archive(_entry("good.md"), _entry(name), form=form))


@pytest.mark.parametrize("name", ["/etc", "../x", "a/../../x"])
def test_a_folder_that_could_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(Invalid):
        unpacked(_archive(_entry(name, tarfile.DIRTYPE)))


def test_a_path_in_an_extended_header_is_no_way_out() -> None:
    with pytest.raises(Invalid):
        unpacked(_archive(_entry("good.md", more={"path": "../evil.md"})))


@pytest.mark.parametrize(
    "kind",
    [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE, b"Z"],
    ids=["link", "hard link", "character device", "block device", "pipe", "unknown"],
)
def test_what_is_no_plain_file_is_refused(kind: bytes) -> None:
    for target in ("/etc/passwd", "good.md"):
        with pytest.raises(Invalid):
            unpacked(_archive(_entry("good.md"), _entry("x.md", kind, target)))


def test_a_sparse_file_is_refused_however_large_it_says_it_is() -> None:
    for size in ("1", str(2**40)):
        sparse = {
            "GNU.sparse.major": "1",
            "GNU.sparse.minor": "0",
            "GNU.sparse.realsize": size,
            "GNU.sparse.name": "x.md",
        }
        with pytest.raises(Invalid):
            unpacked(_archive(_entry("x.md", more=sparse), content=b"1\n0\n1\n".ljust(1024, b"\0")))


def test_folders_are_passed_over_and_a_dot_before_a_path_means_nothing() -> None:
    folders = [_entry(".", tarfile.DIRTYPE), _entry("./a", tarfile.DIRTYPE), _entry("./a/b.md")]
    assert unpacked(_archive(*folders)) == {"a/b.md": b"evil"}


def test_the_same_file_twice_is_refused() -> None:
    with pytest.raises(Invalid):
        unpacked(_archive(_entry("a.md"), _entry("./a.md")))


def test_a_small_archive_that_holds_a_huge_file_is_refused() -> None:
    bomb = _archive(_entry("x.md"), content=bytes(5_000_000))
    assert len(bomb) < 10_000
    with pytest.raises(Invalid, match="larger than allowed"):
        unpacked(bomb, most_bytes=1_000_000)
    with pytest.raises(Invalid, match="larger than allowed"):
        unpacked(_archive(_entry("a.md"), _entry("b.md"), content=bytes(600_000)), most_bytes=1_000_000)


def test_a_header_that_says_more_than_there_is_is_refused() -> None:
    whole = io.BytesIO()
    entry = _entry("x.md")
    entry.size = 10**12
    whole.write(entry.tobuf())
    for tail in (b"", b"x" * 5000):
        with pytest.raises(Invalid):
            unpacked(gzip.compress(whole.getvalue() + tail))


def test_too_many_files_are_refused() -> None:
    entries = [_entry(f"{number}.md") for number in range(11)]
    with pytest.raises(Invalid):
        unpacked(_archive(*entries), most_files=10)
    assert len(unpacked(_archive(*entries[:10]), most_files=10)) == 10


def test_a_chain_of_headers_without_end_is_refused() -> None:
    long_name = tarfile.TarInfo("././@LongLink")
    long_name.type, long_name.size = tarfile.GNUTYPE_LONGNAME, 2
    link = long_name.tobuf() + b"x\0".ljust(512, b"\0")
    with pytest.raises(Invalid):
        unpacked(gzip.compress(link * 5000))


@pytest.mark.parametrize(
    "make",
    [
        lambda data: b"",
        lambda data: b"no archive at all",
        lambda data: data[:20],
        lambda data: data[:-20],
        lambda data: data[: len(data) // 2],
        lambda data: data[:30] + bytes(20) + data[50:],
        lambda data: gzip.compress(b"no tar"),
        lambda data: gzip.decompress(data),
    ],
)
def test_what_is_broken_or_no_archive_is_refused(make: Callable[[bytes], bytes]) -> None:
    data = packed({"a.md": b"some text " * 500, "b.md": bytes(range(256)) * 20}, NOW)
    with pytest.raises(Invalid):
        unpacked(make(data))


@given(st.data())
def test_a_damaged_archive_is_read_or_refused_and_nothing_else(data: st.DataObject) -> None:
    whole = bytearray(gzip.decompress(packed({"a.md": b"some text", "b/日本.md": b"more"}, NOW)))
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    try:
        files = unpacked(gzip.compress(bytes(whole)), most_bytes=100_000)
    except Invalid:
        return
    assert all(not path.startswith("/") and ".." not in path.split("/") for path in files)


@given(st.binary(max_size=2000))
def test_any_bytes_are_read_or_refused_and_nothing_else(data: bytes) -> None:
    for given_bytes in (data, gzip.compress(data), b"\x1f\x8b\x08\0" + data):
        with suppress(Invalid):
            assert unpacked(given_bytes, most_bytes=100_000) == {}
