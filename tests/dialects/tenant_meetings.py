"""Where Ann and Ben meet: projects, contexts that end, spaces with tokens; and the time that passes there."""

from collections.abc import Sequence
from datetime import timedelta

from commonplace.domain.access import ALL_PERMISSIONS, Permission
from tests.dialects.conversation import unique
from tests.dialects.tenancy import Place, Team, Who
from tests.dialects.tenants import NotNow, Tenants, act, bare, often

_RIGHTS = {"viewer": "read", "editor": "write"}
_LOOKING, _WRITING = frozenset({Permission.READ}), frozenset({Permission.READ, Permission.WRITE})
_RULES = "- `progress.md`: progress, todos, observations"

# Projects


@act
async def ann_founds_a_project(house: Tenants) -> str:
    name, about = unique(), unique()
    made = await house.ann.do("assoc", "project", action="create", name=name, description=about)
    return house.founded("project", made["project_id"], name, about)


@often
async def ann_stores_in_a_project(house: Tenants) -> str:
    place, other = house.place("project"), house.text("home", "project", "atlas")
    words, hook, secret = house.words()
    said = {"action": "store", "content": words, "domain": "project", "project_id": place.id}
    made = await house.ann.do("assoc", "memory", **said, associate_with=[other.id])
    return f"{(await house.keep(made['memory_id'], hook, [secret], place)).id} in {place.id}"


@often
async def ben_joins_a_project(house: Tenants) -> str:
    place, role = house.place("project", right=""), house.chance.choice(["viewer", "editor"])
    await house.ann.do("assoc", "project", action="add_member", project_id=place.id, user_id=house.ben_id, role=role)
    place.right = _RIGHTS[role]
    return f"{place.id} as {role}"


@act
async def ben_is_out_of_a_project(house: Tenants) -> str:
    place = house.one_of(p for p in house.ledger.places if p.kind == "project" and p.right)
    by = house.chance.choice([house.ann, house.ben])
    await by.do("assoc", "project", action="remove_member", project_id=place.id, user_id=house.ben_id)
    place.right = ""
    return f"{place.id} by {by.session}"


@act
async def ann_ends_a_project(house: Tenants) -> str:
    place = house.place("project")
    await house.ann.do("assoc", "project", action="delete", project_id=place.id)
    house.ledger.remove(place, house.ledger.home)
    return place.id


# Contexts


@often
async def ann_opens_a_context(house: Tenants) -> str:
    name, about = unique(), unique()
    ttl = house.chance.choice([None, 3600, 7200])
    guests: set[Team | Who] = house.chance.choice([set(), {Who.BEN}, {*house.ledger.teams[:1]}])
    invite = [f"teams:{guest.id}" if isinstance(guest, Team) else f"users:{house.ben_id}" for guest in guests]
    said = {"name": name, "description": about, "ttlSeconds": ttl, "invite": invite}
    made = await house.ann.do("creo", "create_shared_context", **said)
    ends_at = house.clock.now() + timedelta(seconds=ttl) if ttl else None
    return house.founded("context", bare(made["id"]), name, about, guests=guests, ends_at=ends_at)


@often
async def ann_invites_ben(house: Tenants) -> str:
    place = house.place("context", right="")
    await house.ann.do("creo", "join_shared_context", contextId=place.id, invite=[f"users:{house.ben_id}"])
    place.guests.add(Who.BEN)
    return place.id


@often
async def ben_joins_a_context(house: Tenants) -> str:
    place = house.one_of(p for p in house.ledger.places if house.ledger.invited(p) and not p.right)
    await house.ben.do("creo", "join_shared_context", contextId=place.id)
    place.right, place.visited = "write", True
    place.guests.discard(Who.BEN)
    return place.id


@often
async def ben_writes_in_a_context(house: Tenants) -> str:
    place = house.place("context", right="write")
    said = {"content": unique(), "workLogType": "message", "sender": "ben"}
    await house.ben.do("creo", "record_work_log", sharedContextId=place.id, **said)
    house.ledger.knows.add(place.id)
    return place.id


@act
async def ben_leaves_a_context(house: Tenants) -> str:
    place = house.place("context", right="write")
    await house.ben.do("creo", "leave_shared_context", contextId=place.id)
    place.right = ""
    return place.id


@often
async def ann_lends(house: Tenants) -> str:
    place, text = house.place("context"), house.text("home", "atlas", "project")
    await house.ann.do("creo", "add_to_shared_context", contextId=place.id, memoryId=text.id)
    text.place, text.lent_from = place, text.place
    return f"{text.id} to {place.id}"


@act
async def ann_logs_her_work(house: Tenants) -> str:
    place = house.one_of([house.ledger.home, house.place("context")])
    words, hook, secret = house.words()
    sender, thread = unique(), unique()
    said = {"content": words, "workLogType": "question", "sender": sender, "threadId": thread}
    where = {} if place is house.ledger.home else {"sharedContextId": place.id}
    made = await house.ann.made("record_work_log", **said, **where)
    return f"{(await house.keep(made, hook, [secret, sender, thread], place)).id} in {place.kind}"


@act
async def ann_ends_a_context(house: Tenants) -> str:
    place = house.place("context")
    await house.ann.do("creo", "leave_shared_context", contextId=place.id)
    house.ledger.give_back(place)
    return place.id


# At Ben's


@act
async def ben_hosts_a_project(house: Tenants) -> str:
    made = (await house.ben.do("assoc", "project", action="create", name="x"))["project_id"]
    said = {"action": "add_member", "project_id": made, "user_id": house.ann_id, "role": "editor"}
    await house.ben.do("assoc", "project", **said)
    house.ledger.hosted.append(Place("project", made))
    return str(made)


@act
async def ann_stores_at_bens(house: Tenants) -> str:
    place = house.one_of(p for p in house.ledger.hosted if p.kind == "project")
    words, hook, secret = house.words()
    said = {"action": "store", "content": words, "domain": "project", "project_id": place.id}
    made = await house.ann.do("assoc", "memory", **said)
    return (await house.keep(made["memory_id"], hook, [secret], place)).id


@act
async def ben_hosts_a_context(house: Tenants) -> str:
    made = await house.ben.made("create_shared_context", name="x")
    await house.ben.do("creo", "join_shared_context", contextId=made, invite=[f"users:{house.ann_id}"])
    await house.ann.do("creo", "join_shared_context", contextId=made)
    house.ledger.hosted.append(Place("context", made))
    return made


@act
async def ann_lends_to_ben(house: Tenants) -> str:
    place = house.one_of(p for p in house.ledger.hosted if p.kind == "context")
    text = house.text("home", "atlas", "project")
    await house.ann.do("creo", "add_to_shared_context", contextId=place.id, memoryId=text.id)
    text.place, text.lent_from = place, text.place
    return text.id


@act
async def ben_closes(house: Tenants) -> str:
    place = house.one_of(house.ledger.hosted)
    if place.kind == "project":
        await house.ben.do("assoc", "project", action="delete", project_id=place.id)
        house.ledger.remove(place, house.ledger.home)
    else:
        await house.ben.do("creo", "leave_shared_context", contextId=place.id)
        house.ledger.give_back(place)
    return f"{place.kind} {place.id}"


# Spaces


@act
async def ann_founds_a_space(house: Tenants) -> str:
    name, about, owner = unique(), unique(), unique()
    said = {"space_id": name, "description": about, "owner": owner, "rules": f"{_RULES}\n{unique()}"}
    await house.ann.do("live", "space_create", **said)
    return house.founded("space", name, about, owner, said["rules"].split()[-1])


@often
async def ann_notes(house: Tenants) -> str:
    place = house.place("space")
    words, hook, secret = house.words()
    tag = unique()
    said = {"space_id": place.id, "category": "progress", "content": words, "tags": tag}
    await house.ann.do("live", "live_note", **said)
    return f"{(await house.keep(await house.found(hook), hook, [secret, tag], place)).id} in {place.id}"


@act
async def ann_consolidates(house: Tenants) -> str:
    place = house.one_of({text.place for text in house.ledger.texts if text.place.kind == "space"})
    await house.ann.do("live", "bank_consolidate", space_id=place.id)
    for text in [text for text in house.ledger.texts if text.place is place]:
        house.ledger.texts.remove(text)
        house.ledger.retire(text.id)
        place.secrets += text.secrets
    return place.id


@act
async def ann_copies_a_space(house: Tenants) -> str:
    place, about = house.place("space"), unique()
    made = await house.ann.do("live", "backup_create", space_id=place.id, description=about)
    place.backups.append(made["backup_id"])
    place.secrets.append(about)
    return str(made["backup_id"])


@often
async def the_owner_gives_a_token(house: Tenants) -> str:
    spaces = [place for place in house.ledger.places if place.kind == "space"]
    chosen = house.chance.sample(spaces, min(len(spaces), house.chance.choice([1, 2])))
    if not chosen:
        raise NotNow
    owner, name = await house.engine.access.local_owner(), unique()
    allowed = house.chance.choice([_LOOKING, _WRITING, ALL_PERMISSIONS])
    made = await house.engine.tokens.create(owner, name, allowed, [place.id for place in chosen], 0)
    house.token, house.ledger.entered = made.key, set(chosen)
    house.ledger.tokens[name] = frozenset(chosen)
    house.ledger.governs = Permission.ADMIN in allowed
    return _named(chosen)


@act
async def the_owner_revokes_the_token(house: Tenants) -> str:
    if not house.ledger.entered:
        raise NotNow
    await house.engine.access.revoke_key((await house.engine.access.authenticate(house.token)).credential)
    house.ledger.entered = set()
    return "the token"


def _named(places: Sequence[Place]) -> str:
    return ", ".join(place.id for place in places)


# Time


@act
async def time_passes(house: Tenants) -> str:
    by = house.chance.choice([timedelta(minutes=61), timedelta(minutes=121), timedelta(hours=25)])
    house.clock.advance(by)
    return str(by)


@act
async def the_house_is_cleaned(house: Tenants) -> str:
    """Nobody sees more or less by it, but for what goes back to a place that others see."""
    engine, ledger, now = house.engine, house.ledger, house.clock.now()
    for clean in (engine.memories.sweep, engine.contexts.sweep, engine.collections.sweep, engine.links.discover):
        await clean()
    for text in [text for text in ledger.texts if text.ends_at and text.ends_at <= now]:
        ledger.texts.remove(text)
        ledger.retire(text.id, *text.secrets)
    for place in [place for place in ledger.places if place.ends_at and place.ends_at <= now]:
        if place.kind == "context":
            ledger.give_back(place)
        else:
            ledger.remove(place, ledger.home)
    return str(now)
