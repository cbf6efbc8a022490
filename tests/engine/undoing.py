"""Sessions that are taken back, and those who work beside them."""

from dataclasses import dataclass

from commonplace.domain.access import Actor
from commonplace.domain.history import Undone
from commonplace.engine import Engine
from tests.engine.gardening import Gardener


@dataclass(frozen=True)
class House:
    """Sam's session is to be taken back; Tom works beside him; a person decides."""

    sam: Gardener
    tom: Gardener
    person: Gardener

    async def take_back(self, session: str = "sam") -> Undone:
        """As the plan said it would be."""
        planned = await self.person.engine.undo.plan(self.person.actor, session)
        done = await self.person.engine.undo.take_back(self.person.actor, session)
        assert planned == done
        return done

    async def taken_back(self) -> list[str]:
        return [step.remedy.value for step in (await self.take_back()).steps]

    async def state(self) -> tuple[object, ...]:
        """Everything there is to see, but for what only grows."""
        page = await self.person.engine.memories.page(self.person.actor, 1000)
        outline = await self.person.engine.paths.outline(self.person.actor, 1000)
        paths = {str(entry.address): (entry.memory, entry.priority) for entry in outline.entries}
        texts = {memory.id: (memory.content, memory.tags, memory.ephemeral) for memory in page.memories}
        told = {where: (await self.person.look(where)).path for where in paths}
        disclosures = {where: path.disclosure for where, path in told.items() if path}
        return paths, texts, disclosures


def housed(engine: Engine, owner: Actor) -> House:
    gardener = Gardener(engine, owner)
    return House(gardener.during("sam"), gardener.during("tom"), gardener.during("person"))
