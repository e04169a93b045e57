"""A render without errors generates objects that an API server accepts, also for resources with an awkward value.

The check of native objects stands for the API server: `tests/api_server/test_admission.py` shows that both give the same verdict.
"""

from __future__ import annotations

import copy
import os
import random

import yaml

from krm_fn.base import results
from krm_fn.render import expand
from krm_fn.render.config import Config
from krm_fn.render.schema import table
from krm_fn.review import native_objects
from tests.support import awkward_values, faults, given, golden

CASES = int(os.environ.get("KRM_FN_ADMISSION", "300"))
CONFIGS = (Config(), Config(orchestrator="grove"), Config(behaviour="v0.9"), Config(behaviour="v1.5"))
INGRESS = {"enabled": True, "host": "chat", "ingressControllerClassName": "nginx", "tls": {"secretName": "tls"}, "labels": {"a": "b"}}
CLAIM = {"name": "weights", "create": True, "size": "1Gi", "storageClass": "fast", "volumeAccessMode": "ReadWriteMany"}
RICH = given.graph(
    {
        "Frontend": given.service("frontend", ingress=INGRESS, labels={"a": "b"}, annotations={"a": "b"}),
        "Worker": given.service(
            "worker", modelRef={"name": "a/b"}, volumeMounts=[{"name": "weights", "mountPoint": "/w"}], labels={"a": "b"}
        ),
    },
    pvcs=[CLAIM],
)
METADATA = "io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"


def bases():
    """The Dynamo resources of the examples, a graph with many fields, and a request."""
    documents = [document for path in sorted(golden.EXAMPLES.glob("*/graph*.yaml")) for document in yaml.safe_load_all(path.read_text())]
    resources = [document for document in documents if isinstance(document, dict) and is_dynamo(results.ref(document))]
    return [*resources, *[RICH] * 8, faults.request()]


def is_dynamo(address):
    """True for a Dynamo kind with a schema, but not for a configuration."""
    return address.api_version.startswith("nvidia.com/") and address.api_version in table.load().kinds.get(address.kind, ())


def changed(resource, rng):
    """A copy with one awkward value, and the path of the changed field."""
    copied = copy.deepcopy(resource)
    change = awkward_values.Change(rng)
    if rng.random() < 0.1:
        change.change(copied["metadata"], METADATA)
    else:
        change.change(copied["spec"], spec_of(copied))
    return copied, change.path


def spec_of(resource):
    """The definition of the spec of a resource."""
    definition = table.load().definitions[table.load().kinds[resource["kind"]][resource["apiVersion"]]]
    return definition["properties"]["spec"]["$ref"]


def test_objects_of_awkward_resources_have_no_findings():
    known, lies, rendered = bases(), [], 0
    for number in range(2 * CASES):
        rng = random.Random(f"graph {number}")  # noqa: S311 - cases, not secrets
        resource, path = changed(rng.choice(known), rng)
        if not isinstance(resource["metadata"].get("name"), str):  # a command refuses such a document before
            continue
        expansion = expand.expand([resource], rng.choice(CONFIGS))
        if results.has_errors(expansion.results):
            continue
        rendered += 1
        generated = [resource for resource in expansion.resources if not resource["apiVersion"].startswith("nvidia.com/")]
        errors = [finding for finding in native_objects.check(generated, Config()) if finding.severity == "error"]
        lies += [(number, results.field(path), error) for error in errors]
    assert lies == []
    assert rendered > 0.1 * CASES
