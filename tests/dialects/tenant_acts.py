"""What Ann and Ben do to each other, in no order; each act changes the model as it changes the house."""

from datetime import timedelta
from typing import Any

from tests.dialects.conversation import unique
from tests.dialects.tenancy import Place, Presence, Team, Text
from tests.dialects.tenants import NotNow, Tenants, act, bare, often
from tests.dialects.walking import BAIT

# Ann keeps things to herself


@act
async def ann_remembers(house: Tenants) -> str:
    words, hook, secret = house.words()
    tag, category = unique(), unique()
    ttl = house.chance.choice([None, None, 3600])
    made = await house.ann.made("remember", content=words, tags=[tag], category=category, ttl=ttl)
    return (await house.keep(made, hook, [secret, tag, category])).id


@act
async def ann_adds_a_block(house: Tenants) -> str:
    words, hook, secret = house.words()
    tool = house.chance.choice(["add_memory", "add_stm"])
    made = await house.ann.do("greeum", tool, content=words)
    return f"{(await house.keep(await house.found(hook), hook, [secret])).id} {made['id']}"


@act
async def ann_grows_her_tree(house: Tenants) -> str:
    words, hook, secret = house.words()
    about = unique()
    branch = {"parent_uri": "core://", "title": hook, "priority": 1, "disclosure": about}
    await house.ann.do("nocturne", "create_memory", content=words, **branch)
    house.private("uri", f"core://{hook}", about)
    return (await house.keep(await house.found(hook), hook, [secret])).id


@act
async def ann_names_a_text(house: Tenants) -> str:
    text, name, about = house.text("home", "atlas", "project"), unique(), unique()
    address = {"new_uri": f"core://{name}", "target_uri": f"memory://{text.id}"}
    await house.ann.do("nocturne", "add_alias", **address, disclosure=about)
    return house.private("uri", f"core://{name}", about, name)


@act
async def ann_works_in_a_session(house: Tenants) -> str:
    words, hook, secret = house.words()
    name = unique()
    begun = await house.ann.do("assoc", "user", action="create_session", session_name=name)
    place = Place("session", begun["session_id"], [name], ends_at=house.clock.now() + timedelta(hours=24))
    house.ledger.places.append(place)
    said = {"action": "store", "content": words, "domain": "session", "session_id": place.id}
    made = await house.ann.do("assoc", "memory", **said)
    return (await house.keep(made["memory_id"], hook, [secret], place)).id


@act
async def ann_labels(house: Tenants) -> str:
    name = unique()
    label = await house.ann.made("label_create", name=name)
    house.private("label", label, name)
    text = house.text("home", "atlas", "project", "context")
    await house.ann.do("creo", "label_attach", memory_id=text.id, label_id=label)
    return f"{label} on {text.id}"


@act
async def ann_makes_a_category(house: Tenants) -> str:
    name, about = unique(), unique()
    category = await house.ann.made("category_create", name=name, description=about)
    house.private("category", category, name, about)
    text = house.text("home", "atlas", "project", "context")
    await house.ann.do("creo", "category_attach", memory_id=text.id, category_id=category)
    text.secrets.append(name)
    return f"{category} on {text.id}"


@act
async def ann_means_to_do(house: Tenants) -> str:
    words, _, secret = house.words()
    tag = unique()
    return house.private("todo", await house.ann.made("create_todo", content=words, tags=[tag]), secret, tag)


@act
async def ann_subscribes(house: Tenants) -> str:
    name = unique()
    made = await house.ann.made("subscribe_memories", under="subscriptionId", name=name)
    return house.private("subscription", made, name)


@act
async def ann_makes_a_key_of_her_own(house: Tenants) -> str:
    name = unique()
    return house.private("key", await house.ann.made("generate_api_key", name=name), name)


@act
async def ann_is_here(house: Tenants) -> str:
    name, about = unique(), unique()
    target = house.text("home", "atlas", "project", "context") if house.chance.random() < 0.7 else None
    focus: dict[str, Any] = {"type": "memory" if target else "search", "description": about}
    await house.ann.do(
        "creo", "update_presence", displayName=name, currentFocus=focus | ({"targetId": target.id} if target else {})
    )
    if house.ledger.presence:
        house.ledger.retire(house.ledger.presence.name, house.ledger.presence.about)
    house.ledger.presence = Presence(name, about, target, house.clock.now())
    return f"with {target.id if target else 'nothing'}"


# Ann changes what she has


@act
async def ann_revises(house: Tenants) -> str:
    text = house.text("home", "atlas", "project", "context")
    secret = unique()
    await house.ann.do("creo", "update_memory", id=text.id, content=f"{secret} {BAIT} {text.hook}")
    house.ledger.retire(text.secrets[0])
    text.secrets[0] = secret
    return text.id


@act
async def ann_forgets(house: Tenants) -> str:
    text = house.text("home", "atlas", "project", "context")
    await house.ann.do("creo", "forget", id=text.id, confirm=True)
    house.ledger.texts.remove(text)
    house.ledger.retire(text.id, *text.secrets)
    return text.id


@often
async def ann_annotates(house: Tenants) -> str:
    about = house.text("home", "atlas", "project", "context")
    words, hook, secret = house.words()
    made = await house.ann.made("annotate", targetMemoryId=about.id, content=words)
    return (await house.keep(made, hook, [secret], about.place, tells=about.tells | {about.id})).id


@act
async def ann_moves_a_text(house: Tenants) -> str:
    text = house.text("home", "project", "atlas")
    place = house.chance.choice([house.ledger.home, house.place("project")])
    goal = {"new_domain": "user"} if place is house.ledger.home else {"new_domain": "project", "project_id": place.id}
    await house.ann.do("assoc", "memory_manage", action="change_domain", memory_ids=[text.id], **goal)
    house.ledger.move(text, place)
    return f"{text.id} to {place.kind} {place.id}"


# Atlases and teams


@act
async def ann_plants(house: Tenants) -> str:
    name, about = unique(), unique()
    above = house.chance.choice([None, *(p for p in house.ledger.places if p.kind == "atlas")])
    parent = {"parent_id": above.id} if above else {}
    made = await house.ann.made("create_atlas", name=name, description=about, **parent)
    return house.founded("atlas", made, name, about, parent=above)


@often
async def ann_files(house: Tenants) -> str:
    place, source = house.place("atlas"), house.text("home", "atlas", "project")
    words, hook, secret = house.words()
    tells = house.chance.choice([frozenset[str](), frozenset({source.id})])
    more = {"metadata": {"derivedFrom": source.id}} if tells else {"ttl": house.chance.choice([None, 3600])}
    words += f" memories:{source.id}" if tells else ""
    made = await house.ann.made("remember", content=words, atlasId=place.id, **more)
    return f"{(await house.keep(made, hook, [secret], place, tells=tells)).id} in {place.id}"


@often
async def ann_shares(house: Tenants) -> str:
    place, team = house.place("atlas"), house.one_of(house.ledger.teams)
    right, inherited = house.chance.choice(["read", "write", "admin"]), house.chance.random() < 0.6
    given = {"permission": right, "inheritChildren": inherited}
    await house.ann.do("creo", "share_atlas", atlasId=place.id, teamId=team.id, **given)
    place.shares[team] = (right, inherited)
    return f"{place.id} with {team.id}: {right} {inherited}"


@act
async def ann_unshares(house: Tenants) -> str:
    place = house.one_of(p for p in house.ledger.places if p.shares)
    team = house.one_of(place.shares)
    await house.ann.do("creo", "unshare_atlas", atlasId=place.id, teamId=team.id)
    del place.shares[team]
    return f"{place.id} from {team.id}"


@act
async def ann_moves_an_atlas(house: Tenants) -> str:
    atlases = [p for p in house.ledger.places if p.kind == "atlas"]
    place = house.one_of(atlases)
    above = house.one_of([None, *(p for p in atlases if place not in p.line())])
    await house.ann.do("creo", "update_atlas", id=place.id, parent_id=above.id if above else None)
    place.parent = above
    return f"{place.id} into {above.id if above else 'nothing'}"


@act
async def ann_fells(house: Tenants) -> str:
    place = house.place("atlas")
    await house.ann.do("creo", "delete_atlas", id=place.id)
    for child in house.ledger.places:
        if child.parent is place:
            child.parent = place.parent
    house.ledger.remove(place, place.parent or house.ledger.home)
    house.ledger.opened = None if house.ledger.opened is place else house.ledger.opened
    return place.id


@act
async def ann_founds_a_team(house: Tenants) -> str:
    name, about = unique(), unique()
    me = (await house.ann.actor()).user
    made = await house.ann.made("team_create", name=name, description=about, ownerId=me)
    house.ledger.teams.append(Team(made, name, about))
    return made


@often
async def ann_lets_ben_in(house: Tenants) -> str:
    team = house.one_of(t for t in house.ledger.teams if not t.has_ben)
    await house.ann.do("creo", "team_invite", teamId=team.id, userId=house.ben_id)
    team.has_ben = True
    return team.id


@act
async def ben_is_out_of_a_team(house: Tenants) -> str:
    team = house.one_of(t for t in house.ledger.teams if t.has_ben)
    by = house.chance.choice([house.ann, house.ben])
    await by.do("creo", "team_remove", teamId=team.id, userId=house.ben_id)
    team.has_ben = False
    return f"{team.id} by {by.session}"


@often
async def ann_makes_a_shared_key(house: Tenants) -> str:
    place, name = house.place("atlas"), unique()
    made = await house.ann.do("creo", "create_domain_shared_key", name=name, atlas_id=place.id)
    house.ledger.retire(*house.ledger.key)
    house.shared_key, house.ledger.key = made["key"], [bare(made["id"]), name]
    house.ledger.opened = place
    return f"{made['id']} for {place.id}"


@act
async def ann_revokes_the_shared_key(house: Tenants) -> str:
    if house.ledger.opened is None:
        raise NotNow
    await house.ann.do("creo", "revoke_domain_shared_key", id=house.ledger.key[0])
    house.ledger.opened = None
    return house.ledger.key[0]


# What Ben does with what he sees


@often
async def ben_annotates(house: Tenants) -> str:
    text = house.visible("write", "admin")
    await house.ben.do("creo", "annotate", targetMemoryId=text.id, content=unique())
    house.ledger.knows |= {text.id, *text.tells}
    return text.id


@often
async def ben_builds_on_it(house: Tenants) -> str:
    text: Text = house.visible("read", "write", "admin")
    await house.ben.do("creo", "remember", content=f"memories:{text.id}", metadata={"derivedFrom": text.id})
    house.ledger.knows.add(text.id)
    return text.id


@often
async def ben_names_it(house: Tenants) -> str:
    text, name = house.visible("read", "write", "admin"), unique()
    address = {"new_uri": f"core://{name}", "target_uri": f"memory://{text.id}"}
    await house.ben.do("nocturne", "add_alias", **address)
    branch = {"parent_uri": f"core://{name}", "title": unique(), "priority": 1}
    await house.ben.do("nocturne", "create_memory", content=unique(), **branch)
    return f"{text.id} {name}"


@often
async def ben_ties_it(house: Tenants) -> str:
    text = house.visible("read", "write", "admin")
    said = {"action": "store", "content": f"{BAIT} {unique()}", "domain": "user", "associate_with": [text.id]}
    await house.ben.do("assoc", "memory", **said)
    return text.id
