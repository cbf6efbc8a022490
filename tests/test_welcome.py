import pytest

from commonplace.settings import settings_from
from commonplace.welcome import welcome


def text(key: str | None = "cp_key", **given: object) -> str:
    return welcome(settings_from({"transport": "http", **given}, environment={}), key)


def test_the_line_for_claude_code_serves_all_projects_of_the_user() -> None:
    line = 'claude mcp add --transport http commonplace http://127.0.0.1:8000/mcp -s user --header "Authorization: '
    assert line + 'Bearer cp_key"' in text()


@pytest.mark.parametrize(("host", "shown"), [("0.0.0.0", "127.0.0.1"), ("::", "[::1]"), ("::1", "[::1]")])
def test_the_address_shown_is_one_that_answers(host: str, shown: str) -> None:
    answer = text(host=host)
    assert f"http://{shown}:8000/mcp" in answer
    assert "http://0.0.0.0" not in answer


def test_the_line_for_a_new_key_is_for_this_store() -> None:
    assert "keys create NAME --data-dir '/my memories'" in text(key=None, data_dir="/my memories")


def test_a_key_that_is_not_shown_again_is_left_to_be_filled_in() -> None:
    assert "Bearer YOUR_KEY" in text(key=None)
