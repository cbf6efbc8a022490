"""Short words for what the tests of the tree do all the time."""

from dataclasses import dataclass, replace

from commonplace.domain.access import Actor, Permission
from commonplace.domain.address import address
from commonplace.domain.memory import Draft, Memory
from commonplace.engine import Engine
from commonplace.engine.paths import Node, Signpost

READ_WRITE = frozenset({Permission.READ, Permission.WRITE})


@dataclass(frozen=True)
class Gardener:
    """Someone at work on a tree, naming everything by its address."""

    engine: Engine
    actor: Actor

    def during(self, session: str) -> "Gardener":
        return replace(self, actor=self.actor.through(self.actor.tool, session))

    async def plant(self, where: str, content: str = "", priority: int = 0, disclosure: str = "") -> Memory:
        place = address(where)
        signpost = Signpost(priority, disclosure or None)
        node = await self.engine.paths.plant(
            self.actor, place.parent, Draft(content or f"text of {where}"), signpost, place.name
        )
        assert node.address == place
        return await self.at(where)

    async def number(self, parent: str, content: str = "numbered") -> str:
        """Plant without a title; the address it got."""
        return str((await self.engine.paths.plant(self.actor, address(parent), Draft(content), Signpost())).address)

    async def alias(self, new: str, target: str, priority: int = 0, disclosure: str = "") -> Node:
        signpost = Signpost(priority, disclosure or None)
        return await self.engine.paths.alias(self.actor, address(new), address(target), signpost)

    async def prune(self, where: str) -> Node:
        return await self.engine.paths.prune(self.actor, address(where))

    async def look(self, where: str) -> Node:
        return await self.engine.paths.look(self.actor, address(where))

    async def at(self, where: str) -> Memory:
        memory = (await self.look(where)).memory
        assert memory
        return memory

    async def write(self, where: str, content: str) -> Memory:
        """Replace the text at an address, as it stands there now."""
        seen = await self.at(where)
        node = await self.engine.paths.edit(self.actor, address(where), seen, content=content, signpost=Signpost())
        assert node.memory
        return node.memory

    async def label(self, where: str, priority: int | None = None, disclosure: str | None = None) -> Node:
        signpost = Signpost(priority, disclosure)
        return await self.engine.paths.edit(self.actor, address(where), await self.at(where), signpost=signpost)

    async def children(self, where: str) -> list[str]:
        return [branch.path.name for branch in (await self.look(where)).branches]

    async def addresses(self, memory: Memory) -> list[str]:
        return sorted(map(str, await self.engine.paths.addresses(self.actor, memory)))

    async def outline(self) -> list[str]:
        found = await self.engine.paths.outline(self.actor, 1000)
        assert found.total == len(found.entries)
        return [str(entry.address) for entry in found.entries]

    async def orphans(self) -> dict[str, str]:
        """The texts, and where each was last."""
        found, total = await self.engine.paths.orphans(self.actor, 1000)
        assert total == len(found)
        return {orphan.memory.content: orphan.last for orphan in found}

    async def pathless(self) -> list[str]:
        found, total = await self.engine.paths.pathless(self.actor, 1000)
        assert total == len(found)
        return [memory.content for memory in found]

    async def search(self, query: str, domain: str = "", limit: int = 100) -> list[str]:
        """The addresses found, best first."""
        found = await self.engine.literal.search(self.actor, query, limit, domain)
        assert found.total >= len(found.best)
        return [str(match.address) for match in found.best]


async def another(engine: Engine, user: str, permissions: frozenset[Permission] = READ_WRITE) -> Gardener:
    """Someone else, with a key of their own."""
    made = await engine.access.create_key(f"key-of-{user}", permissions, user=user)
    return Gardener(engine, (await engine.access.authenticate(made.key)).through("test", f"session-of-{user}"))
