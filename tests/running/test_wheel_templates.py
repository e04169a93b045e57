"""The graph templates in NVIDIA's wheel of the newest runtime render, and have no errors."""

from __future__ import annotations

import pytest
import runtimes
import yaml

from tests.running import bed
from tests.support import given

RELEASE = runtimes.RELEASES[-1]
TEMPLATES = [f"{engine}/{kind}" for engine in ("sglang", "trtllm", "vllm") for kind in ("agg", "disagg")] + ["mocker/disagg"]


def folder():
    """The folder of the templates in the environment of the release."""
    (found,) = bed.environment(RELEASE).glob("lib/python*/site-packages/dynamo/profiler/templates/dgd")
    return found


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_renders_without_an_error(name):
    """Its images choose the release, and only its missing namespace is reported."""
    resources = [*yaml.safe_load_all((folder() / f"{name}.yaml").read_text())]
    expansion = given.expanded(*resources)
    assert {finding.code for finding in expansion.results} <= {"DYN057"}
    kinds = {resource["kind"] for resource in expansion.resources}
    assert {"Deployment", "Service", "DynamoGraphDeployment"} <= kinds


def test_every_template_of_the_wheel_is_in_the_list():
    assert sorted(str(file.relative_to(folder()).with_suffix("")) for file in folder().rglob("*.yaml")) == sorted(TEMPLATES)
