"""Budgets of a fleet: a limit holds for each cluster by itself, whichever roots and pipelines apply the graphs there."""

from __future__ import annotations

import json
import re

import jsonschema
import pytest

from tests.cli import console
from tests.repository import fleet
from tests.repository.clones import APPLICATION, FLUX, FUNCTION
from tests.review.diff.test_scenario import SCHEMA

BUDGET = "apiVersion: config.dynamo.krm-fn.io/v1alpha1\nkind: DynamoBudget\nmetadata: {name: gpus}\nspec: {budgets: [%s]}\n"
CLUSTERS = ("dev", "prod-eu")


@pytest.fixture
def clusters(clone):
    """Two clusters: dev has 12 GPUs, and prod-eu has 13. One base has 4 GPUs."""
    return fleet.write(clone, CLUSTERS)


def table(text):
    return [re.split(r"  +", line)[:-1] for line in text.partition("BUDGET ")[2].splitlines()[1:]]


def budget(clone, *limits):
    clone.put({"budget.yaml": BUDGET % ", ".join(limits)})
    return "--budget", "budget.yaml"


def test_a_limit_holds_for_each_cluster_by_itself(clusters):
    """The sum of both clusters is above the limit, and no cluster is."""
    done = console.run("check", "--quiet", *budget(clusters, "{name: all, gpus: 13}"))
    assert (done.code, "DYN640" in done.out) == (0, False)
    rows = [["all", "dev", "13", "12", "12", "12"], ["all", "prod-eu", "13", "13", "13", "13"], ["all", "(all)", "-", "25", "25", "25"]]
    assert table(done.out) == rows
    done = console.run("check", "--quiet", *budget(clusters, "{name: all, gpus: 12}"))
    assert done.code == 1
    assert done.out.count("DYN640") == 1
    assert "the budget all is exceeded in the cluster prod-eu: 13 GPUs in use, and the limit is 12" in done.out


def test_a_limit_can_name_its_clusters(clusters):
    limits = "{name: small, clusters: [dev], gpus: 12}", "{name: large, clusters: [prod-eu, prod-us], gpus: 20}"
    done = console.run("check", *budget(clusters, *limits))
    assert done.code == 0
    assert table(done.out) == [["small", "dev", "12", "12", "12", "12"], ["large", "prod-eu", "20", "13", "13", "13"]]
    assert "warning DYN735 spec.budgets[1].clusters[1]: the budget large names the cluster prod-us, to which no root is applied" in done.out


def test_the_peak_of_a_change_counts_in_its_cluster_only(clusters):
    clusters.edit("clusters/dev/apps/team-b/kustomization.yaml", "transformers", "components: [../more]\ntransformers")
    patch = '[{"op": "replace", "path": "/spec/components/1/replicas", "value": 6}]'
    component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n"
    target = f"patches: [{{target: {{kind: DynamoGraphDeployment}}, patch: '{patch}'}}]\n"
    clusters.put({"kustomization.yaml": f"{component}{target}"}, "clusters/dev/apps/more")
    done = console.run("diff", "--old", "HEAD", "--format", "json", *budget(clusters, "{name: all, gpus: 13}"))
    report = json.loads(done.out)
    jsonschema.validate(report, SCHEMA)
    (limit,) = report["budget"]["limits"]
    states = {entry["name"]: (entry["gpus"]["before"], entry["gpus"]["peak"], entry["exceeded"]) for entry in limit["clusters"]}
    assert states == {"dev": (12, 14, True), "prod-eu": (13, 13, False)}
    assert (limit["gpus"]["peak"], limit["exceeded"], done.code) == (27, True, 1)


def test_a_root_that_argo_cd_applies_to_two_clusters_counts_in_both(clone):
    clone.put({"graph.yaml": fleet.GRAPH.replace("NAME", "chat"), "render.yaml": FUNCTION}, "chat")
    clone.put({"kustomization.yaml": "namespace: team\nresources: [graph.yaml]\ntransformers: [render.yaml]\n"}, "chat")
    own = "server: https://kubernetes.default.svc"
    apps = [APPLICATION.format(name=name, path="chat", namespace="team").replace(own, f"name: {name}") for name in ("one", "two")]
    clone.put({"apps.yaml": "---\n".join(apps)}, "argocd").commit()
    done = console.run("check", "--quiet", *budget(clone, "{name: all, gpus: 4}"))
    assert done.code == 0
    assert [row[1:4] for row in table(done.out)] == [["one", "4", "4"], ["two", "4", "4"], ["(all)", "-", "8"]]


def test_a_root_that_argo_cd_and_flux_apply_to_one_cluster_counts_once(clusters):
    """A cluster has each object once, whoever applies it."""
    app = APPLICATION.format(name="one", path="clusters/dev/apps/team-b", namespace="team-b")
    flux = FLUX.format(name="chat", path="./clusters/dev/apps/team-b", kind="GitRepository", more="")
    clusters.put({"apps.yaml": f"{app.replace('server: https://kubernetes.default.svc', 'name: dev')}---\n{flux}"}, "pipelines")
    done = console.run("check", *budget(clusters, "{name: all, clusters: [dev], gpus: 12}"))
    assert done.err.count("clusters/dev/apps/team-b: built with kustomize") == 2
    assert table(done.out)[0] == ["all", "dev", "12", "12", "12", "12"]
