"""記憶管理: export and import."""

import csv
import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from uuid import uuid4
from zoneinfo import ZoneInfo

import pytest

from commonplace.bootstrap import build
from commonplace.dialects.assoc import formats
from commonplace.domain.access import Permission
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.assoc.speech import AssocConversation, refusal, spoken_to
from tests.dialects.conversation import unique
from tests.fakes import Clock, Embedder

pytestmark = pytest.mark.anyio
behaviour = pytest.mark.behaviour

ABSENT = "01890a5d-ac96-774b-bcce-b302099a8057"
HOSTILE = (
    "=1+1", "+A1", "-A1", "@SUM(A1)", "\t=1", "\r=1", "'=quoted", "''", "＝全角", "\n=newline",
    'a "quoted", cell', "two\r\nlines", "<!-- memory {}", "x -->\ny", "<!-- memory {\"length\": 0} -->\n", "# Memories",
    "--><script>alert(1)</script>", "日本語 한국어 中文 العربية \u202e", "trailing \n", "x\u2028\u2029\x85\x1cy",
)  # fmt: skip


@asynccontextmanager
async def another(folder: Path, clock: Clock) -> AsyncIterator[AssocConversation]:
    """A conversation with an empty store of its own."""
    settings = Settings(data_dir=str(folder), timezone="Asia/Seoul")
    engine = build(settings, model=Embedder(), clock=clock, zone=ZoneInfo("Asia/Seoul"))
    try:
        async with spoken_to(engine, settings) as talk:
            yield talk
    finally:
        await engine.close()


async def _fill(talk: AssocConversation) -> None:
    project = await talk.project()
    await talk.project()
    await talk.call("user", action="create_session", session_name="夜")
    first = await talk.store("an elephant in the garden", tags=["動物", "a,b"], category="c", importance=0.9)
    await talk.store("an elephant in the garden again", associate_with=[first])
    await talk.store("for everyone", domain="global")
    await talk.store("in the project", domain="project", project_id=project)
    await talk.store("in the session", domain="session")
    for text in HOSTILE:
        await talk.store(text, tags=[text.strip() or "x"], category=text.strip())
    await talk.call("memory", action="update", memory_id=first, content="an elephant, no longer in the garden")


async def _export(talk: AssocConversation, form: str = "json", **more: object) -> str:
    return str((await talk.call("memory_manage", action="export", export_format=form, **more))["exported_data"])


@behaviour("assoc.export.answer")
async def test_an_export_is_the_data_its_form_and_its_time(talk: AssocConversation) -> None:
    project = await talk.project()
    await talk.store("一つ", domain="project", project_id=project)
    for form in ("json", "csv", "markdown"):
        body = await talk.told("memory_manage", action="export", export_format=form, project_id=project)
        assert set(body["data"]) == {
            "exported_data", "format", "exported_at", "count", "associations_left_out", "total", "has_more"
        }  # fmt: skip
        assert (body["data"]["format"], body["data"]["count"], body["data"]["total"]) == (form, 1, 1)
        assert "一つ" in body["data"]["exported_data"]
        assert body["message"] == "1件の記憶をエクスポートしました"
    assert (await talk.call("memory_manage", action="export", project_id=project))["format"] == "json"


@behaviour("assoc.export.lossless")
async def test_json_comes_back_from_an_empty_store_as_it_went_in(
    local: AssocConversation, tmp_path: Path, clock: Clock
) -> None:
    await _fill(local)
    exported = await _export(local)
    async with another(tmp_path / "other", clock) as talk:
        body = await talk.told("memory_manage", action="import", import_data=exported)
        assert body["data"]["imported_count"] == len(json.loads(exported)["memories"])
        assert await _export(talk) == exported
        projects = await talk.call("project", action="list")
        assert {one["project_id"] for one in projects["projects"]} == {
            one["project_id"] for one in (await local.call("project", action="list"))["projects"]
        }


@behaviour("assoc.export.round_trip")
@pytest.mark.parametrize("form", ["csv", "markdown"])
async def test_texts_come_back_from_csv_and_markdown_to_the_letter(
    local: AssocConversation, tmp_path: Path, clock: Clock, form: str
) -> None:
    for text in HOSTILE:
        await local.store(text, tags=[text.strip() or "x"], category=text.strip())
    exported = await _export(local, form)
    async with another(tmp_path / "other", clock) as talk:
        body = await talk.told("memory_manage", action="import", import_data=exported)
        assert body["data"]["imported_count"] == len(HOSTILE)
        before, after = json.loads(await _export(local)), json.loads(await _export(talk))
        assert before["memories"] == after["memories"]


@behaviour("assoc.export.formulas")
async def test_no_cell_of_a_csv_is_a_formula(local: AssocConversation) -> None:
    for text in HOSTILE:
        await local.store(text, category=text.strip())
    rows = list(csv.reader(io.StringIO(await _export(local, "csv"), newline="")))
    assert len(rows) == len(HOSTILE) + 1
    assert not [cell for row in rows for cell in row if cell.startswith(("=", "+", "-", "@", "\t", "\r", "\n", "＝"))]


@behaviour("assoc.import.idempotent")
@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
async def test_a_second_import_changes_nothing(local: AssocConversation, form: str) -> None:
    await _fill(local)
    exported = await _export(local, form)
    before = await _export(local)
    body = await local.told("memory_manage", action="import", import_data=exported)
    count = len(json.loads(before)["memories"])
    assert (body["data"]["imported_count"], body["data"]["skipped_count"]) == (0, count)
    assert body["message"] == f"0件をインポートしました (省略: {count}件)"
    assert {line["result"] for line in body["data"]["report"]} == {"省略しました: すでにここにあります"}
    assert await _export(local) == before


@behaviour("assoc.import.differing")
@pytest.mark.parametrize("form", ["json", "csv", "markdown"])
async def test_what_is_here_and_says_something_else_is_told_field_by_field(local: AssocConversation, form: str) -> None:
    same, text, labels = [await local.store(word, tags=["t"], category="c") for word in ("same", "text", "labels")]
    exported, project = await _export(local, form), await local.project()
    await local.call("memory", action="update", memory_id=text, content="other text")
    await local.call("memory", action="update", memory_id=labels, tags=["t", "u"], category="d", importance=0.9)
    move = {"action": "change_domain", "new_domain": "project", "project_id": project}
    await local.call("memory_manage", memory_ids=[text], **move)
    body = await local.told("memory_manage", action="import", import_data=exported)
    counts = ("imported", "skipped", "identical", "differing", "expired", "error")
    assert [body["data"][f"{name}_count"] for name in counts] == [0, 3, 1, 2, 0, 0]
    assert body["message"] == (
        "0件をインポートしました (省略: 3件。内訳: 同じ内容 1件、内容が異なる 2件) "
        "(ここにある記憶は変えていません。異なるフィールドは differing で確認できます)"
    )
    told = {one["memory_id"]: one["fields"] for one in body["data"]["differing"]}
    assert told == {text: ["content", "domain"], labels: ["tags", "category", "importance"]}
    results = {line["memory_id"]: line["result"] for line in body["data"]["report"]}
    assert results[same] == "省略しました: すでにここにあります"
    assert results[text] == "省略しました: すでにここにあり、内容が異なります"
    assert (await local.get(text))["content"] == "other text"


@behaviour("assoc.import.differing")
async def test_what_an_entry_does_not_say_does_not_differ(local: AssocConversation) -> None:
    kept = await local.store("kept", tags=["t"], category="c", importance=0.9)
    entries = [{"memory_id": kept, "content": "kept"}, {"content": "new"}]
    body = await local.told("memory_manage", action="import", import_data=json.dumps(entries))
    assert body["message"] == "1件をインポートしました (省略: 1件)"
    assert (body["data"]["identical_count"], body["data"]["differing"]) == (1, [])


@behaviour("assoc.import.idempotent")
async def test_entries_without_an_id_are_known_by_what_they_say(talk: AssocConversation) -> None:
    entries = json.dumps([{"content": unique()}, {"content": unique(), "tags": ["x"], "importance": 1}])
    body = await talk.told("memory_manage", action="import", import_data=entries)
    assert (body["data"]["imported_count"], body["message"]) == (2, "2件をインポートしました")
    again = await talk.call("memory_manage", action="import", import_data=entries)
    assert (again["imported_count"], again["skipped_count"]) == (0, 2)
    first = await talk.get(body["data"]["report"][0]["memory_id"])
    assert first["domain"] == "user"
    assert not first["created_at"].startswith("1970")


@behaviour("assoc.import.report")
async def test_an_import_is_reported_line_by_line(talk: AssocConversation) -> None:
    word = unique()
    entries = [{"content": f"{word} {number}"} for number in range(101)] + [{"content": f"{word} 0"}]
    data = await talk.call("memory_manage", action="import", import_data=json.dumps(entries))
    assert set(data) == {
        "imported_count", "skipped_count", "identical_count", "differing_count", "expired_count",
        "error_count", "errors", "errors_left_out", "report", "report_left_out", "differing", "differing_left_out",
        "not_taken", "associations_not_taken",
        "odd_times", "odd_times_left_out",
    }  # fmt: skip
    assert (data["imported_count"], data["skipped_count"], data["error_count"], data["errors"]) == (101, 1, 0, [])
    assert data["report"][0] | {"memory_id": ""} == {"line": 1, "memory_id": "", "result": "取り込みました"}
    assert (len(data["report"]), data["report_left_out"]) == (100, 2)


def _with(**fields: object) -> str:
    return json.dumps([{"content": "good"}, {"content": "bad", **fields}])


FAULTS = (
    ("nonsense", "記憶の一覧として読み取れません"),
    ("{", "正しいJSONではありません"),
    ("[" * 100_000, "import_data: 入れ子が深すぎます"),
    ("{}", "記憶の配列か"),
    ('{"memories": 5}', "記憶の配列か"),
    ('{"memories": [], "associations": 5}', "import_data.associations: 配列で指定してください"),
    (
        '{"memories": [], "associations": [5]}',
        "import_data.associations: 1件目: 読み取れません (必要なもの: from_memory_id",
    ),
    (
        '{"memories": [], "associations": [{"strength": 2}]}',
        "import_data.associations: 1件目: strength は0から1までの値で指定してください (指定値: 2.0)",
    ),
    (
        json.dumps({"memories": [{}], "associations": [{"strength": 2}, 5], "places": [5]}),
        "import_data.associations: 2件目: 読み取れません (必要なもの: from_memory_id, to_memory_id "
        "と0から1までの strength。type は semantic, temporal, manual のいずれか); "
        "import_data.places: 1件目: 読み取れません (必要なもの: id, name, kind は project か session); "
        "1件目: content: 必須です",
    ),
    (
        '{"memories": [], "associations": [{"strength": 1, "created_at": "x"}]}',
        "import_data.associations.created_at: 1件目: 'x'",
    ),
    ('{"memories": [], "places": [{}]}', "import_data.places: 1件目: 読み取れません (必要なもの: id"),
    (
        '{"memories": [], "places": [{"id": "x", "kind": "user", "name": "x"}]}',
        "import_data.places.id: 1件目: プロジェクトでもセッションでもない要素",
    ),
    (
        json.dumps({"memories": [{"content": " "}], "places": [{"id": ABSENT, "kind": "session", "name": "s"}]}),
        "import_data.places.ends_at: 1件目: セッションには終わりが必要です; 1件目: content: 空や空白だけには",
    ),
    ("[5]", "1件目: オブジェクトではありません"),
    ("[{}]", "1件目: content: 必須です"),
    (_with(content=" "), "2件目: content: 空や空白だけにはできません"),
    (_with(content="\ud800"), "2件目: content: 正しいUnicodeではありません"),
    (_with(content="x\x00"), "2件目: content: NUL文字 (U+0000) は使えません"),
    (_with(category="\ud800"), "2件目: category: 正しいUnicodeではありません"),
    (_with(author="\ud800"), "2件目: author: 正しいUnicodeではありません"),
    (_with(metadata={"a": "\ud800"}), "2件目: metadata: 正しいUnicodeではありません"),
    (_with(metadata={"a": float("nan")}), "2件目: metadata: JSONで表せない数値"),
    (_with(metadata=[1]), "2件目: metadata: オブジェクトで指定してください"),
    (
        _with(colour="red"),
        "2件目: colour: 記憶のフィールドではありません。使えるフィールド: memory_id, content, domain, ",
    ),
    (_with(memory_id="x"), "2件目: memory_id: 'x' はUUIDではありません"),
    (_with(memory_id=5), "2件目: memory_id: 文字列で指定してください"),
    (_with(domain="team"), "2件目: domain: 'team' は使えません"),
    (_with(domain="project"), "2件目: project_id: このドメインでは必須です"),
    (_with(domain="project", project_id=ABSENT), f"2件目: project_id: プロジェクトが見つかりません: '{ABSENT}'"),
    (_with(domain="session", session_id=ABSENT), f"2件目: session_id: セッションが見つかりません: '{ABSENT}'"),
    (_with(tags="x"), "2件目: tags: 文字列の配列で指定してください"),
    (_with(tags=[""]), "2件目: tags: 空や空白だけの要素は含められません"),
    (_with(importance=2), "2件目: importance: 0.0から1.0までの数値を指定してください"),
    (_with(importance="high"), "2件目: importance: 数値で指定してください"),
    (_with(importance=True), "2件目: importance: 数値で指定してください"),
    (_with(access_count=-1), "2件目: access_count: 0以上の"),
    (_with(access_count=2**64), "2件目: access_count: 0以上の、数えられる範囲の値"),
    (_with(access_count=1e308), "2件目: access_count: 0以上の、数えられる範囲の値"),
    (
        _with(created_at="yesterday"),
        "2件目: created_at: 'yesterday' は日時ではありません。2024-01-01T00:00:00Z のように",
    ),
    (_with(created_at="x" * 100_000), "2件目: created_at: 'xxx"),
    (
        _with(created_at="0001-01-01T00:00:00+14:00"),
        "2件目: created_at: '0001-01-01T00:00:00+14:00' は日時ではありません",
    ),
    (_with(created_at="1969-01-01"), "2件目: created_at: 1970年から9998年までの日時"),
    (_with(expires_at="1980-01-01"), "2件目: expires_at: created_at より後の日時"),
    ("content,tags\r\nx,notalist\r\n", "1件目: tags: 'notalist' は読み取れません。"),
    ("content,importance\r\nx,much\r\n", "1件目: importance: 'much' は読み取れません。0から1までの数値"),
    ("content\r\nx,y\r\n", "1件目: 列より多くのセルがあります"),
    ("content,tags\r\nx,[]\r\ny", "2件目: セルが列より少なく、途中で切れている"),
    (
        '[{"content": "good"}, {"content": ""}, {"text": "x"}]',
        "2件目: content: 空や空白だけにはできません; 3件目: text: 記憶のフィールド",
    ),
    ("content,colour\r\nx,y\r\n", "1件目: colour: 記憶のフィールドではありません"),
    ("<!-- memory {} -->\n", "1件目の記憶のコメントを読み取れません"),
    ("<!-- memory ", "1件目の記憶のコメントが閉じられていません"),
    ('<!-- memory {"length": 1} -->\nx\n<!-- memory ', "2件目の記憶のコメントが閉じられていません"),
    ('<!-- memory {"length": 1e999} -->\n', "1件目の記憶のコメントを読み取れません"),
    ("", "import_data: 空か空白だけです。action 'import' では必須です"),
    ("# Memories\n\n## one\n\nwritten by hand\n", "Markdownは export のまま渡してください"),
    (json.dumps([{"content": "x"}] * 10_001), "import_data.memories: 10001件あります。一度に取り込めるのは10000件まで"),
)


@behaviour("assoc.import.faults")
async def test_with_one_fault_nothing_is_imported(local: AssocConversation) -> None:
    for data, reason in FAULTS:
        said = await local.invalid("memory_manage", action="import", import_data=data)
        assert reason in said, (data[:80], said)
        assert len(said) < 3000
        assert (await local.call("memory_manage", action="stats"))["total_memories"] == 0
    assert (await local.call("project", action="list"))["projects"] == []


@behaviour("assoc.import.faults")
async def test_every_fault_is_named_up_to_twenty(local: AssocConversation) -> None:
    said = await local.invalid("memory_manage", action="import", import_data=json.dumps([{}] * 25))
    assert said.startswith("何も取り込みませんでした。1件目: content")
    assert "20件目: " in said
    assert said.endswith("; 他5件")


@behaviour("assoc.import.refused")
async def test_a_refused_import_is_reported_like_one_that_was_done(local: AssocConversation) -> None:
    entries = [{"content": "good"}, *[{}] * 101]
    for data, count, line, field, reason in (
        (json.dumps(entries), 101, 2, "content", "2件目: content: 必須です。文字列で指定してください"),
        (_with(importance=2), 1, 2, "importance", "2件目: importance: 0.0から1.0までの数値を指定してください"),
        (
            _with(domain="project", project_id=ABSENT),
            1,
            2,
            "project_id",
            "2件目: project_id: プロジェクトが見つかりません",
        ),
        ("[5]", 1, 1, None, "1件目: オブジェクトではありません"),
        ("{", 1, 0, "import_data", "import_data: 正しいJSONではありません"),
    ):
        report = refusal(await local.answer("memory_manage", action="import", import_data=data))["data"]
        assert set(report) == {"imported_count", "skipped_count", "error_count", "errors", "errors_left_out"}
        assert (report["imported_count"], report["skipped_count"], report["error_count"]) == (0, 0, count)
        assert (report["errors"][0]["line"], report["errors"][0]["field"]) == (line, field)
        assert report["errors"][0]["reason"].startswith(reason)
        assert len(report["errors"]) + report["errors_left_out"] == count
        assert len(report["errors"]) <= 100


@behaviour("assoc.import.places")
@pytest.mark.parametrize("form", ["csv", "markdown"])
async def test_memories_of_a_project_that_is_not_here_say_what_to_do(
    local: AssocConversation, tmp_path: Path, clock: Clock, form: str
) -> None:
    project = await local.project()
    await local.store("一つ", domain="project", project_id=project)
    await local.store("二つ", domain="project", project_id=project)
    exported = await _export(local, form, project_id=project)
    async with another(tmp_path / "other", clock) as talk:
        said = await talk.invalid("memory_manage", action="import", import_data=exported)
        assert f"2件目: project_id: プロジェクトが見つかりません: '{project}'。ここにあるはずなら、所有者に" in said
        assert "project の add_member で editor として追加" in said
        assert said.count("ここで作成して") == 1
        here = await talk.project()
        report = await talk.call("memory_manage", action="import", import_data=exported.replace(project, here))
        assert report["imported_count"] == 2


@behaviour("assoc.import.places")
async def test_a_project_comes_along_in_json_without_its_members(
    engine: Engine, local: AssocConversation, tmp_path: Path, clock: Clock
) -> None:
    await engine.access.create_key("花子", frozenset({Permission.READ}), user="花子")
    project = await local.project(花子="editor")
    await local.store(domain="project", project_id=project)
    exported = await _export(local, project_id=project)
    assert "花子" not in exported
    async with another(tmp_path / "other", clock) as talk:
        await talk.call("memory_manage", action="import", import_data=exported)
        (member,) = (await talk.call("project", action="get", project_id=project))["members"]
        assert (member["name"], member["owner"]) == ("owner", True)


@behaviour("assoc.import.faults")
async def test_a_form_that_is_named_is_the_form_that_is_read(talk: AssocConversation) -> None:
    word = unique()
    said = await talk.invalid(
        "memory_manage", action="import", import_data=f"content\r\n{word}\r\n", export_format="json"
    )
    assert "正しいJSONではありません" in said
    await talk.call("memory_manage", action="import", import_data=f"content\r\n{word}\r\n", export_format="csv")
    assert len(await talk.finds(word)) == 1


@behaviour("assoc.import.faults")
async def test_a_csv_that_is_cut_off_is_refused(talk: AssocConversation) -> None:
    word = unique()
    said = await talk.invalid("memory_manage", action="import", import_data=f'content,category\r\n"{word} cut off in')
    assert said.startswith(
        "何も取り込みませんでした。import_data: 正しいCSVではありません。1行目に content を含む列名を、"
        "2行目から記憶を1行ずつ書いてください (詳細: unexpected end of data"
    )
    assert await talk.finds(word) == []


@behaviour("assoc.import.nothing")
async def test_nothing_is_imported_from_a_list_that_is_empty_in_every_form(local: AssocConversation) -> None:
    exported = [await _export(local, form) for form in ("json", "csv", "markdown")]
    for data in (*exported, "[]", '{"memories": []}', "content", "\ufeff# Memories"):
        body = await local.told("memory_manage", action="import", import_data=data)
        assert (body["data"]["imported_count"], body["data"]["report"]) == (0, []), data
        assert body["message"] == "0件をインポートしました (データに記憶がありません)"
    for form, data in zip(("json", "csv", "markdown"), exported, strict=True):
        named = await local.call("memory_manage", action="import", import_data=data, export_format=form)
        assert named["imported_count"] == 0


@behaviour("assoc.import.nothing")
async def test_a_text_of_no_form_is_refused_in_every_form_with_what_is_expected(local: AssocConversation) -> None:
    for form, said in (
        ("json", "記憶の配列か、`memories` を持つオブジェクトで指定してください"),
        ("csv", "CSVは1行目に content を含め"),
        ("markdown", "取り込めるMarkdownは `export` が作ったものだけです"),
        (None, "Markdownは export のまま渡してください"),
    ):
        for data in ("hello", "# Memories of mine\n\nhello"):
            told = await local.invalid("memory_manage", action="import", import_data=data, export_format=form)
            assert said in told, (form, told)
        for data in ("", " \n"):
            told = await local.invalid("memory_manage", action="import", import_data=data, export_format=form)
            assert told == f"import_data: 空か空白だけです。action 'import' では必須です。{formats.FORMS}"


@behaviour("assoc.import.faults")
async def test_an_answer_around_a_csv_is_none(local: AssocConversation) -> None:
    await local.store("kept")
    body = await local.told("memory_manage", action="export", export_format="csv")
    for whole in (body, body["data"]):
        for spaced in (None, 1):
            data = json.dumps(whole, indent=spaced)
            said = await local.invalid("memory_manage", action="import", import_data=data, export_format="csv")
            assert "1行目に" in said
            assert "content" in said
    header = body["data"]["exported_data"].splitlines()[0]
    for empty in (header, "content", "content,,\r\n", "id,content,version\r\n"):
        data = await local.call("memory_manage", action="import", import_data=empty, export_format="csv")
        assert data["imported_count"] == 0, empty


@behaviour("assoc.import.guessed")
async def test_the_form_is_told_by_the_data(talk: AssocConversation) -> None:
    for number, data in enumerate(
        (
            '\ufeff[{"content": "MARK json"}]',
            '\ufeffcontent,category\r\n"MARK <!-- memory csv",x\r\n',
            '# Memories\n\n<!-- memory {"length": 13} -->\nMARK markdown\n',
        )
    ):
        word = unique()
        report = await talk.call("memory_manage", action="import", import_data=data.replace("MARK", word[:4]))
        assert report["imported_count"] == 1, number


@behaviour("assoc.import.authors")
async def test_another_author_is_kept_beside_and_comes_out_again(talk: AssocConversation) -> None:
    word = unique()
    project = await talk.project()
    entry = {"content": word, "author": "花子", "domain": "project", "project_id": project}
    report = await talk.call("memory_manage", action="import", import_data=json.dumps([entry]))
    whole = await talk.get(report["report"][0]["memory_id"])
    assert whole["metadata"] == {"imported_author": "花子"}
    assert whole["author_id"] == (await talk.call("user", action="get_current"))["user_id"]
    (exported,) = json.loads(await _export(talk, project_id=project))["memories"]
    assert (exported["author"], exported["metadata"]) == ("花子", {})


@behaviour("assoc.import.not_taken")
async def test_a_record_as_the_reference_has_it_is_taken_without_its_owner_and_its_vector(
    talk: AssocConversation,
) -> None:
    shown = await talk.get(await talk.store())
    del shown["memory_id"]
    record = shown | {"content": unique(), "author_id": "someone", "user_id": "someone", "embedding": [0.1, 0.2]}
    body = await talk.told("memory_manage", action="import", import_data=json.dumps([record]))
    assert body["data"]["not_taken"] == ["author_id", "user_id", "embedding", "version"]
    assert body["message"] == (
        "1件をインポートしました (取り込まないフィールド: author_id, user_id, embedding, version)"
    )
    kept = await talk.get(body["data"]["report"][0]["memory_id"])
    me = (await talk.call("user", action="get_current"))["user_id"]
    assert (kept["content"], kept["author_id"], kept["user_id"]) == (record["content"], me, me)
    again = await talk.call("memory_manage", action="import", import_data=json.dumps([{"content": unique()}]))
    assert again["not_taken"] == []


@behaviour("assoc.import.over")
async def test_what_has_ended_on_the_way_is_left_out(local: AssocConversation) -> None:
    entries = {
        "memories": [
            {"content": "a", "created_at": "2025-01-01", "expires_at": "2025-01-02"},
            {"content": "b", "domain": "session", "session_id": ABSENT, "created_at": "2025-01-01"},
        ],
        "places": [{"id": ABSENT, "kind": "session", "name": "s", "ends_at": "2025-01-02"}],
    }
    report = await local.call("memory_manage", action="import", import_data=json.dumps(entries))
    assert (report["imported_count"], report["skipped_count"]) == (0, 2)
    assert {line["result"] for line in report["report"]} == {"省略しました: 期限が過ぎています"}
    assert (await local.call("user", action="get_sessions"))["sessions"] == []


TIMES = (
    ("2024-03-01", "2024-02-29T15:00:00Z", "2124-03-01T14:59:59Z"),
    ("20240301", "2024-02-29T15:00:00Z", "2124-03-01T14:59:59Z"),
    ("2024-03-01T09:30:00", "2024-03-01T09:30:00Z", "2124-03-01T09:30:00Z"),
    ("2024-03-01 09:30", "2024-03-01T09:30:00Z", "2124-03-01T09:30:00Z"),
    ("2024-03-01T09:30:00+09:00", "2024-03-01T00:30:00Z", "2124-03-01T00:30:00Z"),
    ("2024-03-01T00:00:00Z", "2024-03-01T00:00:00Z", "2124-03-01T00:00:00Z"),
)


@behaviour("assoc.import.days")
@pytest.mark.parametrize(("written", "began", "ends"), TIMES, ids=[one[0] for one in TIMES])
async def test_a_day_alone_is_the_callers_and_a_time_without_a_zone_is_utc(
    local: AssocConversation, written: str, began: str, ends: str
) -> None:
    end = written.replace("2024", "2124")
    entry = {"created_at": written, "updated_at": written, "last_access": written, "expires_at": end, "access_count": 1}
    cells = {name: str(value) for name, value in entry.items()}
    sheet = ",".join(("content", *cells)) + "\r\n" + ",".join(("in csv", *cells.values())) + "\r\n"
    for brought in (json.dumps([{"content": "in json", **entry}]), sheet):
        report = await local.call("memory_manage", action="import", import_data=brought)
        kept = await local.get(report["report"][0]["memory_id"])
        assert (kept["created_at"], kept["updated_at"], kept["expires_at"]) == (began, began, ends)
    used = [one["last_access"] for one in json.loads(await _export(local))["memories"]]
    assert used == [began.replace("Z", ".000000Z")] * 2


@behaviour("assoc.import.days")
async def test_the_days_of_ties_and_places_are_the_callers_too(local: AssocConversation) -> None:
    ids, session = [str(uuid4()), str(uuid4())], str(uuid4())
    whole = {
        "memories": [{"memory_id": one, "content": one, "created_at": "2026-01-15"} for one in ids],
        "associations": [{"from_memory_id": ids[0], "to_memory_id": ids[1], "strength": 1, "created_at": "2026-01-14"}],
        "places": [
            {"id": session, "kind": "session", "name": "s", "created_at": "2026-01-15", "ends_at": "2026-01-15"}
        ],
    }
    await local.call("memory_manage", action="import", import_data=json.dumps(whole))
    brought = json.loads(await _export(local))
    assert brought["associations"][0]["created_at"] == "2026-01-13T15:00:00.000000Z"
    (place,) = brought["places"]
    assert (place["created_at"], place["ends_at"]) == ("2026-01-14T15:00:00.000000Z", "2026-01-15T14:59:59.999999Z")


@behaviour("assoc.import.days")
async def test_the_first_day_of_all_is_taken_wherever_the_caller_is(local: AssocConversation) -> None:
    """In Seoul it begins while it is still 1969 in UTC."""
    entries = json.dumps([{"content": "long ago", "created_at": "1970-01-01"}])
    report = await local.call("memory_manage", action="import", import_data=entries)
    assert (await local.get(report["report"][0]["memory_id"]))["created_at"] == "1970-01-01T00:00:00Z"


@behaviour("assoc.import.odd_times")
async def test_times_that_look_like_a_mistake_are_kept_and_told(local: AssocConversation) -> None:
    """The clock of these tests stands at noon of the 15th of January 2026 in Seoul."""
    entries = [
        {"content": "usual", "created_at": "2026-01-01", "updated_at": "2026-01-02"},
        {"content": "of another zone", "created_at": "2026-01-15T20:00:00", "updated_at": "2026-01-15T20:00:00"},
        {
            "content": "of the future",
            "created_at": "2062-01-01",
            "updated_at": "2062-01-01",
            "last_access": "2062-01-01",
        },
        {"content": "changed before", "created_at": "2026-01-02", "updated_at": "2026-01-01"},
    ]
    body = await local.told("memory_manage", action="import", import_data=json.dumps(entries))
    assert body["data"]["imported_count"] == 4
    assert body["data"]["odd_times"] == [
        {
            "line": 3,
            "reason": "; ".join(f"{name} が未来の日時です" for name in ("created_at", "updated_at", "last_access")),
        },
        {"line": 4, "reason": "updated_at が created_at より前の日時です"},
    ]
    assert body["message"] == ("4件をインポートしました (日時が不自然な記憶: 2件。odd_times を確認してください)")
    again = await local.told("memory_manage", action="import", import_data=json.dumps(entries))
    assert (again["data"]["skipped_count"], again["data"]["odd_times"]) == (4, [])


@behaviour("assoc.import.odd_times")
async def test_what_says_only_when_it_was_changed_is_taken_to_be_from_then(local: AssocConversation) -> None:
    entries = json.dumps([{"content": "x", "updated_at": "2025-05-05T05:05:05Z"}])
    report = await local.call("memory_manage", action="import", import_data=entries)
    kept = await local.get(report["report"][0]["memory_id"])
    assert (kept["created_at"], kept["updated_at"]) == ("2025-05-05T05:05:05Z",) * 2
    assert report["odd_times"] == []
