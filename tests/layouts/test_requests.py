"""A request in a kustomize overlay and in a kpt package: the Job has the final name and namespace, and a second render changes nothing."""

from __future__ import annotations

import shutil

import pytest
import yaml

from tests.support import build_checks, builds, golden

FILE = golden.EXAMPLES / "request" / "request.yaml"
RENDER = {
    "apiVersion": "dynamo.krm-fn.io/v1alpha1",
    "kind": "DynamoRender",
    "metadata": {"name": "render", "annotations": {"config.kubernetes.io/function": f"exec: {{path: {builds.COMMAND}}}"}},
}


@pytest.fixture
def overlay(tmp_path, kustomize):
    """A layer with the function, a namespace and a prefix, around the example."""
    base = tmp_path / "base"
    base.mkdir()
    shutil.copy(FILE, base)
    (base / "kustomization.yaml").write_text(yaml.safe_dump({"resources": [FILE.name]}))
    layer = builds.layer(tmp_path / "prod", "base", namespace="prod", namePrefix="eu-", transformers=["render.yaml"])
    (layer / "render.yaml").write_text(yaml.safe_dump(RENDER))
    return layer


def variables(job):
    pod = job["spec"]["template"]["spec"]
    return {each["name"]: each.get("value") for container in (*pod["initContainers"], *pod["containers"]) for each in container["env"]}


def test_an_overlay_names_the_job(overlay):
    objects = builds.kustomize(overlay)
    job = builds.find(objects, "Job", "profile-eu-support")
    assert job["metadata"]["namespace"] == "prod"
    named = {
        "DGDR_NAME": "eu-support",
        "DGDR_NAMESPACE": "prod",
        "JOB_NAME": "profile-eu-support",
        "OUTPUT_CONFIG_MAP": "dgdr-output-eu-support",
    }
    assert named.items() <= variables(job).items()
    assert builds.check(objects).returncode == 0


def test_a_layer_around_the_function_that_renames_is_found(overlay):
    around = builds.layer(overlay.parent / "around", "prod", namespace="elsewhere")
    checked = builds.check(builds.kustomize(around))
    assert checked.returncode == 1
    assert "DYN060" in checked.stdout + checked.stderr


def test_a_package_is_rendered_once(tmp_path, kpt):
    package = tmp_path / "package"
    package.mkdir()
    for file in (golden.PACKAGE / "Kptfile", golden.PACKAGE / "render.yaml", FILE):
        shutil.copy(file, package)
    golden.render(package)
    made = {"job_profile-support.yaml", "serviceaccount_dgdr-profiling-job.yaml", "rolebinding_dgdr-profiling-job-binding.yaml"}
    assert made <= {file.name for file in package.iterdir()}
    assert "# the profiler's own settings" in (package / FILE.name).read_text()
    first = shutil.copytree(package, tmp_path / "first")
    golden.render(package)
    assert builds.same_files(package, first)
    (job,) = build_checks.read((package / "job_profile-support.yaml").read_text())
    assert job["metadata"]["annotations"][build_checks.OWNER] == "DynamoGraphDeploymentRequest/support"
