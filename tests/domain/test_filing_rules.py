"""Rules as people write them, and the file and heading that they name for each category."""

import re

import pytest

from commonplace.domain.bank import Category, Note
from tests.domain.test_filing import SAMPLES, filed_in, note

SIX = "projectbrief productContext activeContext systemPatterns techContext progress".split()


def one_of_each() -> list[Note]:
    return [note(f"A {category} here.", category, minute=n) for n, category in enumerate(Category)]


def places(rules: str) -> dict[str, str]:
    """For each category, the file and the heading under which its note was put."""
    found = {}
    for name, content in filed_in(rules, *one_of_each()).items():
        heading = ""
        for line in content.splitlines():
            heading = line.lstrip("# ") if line.startswith("#") else heading
            for category in Category:
                if f"A {category} here." in line:
                    found[category.value] = f"{name} > {heading}"
    return found


def test_english_rules_in_lists_name_file_and_heading() -> None:
    assert places((SAMPLES / "english.rules.md").read_text()) == {
        "observation": "activeContext.md > Observations",
        "decision": "systemPatterns.md > Key technical decisions",
        "todo": "progress.md > What's left to build",
        "insight": "activeContext.md > Learnings and project insights",
        "question": "activeContext.md > Open questions",
        "progress": "progress.md > Current status",
        "issue": "progress.md > Known issues",
    }


def test_french_rules_with_sections_and_skeletons_name_file_and_heading() -> None:
    assert places((SAMPLES / "french.rules.md").read_text()) == {
        "observation": "activeContext.md > Constats récents",
        "decision": "systemPatterns.md > Décisions techniques",
        "todo": "progress.md > Reste à faire",
        "insight": "systemPatterns.md > Enseignements",
        "question": "activeContext.md > Questions ouvertes",
        "progress": "progress.md > État d'avancement",
        "issue": "progress.md > Problèmes connus",
    }


def test_japanese_rules_in_a_table_name_file_and_heading() -> None:
    assert places((SAMPLES / "japanese.rules.md").read_text()) == {
        "observation": "activeContext.md > 観察",
        "decision": "systemPatterns.md > 技術的な決定事項",
        "todo": "progress.md > 残作業",
        "insight": "systemPatterns.md > 知見",
        "question": "activeContext.md > 未解決の質問",
        "progress": "progress.md > 進捗状況",
        "issue": "progress.md > 既知の問題",
    }


def test_a_sentence_below_each_name_is_enough() -> None:
    rules = """# Rules
### activeContext.md
Current focus, work in progress, recent decisions, next steps.
### progress.md
What works, what remains to build, known issues.
### systemPatterns.md
Architecture, patterns, technical decisions, components.
### productContext.md
Why this project exists, problems solved, user experience.
"""
    assert places(rules) == {
        "observation": "activeContext.md > Observations",
        "decision": "systemPatterns.md > Technical decisions",
        "todo": "progress.md > What remains to build",
        "insight": "systemPatterns.md > Patterns",
        "question": "activeContext.md > Open questions",
        "progress": "progress.md > What works",
        "issue": "progress.md > Known issues",
    }


def test_a_tree_of_files_is_read() -> None:
    rules = """
```
memory-bank/
├── activeContext.md    # current focus, next steps
├── systemPatterns.md   # architecture, decisions
└── progress.md         # status, known issues
```
"""
    found = places(rules)
    assert found["decision"] == "systemPatterns.md > Decisions"
    assert found["todo"] == "activeContext.md > Next steps"
    assert found["progress"] == "progress.md > Status"
    assert found["issue"] == "progress.md > Known issues"


def test_rules_may_say_in_so_many_words_where_a_category_goes() -> None:
    rules = """
- Decisions go to `decisions.md` under "Taken".
- `todo` → tasks.md > Open
- Questions and issues are filed in log.md
- observation, insight → journal.md
- progress notes belong in log.md (section « Done »)
"""
    assert places(rules) == {
        "decision": "decisions.md > Taken",
        "todo": "tasks.md > Open",
        "question": "log.md > Open questions",
        "issue": "log.md > Known issues",
        "observation": "journal.md > Observations",
        "insight": "journal.md > Insights",
        "progress": "log.md > Done",
    }


def test_a_table_of_categories_is_followed_to_the_letter() -> None:
    rules = """
| Category | File | Heading |
|---|---|---|
| decision | decisions.md | Log |
| todo, question | backlog.md | Open |
| issue | backlog.md | Bugs |
| observation | journal.md | |
| insight | journal.md | Learned |
| progress | journal.md | Done |
"""
    assert places(rules) == {
        "decision": "decisions.md > Log",
        "todo": "backlog.md > Open",
        "question": "backlog.md > Open",
        "issue": "backlog.md > Bugs",
        "observation": "journal.md > Observations",
        "insight": "journal.md > Learned",
        "progress": "journal.md > Done",
    }


def test_a_file_for_one_category_needs_no_heading_beside_its_title() -> None:
    rules = "- decisions.md\n- todo.md\n- journal.md: observations, insights, questions, progress, issues\n"
    bank = filed_in(rules, note("We use Rust.", "decision"), note("Ship it.", "todo"))
    assert bank["decisions.md"] == "# Decisions\n\n- 2026-02-20 · cline: We use Rust.\n"
    assert bank["todo.md"] == "# Todo\n\n- [ ] 2026-02-20 · cline: Ship it.\n"


def test_names_in_other_scripts_are_read_out_of_running_text() -> None:
    found = places("決定は`決定.md`に、進捗は進捗.mdに書く。問題と質問は課題メモ.mdへ書く。")
    assert found["decision"] == "決定.md > 決定"
    assert found["progress"] == "進捗.md > 進捗"
    assert found["issue"] == "課題メモ.md > 既知の問題"
    assert found["question"] == "課題メモ.md > 未解決の質問"


def test_chinese_and_korean_rules_are_understood() -> None:
    chinese = """
| 文件 | 用途 |
|---|---|
| `systemPatterns.md` | 架构、设计模式、关键技术决策 |
| `activeContext.md` | 当前工作、近期变化 |
| `progress.md` | 已完成、待办、已知问题 |
"""
    assert places(chinese) == {
        "observation": "activeContext.md > 观察",
        "decision": "systemPatterns.md > 关键技术决策",
        "todo": "progress.md > 待办",
        "insight": "systemPatterns.md > 设计模式",
        "question": "activeContext.md > 待确认",
        "progress": "progress.md > 已完成",
        "issue": "progress.md > 已知问题",
    }
    korean = (
        "### progress.md\n- 진행 상황\n- 남은 작업\n- 알려진 문제\n### systemPatterns.md\n- 주요 기술 결정\n- 배운 점\n"
    )
    found = places(korean)
    assert found["todo"] == "progress.md > 남은 작업"
    assert found["decision"] == "systemPatterns.md > 주요 기술 결정"
    assert found["insight"] == "systemPatterns.md > 배운 점"


@pytest.mark.parametrize("rules", ["", "Keep everything tidy.", "See README.md and https://example.org/guide.md"])
def test_rules_that_name_no_file_make_one_page_of_notes(rules: str) -> None:
    bank = filed_in(rules, *one_of_each())
    assert list(bank) == ["notes.md"]
    assert re.findall("^## .*", bank["notes.md"], re.MULTILINE) == [
        "## Observations",
        "## Decisions",
        "## To do",
        "## Insights",
        "## Open questions",
        "## Progress",
        "## Known issues",
    ]


def test_the_six_usual_files_are_known_without_their_ending() -> None:
    found = places("## projectbrief\nGoals.\n## activeContext\nFocus, next steps.\n## progress\nStatus.\n")
    assert found["todo"] == "activeContext.md > Next steps"
    assert found["progress"] == "progress.md > Status"


def test_a_file_that_is_only_named_gets_what_people_look_for_in_it() -> None:
    found = places("Files: " + ", ".join(f"{name}.md" for name in SIX))
    assert found == {
        "observation": "activeContext.md > Observations",
        "decision": "systemPatterns.md > Decisions",
        "todo": "progress.md > To do",
        "insight": "systemPatterns.md > Insights",
        "question": "activeContext.md > Open questions",
        "progress": "progress.md > Progress",
        "issue": "progress.md > Known issues",
    }


def test_what_rules_say_of_keeping_a_file_is_not_taken_for_what_is_in_it() -> None:
    rules = """
### activeContext.md

**Purpose:** Snapshot of current work, blockers, and recent activity.

**Key sections:**

- Current Focus: What's being worked on right now
- Active Blockers: Problems blocking progress with severity and workarounds
- Next Steps: Immediate priorities

**Use cases:**

- Documenting why decisions were made in recent work
- Never delete an issue

### decisionLog.md

**Purpose:** Architectural decisions and rationale.
"""
    found = places(rules)
    assert found["issue"] == "activeContext.md > Active Blockers"
    assert found["todo"] == "activeContext.md > Next Steps"
    assert found["decision"] == "decisionLog.md > Architectural decisions and rationale"


def test_orders_name_headings_by_what_they_are_about() -> None:
    rules = "#### activeContext.md\n- Update next steps and priorities\n- Documente les décisions prises\n"
    found = places(rules)
    assert found["todo"] == "activeContext.md > Next steps and priorities"
    assert found["decision"] == "activeContext.md > Décisions prises"


def test_headings_written_out_in_a_table_are_sketches() -> None:
    rules = "| File | Sections |\n|---|---|\n| `a.md` | `## Focus`, `## Tasks`, `## Last Updated` |\n"
    assert (
        filed_in(rules, note("Do it.", "todo"))["a.md"]
        == "# A\n\n## Focus\n\n## Tasks\n\n- [ ] 2026-02-20 · cline: Do it.\n"
    )


def test_a_diagram_of_the_files_says_nothing_of_what_is_in_them() -> None:
    rules = "```mermaid\nflowchart TD\n  A[decisions.md] --> B[issues.md]\n```\n- log.md\n"
    assert set(filed_in(rules, *one_of_each())) == {"log.md"}
