"""Every field of every kind is read, or a finding names it, or `SILENT` says why nothing happens.

The schema gives the fields and valid values, and `contexts.yaml` the resources in which each field is tried.
"""

from __future__ import annotations

import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from krm_fn.base import results
from krm_fn.render import function_config
from krm_fn.render.config import Config
from krm_fn.render.convert import versions
from krm_fn.render.schema import table
from tests.fields import leaves
from tests.fields.effects import Context, Search
from tests.support import given

RELEASES = ("v0.9", "v1.2", "v1.3", "v1.4", "v1.5", "v1.6")
WRITTEN = yaml.safe_load(Path(__file__).with_name("contexts.yaml").read_text())
QUICK = [(f"{kind}/v1beta1", RELEASES[-1]) for kind in ("DynamoGraphDeployment", "DynamoComponentDeployment")]
"""The quick tier takes the kinds that have workloads, in the newest version and release."""
CASES = [
    pytest.param(*key.split("/"), release, marks=() if (key, release) in QUICK else pytest.mark.slow)
    for key in WRITTEN
    for release in RELEASES
]


class Silent(NamedTuple):
    """Fields without an effect. `fields` and `kinds` are patterns; `*` stands for any text."""

    fields: str
    reason: str
    kinds: str = "*"
    releases: tuple[str, ...] = RELEASES


_SYNC = "krm-fn sync reads it"
_VERSION = "no pod depends on the version of its image here, so nothing is lost"
_ONE = "its only value is the default"

SILENT = (
    Silent("spec.autoApply", f"{_SYNC} when profiling is done", "DynamoGraphDeploymentRequest/*"),
    Silent("spec.useMocker", f"{_SYNC} when profiling is done", "DynamoGraphDeploymentRequest/v1alpha1"),
    Silent("spec.features.mocker.enabled", f"{_SYNC} when profiling is done", "DynamoGraphDeploymentRequest/v1beta1"),
    Silent("spec.deploymentOverrides.*", f"{_SYNC} when profiling is done", "DynamoGraphDeploymentRequest/v1alpha1"),
    Silent("spec.*", f"{_SYNC}; a render only checks it", "DynamoModel/*"),
    Silent("spec.*", "an autoscaler writes it, and krm-fn sync reads it", "DynamoGraphDeploymentScalingAdapter/*"),
    Silent("*.runtimeVersionOverride", _VERSION, "Dynamo*Deployment/*", ("v0.9", "v1.2", "v1.3")),
    Silent("*.runtimeVersionOverride", _VERSION, "DynamoComponentDeployment/*", ("v1.4",)),
    Silent(
        "spec.runtimeVersionOverride", "from 1.0 on it is an error, and before it nothing depends on it", "DynamoGraphDeploymentRequest/*"
    ),
    Silent("*.modelRef.revision", "no release of Dynamo reads it: the name of a model alone finds its endpoints", "Dynamo*Deployment/*"),
    Silent(
        "spec.services.*.serviceName", "its documentation says that the key of the service is the name", "DynamoGraphDeployment/v1alpha1"
    ),
    Silent("*.podTemplate.metadata.name", "its documentation says that it is ignored", "Dynamo*Deployment/v1beta1"),
    Silent("*.podTemplate.metadata.namespace", "its documentation says that it is ignored", "Dynamo*Deployment/v1beta1"),
    Silent("*.eppConfig.config.apiVersion", _ONE, "DynamoGraphDeployment/*"),
    Silent("*.eppConfig.config.kind", _ONE, "DynamoGraphDeployment/*"),
    Silent("*.failover.numShadows", _ONE, "DynamoGraphDeployment/*", ("v1.2", "v1.3", "v1.4", "v1.5", "v1.6")),
)


def silent(kind: str, version: str, release: str) -> list[str]:
    """The fields of a kind that have no effect under a release."""
    search = Search(contexts(kind, version, release))
    return search.silent(leaves.root(kind, f"nvidia.com/{version}", "spec"))


def contexts(kind: str, version: str, release: str) -> list[Context]:
    """The contexts of a kind under a release."""
    entries = [entry for entry in WRITTEN[f"{kind}/{version}"] if release in entry.get("releases", RELEASES)]
    made = [context(kind, version, release, entry) for entry in entries if "of" not in entry]
    for older in {entry["of"] for entry in entries if "of" in entry}:
        converted = (
            other._replace(items=[versions.to(version, other.items[0]), *other.items[1:]]) for other in contexts(kind, older, release)
        )
        made.extend(converted)
    return made


def context(kind: str, version: str, release: str, entry: dict[str, Any]) -> Context:
    """A context of the file. The hash of workers is off, because it makes every render differ."""
    first, *others = entry["items"]
    return Context(entry["name"], [given.item(kind, "chat", api=f"nvidia.com/{version}", **first), *others], settings(release, entry))


def settings(release: str, entry: dict[str, Any]) -> Config:
    spec = {"behaviour": release, "workerHash": "none", **entry.get("settings", {})}
    read, findings = function_config.read(given.item(function_config.KIND, "render", api=function_config.API_VERSION, spec=spec))
    assert not results.has_errors(findings)
    return read


def reasons(kind: str, version: str, release: str) -> list[Silent]:
    """The rows of the table for a kind under a release."""
    return [row for row in SILENT if release in row.releases and fnmatch.fnmatchcase(f"{kind}/{version}", row.kinds)]


def matches(row: Silent, path: str) -> bool:
    """True if a row is about a field."""
    return fnmatch.fnmatchcase(path.replace("[]", ""), row.fields)


@pytest.mark.parametrize(("kind", "version", "release"), CASES)
def test_every_field_is_read_or_named(kind, version, release):
    """And every row of the table for the kind is needed."""
    paths, rows = silent(kind, version, release), reasons(kind, version, release)
    assert [path for path in paths if not any(matches(row, path) for row in rows)] == []
    assert [row for row in rows if not any(matches(row, path) for path in paths)] == []


def test_the_contexts_have_every_kind():
    """Except those that only configure (`test_every_setting.py`, `test_project_file.py`), and the one that only workers write."""
    settings = ("DynamoBudget", "DynamoProject", "DynamoRender", "OperatorConfiguration", "DynamoWorkerMetadata")
    others = {f"{kind}/v1alpha1" for kind in settings}
    known = {f"{kind}/{version.partition('/')[2]}" for kind, by_version in table.load().kinds.items() for version in by_version}
    assert known - others == set(WRITTEN)
