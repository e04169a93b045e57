"""Mistakes in native objects: fields that an API server of the schema's version rejects, before an object reaches a cluster.

Objects of kinds without a schema have no findings, and neither have objects that SOPS has encrypted, nor fields with a variable that Flux
replaces (`${NAME}`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from krm_fn.base import codes, results
from krm_fn.base.results import Path, Result, Severity
from krm_fn.kubernetes import encryption, paths
from krm_fn.kubernetes.api_server import by_kind
from krm_fn.kubernetes.types import Resource
from krm_fn.render.config import Config
from krm_fn.render.schema import invalid_fields, schema_check, table

_VARIABLE = "${"


def check(resources: Iterable[Resource], config: Config) -> Iterator[Result]:
    """Yields the findings about the native objects among resources."""
    for resource in resources:
        try:
            if is_checked(resource):
                yield from _check(resource, config)
        except Exception as problem:  # noqa: BLE001 - an internal error about one object hides no finding about the others
            yield results.internal(problem, results.ref(resource))


def is_checked(resource: Resource) -> bool:
    """True for an object of a native kind with a schema whose values can be read."""
    address = results.ref(resource)
    return address.api_version in table.load_native().kinds.get(address.kind, ()) and not encryption.is_encrypted(resource)


def _check(resource: Resource, config: Config) -> Iterator[Result]:
    """Yields the violations of the schema, and then those of the rules for valid fields."""
    unknown: Severity = "warning" if config.unknown_fields == "warn" else "error"
    violations = [violation for violation in schema_check.native(resource, unknown=unknown) if not _is_dropped(violation)]
    ref, checked = results.ref(resource), invalid_fields.without_nulls(invalid_fields.without_errors(resource, violations))
    broken = [
        results.error(rejection.code, rejection.message, ref, rejection.path, proposed=rejection.proposed, edit=rejection.edit)
        for rejection in by_kind.validate(checked)
    ]
    findings = [*violations, *invalid_fields.independent(broken, invalid_fields.error_paths(violations))]
    yield from (finding for finding in findings if not _is_variable(resource, finding.path))


def _is_dropped(violation: Result) -> bool:
    """True for what the server ignores: a null, and a missing field of a data source that it drops or of an owner of a pod template.

    A policy about failed pods needs no rules. `claim_rules` has the rules for the data sources that the server keeps.
    """
    dropped = violation.path[:2] in (("spec", "dataSource"), ("spec", "dataSourceRef"))
    owner, rules = (
        violation.path[-5:-2] == ("template", "metadata", "ownerReferences"),
        violation.path[-2:] == ("podFailurePolicy", "rules"),
    )
    return violation.code == codes.NULL_FIELD or (violation.code == codes.MISSING_FIELD and (dropped or owner or rules))


def _is_variable(resource: Resource, path: Path) -> bool:
    """True if the field of a finding, or the key at its end, has a variable of Flux."""
    return any(isinstance(text, str) and _VARIABLE in text for text in (*path, paths.at(resource, path)))
