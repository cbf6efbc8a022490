"""Filing without a model: the right file and heading, dated, attributed, repeats folded, and nothing lost."""

import json
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import process_time

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from commonplace.domain.bank import MAX_FILE_BYTES, Action, BankFile, Category, Note, Proposal, filename
from commonplace.domain.consolidation import checked
from commonplace.domain.errors import PlanRefused
from commonplace.domain.filing import filed

SAMPLES = Path(__file__).parent / "samples"
MORNING = datetime(2026, 2, 20, 8, tzinfo=UTC)


def note(content: str, category: str = "observation", agent: str = "cline", minute: int = 0, tags: str = "") -> Note:
    at = MORNING + timedelta(minutes=minute)
    name = f"{at:%Y%m%dT%H%M%S}_{agent}_{category}_{minute:08x}.md"
    return Note(name, agent, Category(category), tuple(tags.split()), at, content)


def bank_after(proposal: Proposal, bank: Iterable[BankFile] = ()) -> dict[str, str]:
    return {file.filename: file.content for file in bank} | {file.filename: file.content for file in proposal.files}


def filed_in(rules: str, *notes: Note, **bank: str) -> dict[str, str]:
    files = [BankFile(f"{name}.md", content) for name, content in bank.items()]
    return bank_after(filed(notes, files, rules), files)


def sample_day() -> list[Note]:
    rows = json.loads((SAMPLES / "english.notes.json").read_text())
    return [
        Note(f"{n:04}.md", agent, Category(category), tuple(tags), datetime.fromisoformat(at), content)
        for n, (at, agent, category, tags, content) in enumerate(rows)
    ]


def sample_bank(name: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in sorted((SAMPLES / name).glob("*.md"))}


# A day of work


def test_a_day_of_notes_makes_the_bank_that_was_looked_at_and_found_good() -> None:
    before = [BankFile(*file) for file in sample_bank("english.before").items()]
    proposal = filed(sample_day(), before, (SAMPLES / "english.rules.md").read_text())
    after = sample_bank("english.after")
    assert proposal.synthesis == after.pop("_synthesis.md")
    assert bank_after(proposal, before) == after
    assert {file.filename: file.action for file in proposal.files} == {
        "activeContext.md": Action.CREATE,
        "systemPatterns.md": Action.CREATE,
        "progress.md": Action.UPDATE,
    }


def test_the_same_day_filed_again_adds_nothing() -> None:
    after = sample_bank("english.after")
    after.pop("_synthesis.md")
    again = filed(sample_day(), [BankFile(*file) for file in after.items()], (SAMPLES / "english.rules.md").read_text())
    assert again.files == ()
    assert "0 filed" in again.synthesis


@pytest.mark.parametrize("language", ["english", "french", "japanese"])
def test_a_filed_day_passes_the_check_of_plans(language: str) -> None:
    rules = (SAMPLES / f"{language}.rules.md").read_text()
    plan = checked(filed(sample_day(), [], rules), [], rules)
    assert sorted(file.filename for file in plan.created) == ["activeContext.md", "progress.md", "systemPatterns.md"]
    assert plan.updated == ()


# New pages and old ones


def test_a_new_page_has_the_title_and_headings_that_the_rules_sketch() -> None:
    rules = "### activeContext.md\n```\n# Now\n## Focus\n## Open questions\n### For legal\n## Last updated\n```\n"
    page = filed_in(rules, note("Why?", "question"))["activeContext.md"]
    assert page == "# Now\n\n## Focus\n\n## Open questions\n\n- 2026-02-20 · cline: Why?\n\n### For legal\n"


def test_a_page_with_headings_of_its_own_keeps_them() -> None:
    rules = "### progress.md\n- Known issues\n"
    page = "# Suivi\n\n## Problèmes connus\n\n* Le build est lent\n\n## Divers\n"
    after = filed_in(rules, note("It crashes.", "issue"), progress=page)["progress.md"]
    assert after == page.replace("lent\n", "lent\n* 2026-02-20 · cline: It crashes.\n")


def test_a_missing_heading_is_added_at_the_end() -> None:
    page = "# Progress\n\n## Works\n\n- sign-in"
    after = filed_in("### progress.md\n- Known issues\n", note("It crashes.", "issue"), progress=page)["progress.md"]
    assert after == page + "\n\n## Known issues\n\n- 2026-02-20 · cline: It crashes.\n"


def test_a_file_keeps_its_line_ends() -> None:
    page = "# Progress\r\n\r\n## Known issues\r\n\r\n- slow\r\n\r\n## Done\r\n"
    after = filed_in("### progress.md\n", note("It\ncrashes.", "issue"), progress=page)["progress.md"]
    assert after == page.replace("slow\r\n", "slow\r\n- 2026-02-20 · cline: It\r\n  crashes.\r\n")


def test_headings_in_code_comments_and_front_matter_are_none() -> None:
    page = "---\n# issues\n---\n# P\n\n```\n## Known issues\n```\n\n<!--\n## Known issues\n-->\n"
    after = filed_in("### progress.md\n- Known issues\n", note("Bad.", "issue"), progress=page)["progress.md"]
    assert after == page + "\n## Known issues\n\n- 2026-02-20 · cline: Bad.\n"


def test_underlined_headings_are_headings() -> None:
    page = "Progress\n========\n\nKnown issues\n------------\n- slow\n\nDone\n----\n- sign-in\n"
    after = filed_in("### progress.md\n", note("Bad.", "issue"), progress=page)["progress.md"]
    assert after == page.replace("slow\n", "slow\n- 2026-02-20 · cline: Bad.\n")


def test_a_code_fence_that_was_left_open_is_ended_before_anything_is_added() -> None:
    page = "# P\n\n## Known issues\n\n```\nlog"
    after = filed_in("### progress.md\n", note("Bad.", "issue"), progress=page)["progress.md"]
    assert after == page + "\n```\n\n- 2026-02-20 · cline: Bad.\n"


def test_a_page_that_is_full_goes_on_in_another_one() -> None:
    full = "# Progress\n\n## Known issues\n\n" + "x" * (MAX_FILE_BYTES - 2100) + "\n"
    rules = "### progress.md\n- Known issues\n"
    bank = [BankFile("progress.md", full)]
    proposal = filed([note("Bad, " * 30, "issue")], bank, rules)
    assert [file.filename for file in proposal.files] == ["progress-2.md"]
    assert proposal.files[0].content.startswith("# Progress 2\n\n## Known issues\n\n- 2026-02-20 · cline: Bad,")
    after = [*bank, BankFile("progress-2.md", proposal.files[0].content)]
    assert filed([note("Bad, " * 30, "issue")], after, rules).files == ()
    checked(proposal, bank, rules)


def test_an_entry_larger_than_any_page_is_left_to_be_refused() -> None:
    proposal = filed([note("x" * MAX_FILE_BYTES), note("y", minute=1)], [BankFile("notes.md", "# Notes\n")], "")
    assert sum("x" * 100 in file.content for file in proposal.files) == 1
    with pytest.raises(PlanRefused, match="larger"):
        checked(proposal, [BankFile("notes.md", "# Notes\n")], "")


def test_a_name_is_used_as_the_bank_spells_it() -> None:
    proposal = filed([note("Bad.", "issue")], [BankFile("Progress.md", "# P\n")], "### progress.md\n- Known issues\n")
    assert [(file.filename, file.action) for file in proposal.files] == [("Progress.md", Action.UPDATE)]


# Repeats


def test_a_repeat_is_folded_with_all_who_said_it() -> None:
    notes = [
        note("CI is red.", "issue", agent, n, tag)
        for n, (agent, tag) in enumerate([("a", "ci"), ("b", ""), ("a", "x")])
    ]
    page = filed_in("", *notes)["notes.md"]
    assert page.count("CI is red.") == 1
    assert "- 2026-02-20 · a, b · #ci #x: CI is red.\n" in page


def test_what_is_said_again_on_another_day_is_said_again() -> None:
    page = "# P\n\n## Known issues\n\n- [x] 2026-01-02 · maria: Login fails.\n"
    after = filed_in("### progress.md\n", note("Login fails.", "issue"), progress=page)["progress.md"]
    assert after == page + "- 2026-02-20 · cline: Login fails.\n"


def test_the_categories_that_rules_set_behind_a_heading_are_no_part_of_it() -> None:
    rules = "## progress.md\n### Done (progress, insight)\n### Open [question]\n### Next: todo\n### Bugs — issue\n"
    day = [note("a", "progress"), note("b", "question"), note("c", "todo"), note("d", "issue")]
    headings = [line for line in filed_in(rules, *day)["progress.md"].splitlines() if line.startswith("## ")]
    assert headings == ["## Done", "## Open", "## Next", "## Bugs"]


def test_the_same_words_of_two_categories_are_two_things() -> None:
    page = filed_in("", note("CSV export", "todo"), note("CSV export", "progress"))["notes.md"]
    assert page.count("CSV export") == 2


def test_what_a_person_wrote_under_the_heading_is_not_repeated() -> None:
    page = "# P\n\n## Known issues\n\nDates are in UTC.\n\n- It is slow.\n"
    known = ["Dates are in UTC.", "It is slow."]
    notes = [note(text, "issue", minute=n) for n, text in enumerate([*known, "New."])]
    after = filed_in("### progress.md\n", *notes, progress=page)["progress.md"]
    assert after == page + "- 2026-02-20 · cline: New.\n"


def test_an_entry_that_was_moved_is_not_filed_again() -> None:
    elsewhere = "# Done\n\n- [x] 2026-02-20 · cline: Write the docs.\n"
    assert filed([note("Write the docs.", "todo")], [BankFile("done.md", elsewhere)], "### progress.md\n").files == ()


def test_the_beginning_of_a_longer_entry_is_no_repeat_of_it() -> None:
    long, short = note("It fails.\n\nOnly on Mondays.", "issue"), note("It fails.", "issue", minute=1)
    first = filed([long], [], "")
    again = filed([long, short], [BankFile("notes.md", first.files[0].content)], "")
    assert again.files[0].content == first.files[0].content + "- 2026-02-20 · cline: It fails.\n"


# What notes are made of


def test_headings_in_a_note_do_not_become_headings_of_the_page() -> None:
    text = "Intro\n# One\n## Two ##\n  ### Three\n> # Four\n- ##### Five\n\nSix\n===\nSeven\n-----\n#\n# **Eight** x\n"
    page = filed_in("", note(text))["notes.md"]
    assert [line for line in page.splitlines() if re.match(r"[\s>-]*#{1,6}(\s|$)", line)] == [
        "# Notes",
        "## Observations",
    ]
    assert not re.search(r"^\s*(=+|-+)\s*$", page, re.MULTILINE)
    assert "  **Two**\n" in page
    assert "  > **Four**\n" in page
    assert "  \\# **Eight** x\n" in page


def test_code_in_a_note_stays_as_it_is_and_always_ends() -> None:
    page = filed_in("", note("Run:\n```sh\n# install\nmake\n", "insight"), note("Then?", "question", minute=1))[
        "notes.md"
    ]
    assert "- 2026-02-20 · cline: Run:\n  ```sh\n  # install\n  make\n  ```\n\n## Open questions\n" in page


@pytest.mark.parametrize("block", ["- one\n- two", "1. one\n2. two", "```\ncode\n```", "> quote", "    code"])
def test_a_note_that_begins_with_a_block_begins_below_its_stamp(block: str) -> None:
    page = filed_in("", note(block))["notes.md"]
    indented = "\n".join(f"  {line}" for line in block.splitlines())
    assert f"- 2026-02-20 · cline:\n{indented}\n" in page


def test_a_table_has_a_blank_line_before_it() -> None:
    assert (
        "- 2026-02-20 · cline:\n\n  | a |\n  |---|\n  | 1 |\n" in filed_in("", note("| a |\n|---|\n| 1 |"))["notes.md"]
    )


def test_json_over_several_lines_is_shown_as_code() -> None:
    assert ':\n  ```json\n  {\n    "a": 1\n  }\n  ```\n' in filed_in("", note('{\n  "a": 1\n}'))["notes.md"]
    assert '· cline: {"a": 1}\n' in filed_in("", note('{"a": 1}'))["notes.md"]


def test_a_todo_list_keeps_its_own_boxes() -> None:
    assert "- 2026-02-20 · cline:\n  - [ ] a\n  - [x] b\n" in filed_in("", note("- [ ] a\n- [x] b", "todo"))["notes.md"]


@pytest.mark.parametrize("agent", ["", "a: b:", "x\n# y", "\ud800\x00", "· ·", "z" * 500])
def test_an_odd_name_does_not_break_the_entry(agent: str) -> None:
    first = filed([note("Text: with colon.", agent=agent)], [], "")
    lines = first.files[0].content.splitlines()
    assert lines[4].startswith("- 2026-02-20")
    assert lines[4].endswith(": Text: with colon.")
    assert (
        filed([note("Text: with colon.", agent=agent)], [BankFile("notes.md", first.files[0].content)], "").files == ()
    )


# General rules

TEXT = st.text(alphabet=st.characters(codec=None), max_size=60)
BLOCKS = st.sampled_from(
    [
        *["# A", "## Known issues", "### x", "- item", "* 2026-02-20 · cline: x", "- [ ] t", "```", "~~~py", "  ```"],
        *["---", "===", "<!--", "-->", "> q", "> ```", "| a | b |", "", "  ", "\t", "1. n", "text", "  indented"],
        *["    # code", "x\r", "\x0c", "\u2028# z", "- ```", "\u3000```"],
    ]
)
CONTENT = st.one_of(TEXT, st.lists(st.one_of(BLOCKS, TEXT), max_size=12).map("\n".join))
NOTES = st.lists(
    st.builds(
        lambda content, category, agent, tags, minute: Note(
            f"{minute}.md", agent, category, tuple(tags), MORNING + timedelta(minutes=minute), content
        ),
        CONTENT,
        st.sampled_from(Category),
        TEXT,
        st.lists(TEXT, max_size=3),
        st.integers(0, 3000),
    ),
    max_size=6,
)
RULES = st.one_of(
    CONTENT,
    st.sampled_from([(SAMPLES / f"{language}.rules.md").read_text() for language in ("english", "french", "japanese")]),
    st.lists(
        st.one_of(BLOCKS, st.sampled_from(["### progress.md", "- `a.md`: decisions", "| b.md | todo |", "進捗.md"])),
        max_size=12,
    ).map("\n".join),
)
WRITABLE = CONTENT.map(lambda text: text.encode(errors="replace").decode())
BANK = st.dictionaries(
    st.sampled_from(["progress.md", "activeContext.md", "systemPatterns.md", "notes.md", "a.md"]), WRITABLE, max_size=4
).map(lambda files: [BankFile(name, content) for name, content in files.items()])


def is_subsequence(old: list[str], new: list[str]) -> bool:
    rest = iter(new)
    return all(line in rest for line in old)


@settings(deadline=None, max_examples=200)
@given(NOTES, BANK, RULES)
@example([note("")], [], "")
@example([note(" ```0"), note("0", "decision", minute=1)], [], "")
@example([note("x\n```", "issue")], [BankFile("progress.md", "## Known issues\n```")], "### progress.md")
def test_whatever_stands_in_the_bank_stays_and_filing_twice_is_filing_once(
    notes: list[Note], bank: list[BankFile], rules: str
) -> None:
    before = {file.filename: file.content for file in bank}
    proposal = filed(notes, bank, rules)
    for file in proposal.files:
        assert filename(file.filename) == file.filename
        assert is_subsequence(list(before.get(file.filename, "")), list(file.content))
        lines = before.get(file.filename, "").split("\n")
        assert is_subsequence(lines[:-1], file.content.split("\n"))
    assert checked(proposal, bank, rules).unchanged == len(bank) - sum(
        file.filename in before for file in proposal.files
    )
    after = [BankFile(*file) for file in bank_after(proposal, bank).items()]
    assert filed(notes, after, rules).files == ()


@settings(deadline=None, max_examples=100)
@given(NOTES, RULES)
def test_the_order_in_which_notes_are_given_does_not_matter(notes: list[Note], rules: str) -> None:
    apart = {note.filename: note for note in notes}.values()
    assert filed(list(apart), [], rules) == filed(list(apart)[::-1], [], rules)


@settings(deadline=None, max_examples=100)
@given(NOTES, RULES)
def test_no_line_of_a_note_is_a_heading_of_the_page(notes: list[Note], some: str) -> None:
    rules = f"The rules\n{some}"  # without any, the notes would decide in which language headings are
    bare = filed([note("x", category, minute=5000) for category in Category], [], rules)
    known = {line for file in bare.files for line in file.content.split("\n") if line.startswith("#")}
    for file in filed(notes, [], rules).files:
        assert {line for line in file.content.split("\n") if line.startswith("#")} <= known


@pytest.mark.parametrize(
    "hostile",
    [
        *["`" * 50_000, "a" * 50_000, "# " * 25_000, "- " * 25_000, ".md" * 16_000, "|" * 50_000, "\u0301" * 50_000],
        *[" " * 49_990 + "x.md", "x.md " * 10_000, "keep " * 10_000, "(" * 50_000, "[a](" * 12_500, "**" * 25_000],
        *["<!--\n" * 10_000, "1. " * 16_000, "\n" * 50_000, "```\n" * 12_500, "- \n" * 16_000, "=\n" * 25_000],
    ],
    ids=range(19),
)
def test_hostile_texts_take_no_longer_than_their_length_asks(hostile: str) -> None:
    start = process_time()
    proposal = filed([note(hostile), note(hostile, "todo")], [BankFile("x.md", hostile)], hostile)
    checked(proposal, [BankFile("x.md", hostile)], hostile)
    assert process_time() - start < 5


def test_the_table_of_the_guide_is_followed_to_the_letter() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "spaces.md").read_text(encoding="utf-8")
    rules = guide.partition("```markdown\n")[2].partition("```")[0]
    bank = filed_in(rules, *(note(f"a {category.value}", category.value) for category in Category))
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in rules.splitlines() if line[:1] == "|"]
    for category, file, section in rows[2:]:
        below = bank[file].partition(f"## {section}\n")[2].partition("\n## ")[0]
        assert f"a {category}\n" in below, (category, file, section)
