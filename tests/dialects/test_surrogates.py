"""Half a character in any argument of any tool of any dialect."""

import pytest

from commonplace.bootstrap import dialect_named
from commonplace.dialects._dialect import Call
from commonplace.domain.errors import Invalid
from commonplace.engine import Engine
from commonplace.settings import Settings
from tests.dialects.walking import DIALECTS

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("name", DIALECTS)
async def test_every_tool_refuses_it_in_words_that_can_be_sent(name: str, engine: Engine, settings: Settings) -> None:
    dialect, call = dialect_named(name), Call(engine, await engine.access.local_owner(), settings)
    for tool in dialect.tools.values():
        for parameter in tool.input_schema["properties"]:
            for value in ("a\udfff", ["a\udfff"], {"\udfff": "a"}):
                with pytest.raises(Invalid) as refused:
                    await tool(call, {parameter: value})
                assert refused.value.field.startswith(parameter)
                assert "Unicode" in str(dialect.refusal(refused.value))
                assert str(dialect.refusal(refused.value)).isprintable()
