"""Whoever asks how the files of spaces are doing is told when looking at them fails."""

from contextlib import nullcontext
from pathlib import Path

import pytest

from commonplace.domain.errors import FilesFailed
from commonplace.engine.mirror import LOOK_AGAIN
from commonplace.storage.files.local import LocalFiles
from tests.engine.outside import household
from tests.fakes import Clock

pytestmark = pytest.mark.anyio


class Closed(LocalFiles):
    """A folder whose files can be written and, while `why` is set, not be listed."""

    why: Exception | None = None

    async def folders(self, prefix: str = "") -> list[str]:
        if self.why:
            raise self.why
        return await super().folders(prefix)


@pytest.mark.parametrize("why", [FilesFailed("the folder", "closed for today"), KeyError("closed for today")])
async def test_a_look_that_fails_is_told_until_one_succeeds_here_or_elsewhere(
    tmp_path: Path, folder: Path, why: Exception
) -> None:
    clock, files = Clock(), Closed(tmp_path / "files")
    async with household(folder, files, clock) as home, household(folder, Closed(tmp_path / "files"), clock) as well:
        await home.space()
        for another in (home, well):
            files.why = why
            clock.advance(2 * LOOK_AGAIN)
            with nullcontext() if isinstance(why, FilesFailed) else pytest.raises(KeyError):
                await home.engine.mirror.keep_up()
            await home.engine.mirror.push()
            assert "closed for today" in home.engine.mirror.trouble
            files.why = None
            clock.advance(2 * LOOK_AGAIN)
            await another.engine.mirror.keep_up()
            await home.engine.mirror.keep_up()
            assert not home.engine.mirror.trouble
