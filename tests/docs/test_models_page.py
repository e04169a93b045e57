"""docs/models.md: its tables have the conditions, reasons and limits of the code, and its commands load the adapters and remove them."""

from __future__ import annotations

import re

import pytest
import yaml

from krm_fn.render.convert import versions
from krm_fn.syncer.loader import adapter_state, worker_api
from krm_fn.syncer.loader.adapter_state import LIMITS
from krm_fn.syncer.status import cached_model, conditions, model_status
from tests.platform import pages
from tests.testbed import lora_workers, programs, server, syncer

PAGE = (programs.ROOT / "docs" / "models.md").read_text()
CODE = (programs.ROOT / "krm_fn" / "syncer" / "status" / "model_status.py").read_text()


def reasons() -> dict[str, set[str]]:
    """The reasons on the page by condition."""
    (section,) = re.findall(r"^## Status\n(.*?)(?=^## )", PAGE, re.DOTALL | re.MULTILINE)
    found: dict[str, set[str]] = {}
    condition = ""
    for first, reason in re.findall(r"^\| (`\w+`|) ?\| `(\w+)` \|", section, re.MULTILINE):
        condition = first.strip("`") or condition
        found.setdefault(condition, set()).add(reason)
    return found


def test_the_page_has_every_reason_of_the_code():
    listed = reasons()
    assert listed.keys() == {conditions.VALID, cached_model.SERVICES_FOUND, cached_model.ENDPOINTS_READY}
    named = {value for name, value in vars(model_status).items() if name.isupper() and isinstance(value, str)}
    named |= {cached_model.LOADING, *re.findall(r'Condition\(\w+, \w+, "(\w+)"', CODE)}
    types = {
        conditions.VALID,
        conditions.READY,
        conditions.RECONCILING,
        conditions.STALLED,
        cached_model.SERVICES_FOUND,
        cached_model.ENDPOINTS_READY,
    }
    assert set().union(*listed.values()) | {model_status.FAILED} == named - (types - {"ServicesFound"})
    assert f"`{model_status.FAILED}`, a reason of `Stalled`" in PAGE


def test_the_limits_are_those_of_the_code():
    assert f"{LIMITS.requests} requests, and {LIMITS.requests_of_model} of them for one model" in PAGE
    assert f"{worker_api.BODY_LIMIT // 1024} KiB of an answer, in {LIMITS.request:g} seconds" in PAGE
    assert f"after {LIMITS.retry:g} seconds and doubles the wait each time, up to {LIMITS.longest_retry / 60:g} minutes" in PAGE
    assert f"After {LIMITS.removal:g} seconds the syncer gives up" in PAGE
    assert adapter_state.LASTING == 3
    assert "refused an adapter three times in a row" in PAGE


PAGE_NAMESPACE, NAMESPACE = "inference", "page-models"


@pytest.fixture(scope="module")
def journey(tmp_path_factory, dynamo, controllers, kubelet, kustomize):
    """What the workers were asked, and what the page showed, after all commands of the page. The syncer runs with the installed rights."""
    page = PAGE.replace(PAGE_NAMESPACE, NAMESPACE)
    folder, steps = pages.clone(tmp_path_factory.mktemp("page"), page), pages.steps(page)
    example = folder / "examples" / "lora" / "graph.yaml"
    documents = yaml.safe_load_all(example.read_text().replace(PAGE_NAMESPACE, NAMESPACE))
    example.write_text(
        yaml.safe_dump_all([versions.to("v1alpha1", document) for document in documents])
    )  # the version that this server has

    def run(scripts):
        return "".join(pages.run(each, folder, dynamo) for each in scripts)

    def counts(name):
        path = "{.status.readyEndpoints} of {.status.totalEndpoints}"
        return dynamo.kubectl("get", "dm", name, "--namespace", NAMESPACE, "--output", f"jsonpath={path}")

    dynamo.namespace(syncer.NAMESPACE)
    account = syncer.installed(dynamo, kustomize, tmp_path_factory.mktemp("account"), "models", "loras")
    with lora_workers.running() as fleet:
        options = ("--models", "--loras", "--no-leader-election", f"--namespace={NAMESPACE}")
        with syncer.running(account, tmp_path_factory.mktemp("syncer"), *options, prelude=lora_workers.prelude(fleet)):
            for heading in ("Put the adapter into a bucket", "Add the model to Git"):
                run(steps[heading])
            schedule(dynamo, pods=3)
            server.eventually(lambda: counts("support-de") == counts("support-fr") == "2 of 2")
            said = run(steps["Load the adapter"])
            loaded = [*fleet.asked]
            dynamo.kubectl("delete", "dm", "support-fr", "--namespace", NAMESPACE, "--timeout=120s")
            unloaded = [each for each in fleet.asked if each.method == "DELETE"]
        run(steps["Deletion"])  # now nobody else removes the finalizer
        dynamo.kubectl("delete", "dm", "support-de", "--namespace", NAMESPACE, "--timeout=120s")
    return said, loaded, unloaded


def schedule(plane, pods):
    """Binds the pods to a node, as a scheduler does: without a node, no EndpointSlice lists a pod."""
    plane.client.request("POST", "/api/v1/nodes", {"metadata": {"name": NAMESPACE}})
    path = f"/api/v1/namespaces/{NAMESPACE}/pods"
    server.eventually(lambda: len(plane.client.get(path)["items"]) == pods)
    for name in [each["metadata"]["name"] for each in plane.client.get(path)["items"]]:
        bound = {"metadata": {"name": name}, "target": {"kind": "Node", "name": NAMESPACE}}
        answer = plane.client.request("POST", f"{path}/{name}/binding", bound)
        assert answer.ok, answer.message


def test_the_commands_of_the_page_load_the_adapters_into_all_pods(journey):
    listed, loaded, _ = journey
    assert re.search(r"^support-de +Qwen/Qwen3-8B +lora +2 +2 ", listed, re.MULTILINE)
    assert len({each.pod for each in loaded}) == 2
    asked = {(each.body["lora_name"], each.body["source"]["uri"]) for each in loaded}
    assert asked == {(f"support-{name}", f"s3://adapters/support-{name}/1") for name in ("de", "fr")}


def test_a_model_that_leaves_is_unloaded_from_all_pods(journey):
    _, loaded, unloaded = journey
    assert {each.path for each in unloaded} == {"/v1/loras/support-fr"}
    assert {each.pod for each in unloaded} == {each.pod for each in loaded}
