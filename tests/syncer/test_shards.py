"""Each namespace has exactly one live member, and a change of the members moves no other namespace."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from krm_fn.cluster import shard as shards
from krm_fn.cluster.access import Cluster, Content, StaticCredentials, Trust
from krm_fn.cluster.api_resources import ApiResource
from krm_fn.cluster.client import Client
from krm_fn.cluster.shard import Assignment, Shard
from krm_fn.syncer.controllers import GRAPHS, REQUESTS
from krm_fn.syncer.options import Options
from krm_fn.syncer.status import SyncFeatures
from krm_fn.syncer.syncer import Syncer
from tests.syncer.loops import runs

NAMESPACES = [f"team-{number}" for number in range(300)]
NAMES = st.from_regex(r"[a-z0-9]([-a-z0-9]{0,20}[a-z0-9])?", fullmatch=True)
MEMBERS = st.sets(NAMES, min_size=1, max_size=8)


@given(MEMBERS, st.lists(NAMES, max_size=4))
def test_each_namespace_has_exactly_one_owner(members, namespaces):
    for namespace in namespaces:
        assert [member for member in members if Assignment(member, members).owns(namespace)] == [shards.owner(namespace, members)]


@given(MEMBERS, NAMES, st.lists(NAMES, max_size=4))
def test_a_new_member_takes_namespaces_and_moves_no_other(members, member, namespaces):
    """Read backwards, a member that leaves gives its own namespaces to the others, and moves no other."""
    assume(member not in members)
    for namespace in namespaces:
        before, after = shards.owner(namespace, members), shards.owner(namespace, {*members, member})
        assert after in {before, member}


@pytest.mark.parametrize("count", [2, 3, 6])
def test_the_shares_are_even(count):
    members = [f"krm-fn-sync-{number}" for number in range(count)]
    owners = [shards.owner(f"team-{number}", members) for number in range(2000)]
    assert all(0.85 < owners.count(member) * count / len(owners) < 1.15 for member in members)


def test_the_owner_of_a_namespace_is_the_same_for_ever():
    """A new version that divided differently would let two versions write at once during an update."""
    names = ("default", "team-a", "prod", "inference")
    assert [shards.owner(name, ["sync-a", "sync-b", "sync-c"]) for name in names] == ["sync-c", "sync-a", "sync-a", "sync-a"]


def of_three(name="b"):
    """A member of three whose caches are complete."""
    shard = Shard(name)
    shard.update({"a", "b", "c"}, rejoined=True)
    shard.complete()
    return shard


def test_a_process_without_peers_owns_everything_and_excludes_nothing():
    shard = Shard()
    assert all(shard.accepts(name) and shard.has_all(name) for name in NAMESPACES)
    assert shard.selector() == ""


def test_a_gained_namespace_is_served_only_when_the_caches_are_complete():
    shard = of_three()
    served = set(filter(shard.has_all, NAMESPACES))
    assert served == set(filter(shard.owns, NAMESPACES))
    assert shard.update({"b", "c"}), "the member that left may give it namespaces"
    assert set(filter(shard.has_all, NAMESPACES)) == served < set(filter(shard.owns, NAMESPACES))
    shard.complete()
    assert set(filter(shard.has_all, NAMESPACES)) == set(filter(shard.owns, NAMESPACES))


def test_a_lost_namespace_is_served_no_more_also_if_it_comes_back():
    """Its objects left the caches in between."""
    shard = of_three()
    served = set(filter(shard.has_all, NAMESPACES))
    assert not shard.update({"a", "b", "c", "d"}), "a new member gives nobody a namespace"
    kept = set(filter(shard.has_all, NAMESPACES))
    assert kept < served
    assert shard.update({"a", "b", "c"})
    assert set(filter(shard.has_all, NAMESPACES)) == kept
    shard.complete()
    assert set(filter(shard.has_all, NAMESPACES)) == served


def test_a_member_that_rejoins_serves_nothing_until_it_has_read_everything():
    shard = of_three()
    assert shard.update({"a", "b", "c"}, rejoined=True)
    assert not any(map(shard.has_all, NAMESPACES))


def test_the_selector_excludes_the_known_namespaces_of_others():
    shard = of_three()
    for name in NAMESPACES:
        shard.accepts(name)
    terms = shard.selector().split(",")
    assert terms == sorted(f"metadata.namespace!={name}" for name in NAMESPACES if not shard.owns(name))
    shard.update({"b"})
    assert shard.selector() == ""


def test_a_selector_that_is_too_long_has_the_namespaces_that_were_seen_last(monkeypatch):
    monkeypatch.setattr(shards, "SELECTOR_LIMIT", 1000)
    shard = of_three()
    foreign = [name for name in NAMESPACES if not shard.accepts(name)]
    terms = shard.selector().split(",")
    assert 0 < len(terms) < len(foreign)
    assert terms == sorted(f"metadata.namespace!={name}" for name in foreign[-len(terms) :])
    assert 800 < sum(len(term.replace("!=", "%21%3D")) + len("%2C") for term in terms) <= 1000
    shard.shorten_selector()
    assert len(shard.selector().split(",")) <= len(terms) / 2


def watched(*namespaces, **features):
    """The namespaces of the watches of each kind."""
    cluster = Cluster("https://127.0.0.1:1", Trust(Content()), StaticCredentials())
    chosen = Options(namespaces=namespaces, shards=True, features=SyncFeatures(**features))
    found: dict[ApiResource, dict[str, bool]] = {}
    for reflector in Syncer(chosen, Client(cluster))._all_reflectors():
        found.setdefault(reflector.kind, {})[reflector.namespace] = reflector.is_shared
    return found


@runs
async def test_a_member_has_a_watch_for_each_named_namespace_or_one_for_all():
    """A watch of one namespace is idle while another member owns the namespace."""
    assert all(namespaces == {"a": True, "b": True} for namespaces in watched("a", "b").values())
    assert all(namespaces == {"": True} for namespaces in watched().values())


@runs
async def test_a_request_sees_its_graph_in_a_namespace_of_another_member():
    """With graphs in other namespaces, all members store all graphs. Pods and Deployments are many more."""
    found = watched(requests=True, auto_apply=True, other_namespaces=True)
    assert (found[GRAPHS], found[REQUESTS]) == ({"": False}, {"": True})
