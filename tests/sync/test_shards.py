"""Each namespace belongs to exactly one shard, in every process."""

import pytest

from krm_fn.status import SyncFeatures
from krm_fn.sync import options
from krm_fn.sync.access import Cluster, Content, StaticCredentials, Trust
from krm_fn.sync.api_resources import ApiResource
from krm_fn.sync.client import Client
from krm_fn.sync.controllers import GRAPHS, REQUESTS
from krm_fn.sync.options import Options, Shard
from krm_fn.sync.syncer import Syncer
from tests.sync.loops import runs

NAMESPACES = [f"team-{number}" for number in range(300)]
SOME = NAMESPACES[:12]


def test_each_namespace_has_one_shard_and_no_shard_is_idle():
    for total in (2, 3, 5):
        owners = [[number for number in range(1, total + 1) if Shard(number, total).owns(each)] for each in NAMESPACES]
        assert all(len(each) == 1 for each in owners)
        assert min(sum(each == [number] for each in owners) for number in range(1, total + 1)) > len(NAMESPACES) / total / 2


def test_the_share_of_a_namespace_is_the_same_for_ever():
    """A new version that shared differently would let two versions write at once during an update."""
    assert [next(n for n in range(1, 6) if Shard(n, 5).owns(each)) for each in ("default", "team-a", "prod", "inference")] == [2, 3, 1, 5]


def test_one_shard_owns_everything_and_adds_nothing_to_names():
    assert all(Shard().owns(each) for each in NAMESPACES)
    assert (Shard().suffix, Shard(2, 5).suffix) == ("", "-2-of-5")


@pytest.mark.parametrize("text", ["", "2", "0/3", "4/3", "2/0", "-1/3", "1/3/5", "a/b", " 1/3", "1.0/3"])
def test_other_texts_are_no_shard(text):
    with pytest.raises(ValueError, match="write NUMBER/TOTAL"):
        options.parse_shard(text)


def watched(shard, *namespaces, **features):
    """The namespaces of the watches of each kind."""
    cluster = Cluster("https://127.0.0.1:1", Trust(Content()), StaticCredentials())
    chosen = Options(namespaces=namespaces, shard=shard, features=SyncFeatures(**features), leader_election=False)
    syncer = Syncer(chosen, Client(cluster))
    found: dict[ApiResource, set[str]] = {}
    for reflector in (*syncer._reflectors, *syncer._lease_reflectors):
        found.setdefault(reflector.kind, set()).add(reflector.namespace)
    return found


@runs
async def test_of_named_namespaces_a_shard_watches_its_own_only():
    """The server selects by namespace, so it does not even send the objects of the others."""
    owned = {name for name in SOME if Shard(1, 3).owns(name)}
    assert 0 < len(owned) < len(SOME)
    found = watched(Shard(1, 3), *SOME)
    assert {frozenset(namespaces) for namespaces in found.values()} == {frozenset(owned)}
    other = next(name for name in NAMESPACES if name not in owned and not Shard(1, 3).owns(name))
    assert watched(Shard(1, 3), other) == {}, "not all namespaces, as without names"


@runs
async def test_without_names_a_shard_watches_all_namespaces():
    assert {frozenset(namespaces) for namespaces in watched(Shard(1, 3)).values()} == {frozenset({""})}


@runs
async def test_a_request_sees_its_graph_in_a_namespace_of_another_shard():
    """With graphs in other namespaces, all shards store all graphs. Pods and Deployments are many more."""
    found = watched(Shard(1, 3), *SOME, requests=True, auto_apply=True, other_namespaces=True)
    assert found[GRAPHS] == set(SOME)
    assert found[REQUESTS] < found[GRAPHS]
