"""Renders one state for a comparison."""

from __future__ import annotations

from typing import TYPE_CHECKING

from krm_fn import expand, results
from krm_fn.function_config import is_config
from krm_fn.kube import identity, labels
from krm_fn.manifests import ownership
from krm_fn.provenance.ablation import EXPANDED
from krm_fn.resolve import cluster
from krm_fn.review.diff import Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from krm_fn.config import Config
    from krm_fn.kube.identity import ObjectKey
    from krm_fn.kube.types import Resource
    from krm_fn.results import Result


def rendered(inputs: Sequence[Resource], config: Config, settings: Resource | None = None) -> Side:
    """The state that a render of these resources writes. `settings` is the resource that holds the configuration.

    A Dynamo resource whose objects are among the inputs, as in a finished build, is not rendered again: later layers may have changed
    the objects, and the configuration of the build is not known.
    """
    keyed = [(identity.key(each, home(config)), each) for each in inputs]
    there = {key for key, each in keyed if is_expanded(each)}
    built = there.intersection(owner for key, each in keyed if ownership.is_generated(each) for owner in owner_keys(each, key.namespace))
    done = [each for key, each in keyed if not built.isdisjoint(owner_keys(each, key.namespace))]
    left = [each for key, each in keyed if key not in built and built.isdisjoint(owner_keys(each, key.namespace))]
    expansion = expand.expand(left, config)
    objects = (each for each in (*expansion.resources, *done) if not is_expanded(each) and not labels.is_local(each))
    failed = frozenset(_failed(left, expansion.results, home(config)))
    applying = tuple(labels.without_tool_annotations(each) for each in objects)
    return Side(applying, tuple(inputs), config, settings, frozenset(built), failed, findings=tuple(expansion.results))


def with_errors(side: Side, found: Iterable[Result]) -> Side:
    """The state with what errors about its files make unknown.

    An error about a Dynamo resource makes its objects unknown, and one about the configuration those of all. After any other error, the
    state may lack resources.
    """
    wrong = {each.ref for each in found if each.severity == "error"}
    refs = {results.ref(each) for each in side.inputs}
    keyed = {results.ref(each): identity.key(each, home(side.config)) for each in side.inputs if is_expanded(each)}
    settings = {ref for ref in wrong if ref and (is_config(ref) or (side.settings and ref == results.ref(side.settings)))}
    failed = keyed.values() if settings else (key for ref, key in keyed.items() if ref in wrong)
    return side._replace(failed=side.failed.union(failed), lacks=not wrong <= refs | settings)


def home(config: Config) -> str:
    """The namespace of resources without one."""
    return config.namespace or cluster.NAMESPACE


def is_expanded(resource: Resource) -> bool:
    """True for a Dynamo resource from which a render makes objects. It is no object of a comparison: the change itself shows its text."""
    kind = results.ref(resource).kind
    return identity.is_dynamo(resource) and kind in EXPANDED and not ownership.is_generated(resource)


def _failed(inputs: Iterable[Resource], found: Iterable[Result], namespace: str) -> Iterable[ObjectKey]:
    """The keys of Dynamo resources with an error."""
    wrong = {result.ref for result in found if result.severity == "error"}
    return (identity.key(resource, namespace) for resource in inputs if is_expanded(resource) and results.ref(resource) in wrong)


def owner_keys(resource: Resource, namespace: str) -> list[ObjectKey]:
    """The keys of the Dynamo resources that generated an object. `namespace` is that of the object."""
    split = (name.partition("/") for name in ownership.owners(resource))
    return [identity.ObjectKey(identity.DYNAMO_GROUP, kind, namespace, name) for kind, _, name in split]
