"""Each namespace belongs to exactly one shard, in every process."""

import pytest

from krm_fn.sync import options
from krm_fn.sync.options import Shard

NAMESPACES = [f"team-{number}" for number in range(300)]


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
