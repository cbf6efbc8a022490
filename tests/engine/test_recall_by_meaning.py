"""What the real model makes of questions that share a word with the wrong memory, and of texts that are alike."""

import pytest

from commonplace.domain.access import Actor
from commonplace.domain.link import LinkKind
from commonplace.domain.memory import Draft
from commonplace.engine import Engine
from commonplace.engine.memories import Reference
from commonplace.engine.recall import Question
from commonplace.models.use import UniversalSentenceEncoder

pytestmark = pytest.mark.anyio

NOTES = (
    "Never use the USB hub on the left side of the desk, it drops power",
    "I do all my coding in Neovim with the Catppuccin theme",
    "Prod API keys rotate every 90 days, next on April 2, on a day off",
    "駅前の喫茶店は水曜日が定休日",
    "La réunion de l'équipe est le jeudi",
    "コードレビューは必ず二人で行い、金曜の午後にはデプロイしない",
)


@pytest.fixture
def embedder() -> UniversalSentenceEncoder:
    return UniversalSentenceEncoder()


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("which editor do I use?", "I do all my coding in Neovim"),
        ("on which day is the café closed?", "駅前の喫茶店"),
        ("quelles règles pour la revue de code dans l'équipe ?", "コードレビュー"),
        ("USB", "Never use the USB hub"),
    ],
)
async def test_what_answers_comes_before_what_only_shares_a_word(
    engine: Engine, owner: Actor, question: str, answer: str
) -> None:
    for note in NOTES:
        await engine.memories.remember(owner, Draft(note))
    found = await engine.recall.recall(owner, Question(question))
    assert found.hits[0].memory.content.startswith(answer)


async def test_a_text_brings_to_mind_what_speaks_of_the_same_before_what_was_written_with_it(
    engine: Engine, owner: Actor
) -> None:
    texts = (
        "We moved the nightly backup of the billing database to 03:30 UTC",
        "Lunch with Hana on Thursday",
        "Backups of the billing database are kept for 35 days in Glacier",
    )
    moved, lunch, kept = [await engine.memories.remember(owner, Draft(text), associate=True) for text in texts]
    near = await engine.links.related(owner, Reference(kept.id), depth=1, limit=10)
    found = [(one.memory.id, one.reached.kind) for one in near.related]
    assert found == [(moved.id, LinkKind.SEMANTIC), (lunch.id, LinkKind.TEMPORAL)]


async def test_what_is_like_a_memory_comes_in_the_order_of_its_likeness(engine: Engine, owner: Actor) -> None:
    """Words, importance and use, which decide between answers to a question, say nothing of likeness."""
    base = await engine.memories.remember(owner, Draft("娘はそばアレルギー。給食のメニューは毎月確認する"))
    for text in (
        "地震のときの避難経路は毎月確認する",
        "민수는 해산물 알레르기가 있어서 회식 메뉴를 미리 확인해야 한다",
        "Lea cannot eat peanuts, check the menu of the canteen",
        "机票要提前两周预订",
    ):
        await engine.memories.remember(owner, Draft(text, importance=0.9 if "地震" in text else 0.1))
    alike = await engine.recall.like(owner, base, Question(base.content, limit=10))
    close = [hit.similarity for hit in alike.hits]
    assert len(close) == 4
    assert close == sorted(close, reverse=True)
    assert "地震" not in alike.hits[0].memory.content


ASKED = (
    ("when does the team meet?", "La réunion"),
    ("喫茶店の休みはいつ?", "駅前の喫茶店"),
    ("what is wrong with the USB hub?", "Never use the USB hub"),
    ("how often are the API keys rotated?", "Prod API keys"),
    ("コードは何人でレビューする?", "コードレビュー"),
    ("the editor for my coding", "I do all my coding in Neovim"),
)


async def test_a_question_is_related_to_its_answer_and_to_nothing_that_has_none(engine: Engine, owner: Actor) -> None:
    for note in NOTES:
        await engine.memories.remember(owner, Draft(note))
    for question, answer in ASKED:
        found = await engine.recall.recall(owner, Question(question, threshold=0.7))
        assert found.hits[0].memory.content.startswith(answer), question
    for question in ("how many moons has Jupiter?", "la recette du tiramisu", "오늘 환율은?", "股票价格"):
        assert not (await engine.recall.recall(owner, Question(question, threshold=0.7))).hits, question


@pytest.mark.parametrize(
    ("question", "texts"),
    [
        (
            "VPN password rotation",
            ("Our VPN password rotates every ninety days", "The VPN password is rotated every 90 days"),
        ),
        ("fermeture du parking", ("Le parking ferme à minuit", "Le parking est fermé après minuit")),
        (
            "when does the museum open",
            ("The museum opens at nine on weekdays", "On weekdays the museum opens at nine o'clock"),
        ),
    ],
)
async def test_of_two_that_say_the_same_the_used_one_comes_first_but_never_before_what_answers_better(
    engine: Engine, owner: Actor, question: str, texts: tuple[str, str]
) -> None:
    for text in (*texts, "The parking of the meeting room needs a password"):
        await engine.memories.remember(owner, Draft(text, importance=0.5))

    async def order() -> list[str]:
        return [hit.memory.content for hit in (await engine.recall.recall(owner, Question(question))).hits]

    best, second, worse = await order()
    for used in (second, worse):
        kept = next(one for one in (await engine.memories.page(owner, 9)).memories if one.content == used)
        for _ in range(100):
            engine.recall.used(kept)
        await engine.recall.flush_uses()
        assert await order() == [second, best, worse]
