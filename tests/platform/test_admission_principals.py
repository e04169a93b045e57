"""The policies do not block an operator, an autoscaler or a planner; and the ConfigMap with the exempt users."""

from __future__ import annotations

import contextlib
import shlex

from tests.platform import admission
from tests.support import markdown
from tests.support.cases import cases
from tests.testbed import api, programs, server

GRAPHS = "/apis/nvidia.com/v1alpha1/namespaces/{}/dynamographdeployments/{}"
ADAPTERS = "/apis/nvidia.com/v1alpha1/namespaces/{}/dynamographdeploymentscalingadapters/{}"


def merge(user, path, body, *, dry_run=False):
    return user.request("PATCH", path + ("?dryRun=All" if dry_run else ""), body, api.MERGE)


def replicas(count):
    return {"spec": {"services": {"Decode": {"replicas": count}}}}


def done(answer):
    assert answer.ok, answer.message
    return answer.body


def stopped(plane, user, path):
    """True if the policy is in effect, so that the user cannot change the replicas."""
    return "replica-writers" in merge(user, path, replicas(9), dry_run=True).message


def test_an_autoscaler_an_operator_and_a_planner_go_on_working(installed, users, team):
    """The steps by which autoscaler and operator scale a graph pass, and other users are refused."""
    chat, adapter = GRAPHS.format(team, "live"), ADAPTERS.format(team, "live-decode")
    admission.keep(installed.client, admission.graph("live", team, 2))
    target = {"replicas": 2, "dgdRef": {"name": "live", "serviceName": "Decode"}}
    admission.keep(users["operator"], admission.resource("DynamoGraphDeploymentScalingAdapter", "live-decode", team, target))
    server.eventually(lambda: stopped(installed, users["tenant"], chat))
    for scaler, count in [("autoscaler", 5), ("planner", 4), ("tenant", 3)]:
        assert done(merge(users[scaler], f"{adapter}/scale", {"spec": {"replicas": count}}))["spec"]["replicas"] == count
        whole = installed.client.get(chat)
        whole["spec"]["services"]["Decode"]["replicas"] = count
        done(users["operator"].request("PUT", chat, whole))
        done(merge(users["operator"], f"{adapter}/status", {"status": {"replicas": count}}))
        done(merge(users["operator"], f"{chat}/status", {"status": {"state": "successful"}}))
        assert stopped(installed, users["tenant"], chat)
    done(merge(users["planner"], chat, replicas(6)))
    done(merge(users["syncer"], f"{chat}/status", {"status": {"state": "pending"}}))
    assert installed.client.get(chat)["spec"]["services"]["Decode"]["replicas"] == 6


def test_git_leaves_a_number_alone_that_it_does_not_name(installed, users, team):
    """A manifest without replicas keeps the operator's number; one with another number is refused."""
    named, silent = admission.graph("from-git", team, 2), admission.graph("from-git", team, 2)
    del silent["spec"]["services"]["Decode"]["replicas"]
    path = GRAPHS.format(team, "from-git")
    admission.keep(users["gitops"], named)
    server.eventually(lambda: stopped(installed, users["tenant"], path))
    done(merge(users["operator"], path, replicas(5)))
    assert "5 cannot become 2" in users["gitops"].apply(named, dry_run=False).message
    admission.keep(users["gitops"], silent)
    assert installed.client.get(path)["spec"]["services"]["Decode"]["replicas"] == 5


def test_the_page_installs_them(installed, monkeypatch):
    """The commands of the page, on a cluster that has the namespaces."""
    monkeypatch.chdir(programs.ROOT)
    installed.namespace("inference")
    ((_, block),) = markdown.fenced(admission.PAGE.read_text(), "sh")
    create, *others = [shlex.split(line) for line in block.splitlines()]
    assert create == ["kubectl", "create", "namespace", "dynamo-system"]
    for program, *arguments in others:
        assert program == "kubectl"
        assert installed.kubectl(*arguments)
    try:
        server.eventually(lambda: refuses(installed, "inference"))
    finally:
        installed.kubectl("label", "namespace", "inference", f"{admission.LABEL}-")
    server.eventually(lambda: not refuses(installed, "inference"))


def refuses(plane, namespace):
    was, now = ({"modelName": "chat", "baseModelName": name} for name in ("one", "other"))
    edit = admission.Edit("DynamoModel", was, now)
    return "spec.baseModelName" in admission.attempt(plane, plane.client, namespace, edit).message


@contextlib.contextmanager
def principals(plane, data):
    """Replace the users of the strict policies inside the context; `None` deletes the ConfigMap."""
    path = "/api/v1/namespaces/platform-policies/configmaps/strict-dynamo-principals"
    before = plane.client.get(path)
    before["metadata"] = {key: before["metadata"][key] for key in ("name", "namespace")}
    done(plane.client.request("DELETE", path))
    if data is not None:
        done(plane.client.request("POST", path.rpartition("/")[0], before | {"data": data}))
    try:
        yield
    finally:
        plane.client.request("DELETE", path)
        done(plane.client.request("POST", path.rpartition("/")[0], before))


def test_the_page_names_operator_and_planner_alone(dynamo, strict, users):
    path = GRAPHS.format(strict, "strict")
    server.eventually(lambda: stopped(dynamo, users["tenant"], path))
    assert "platform-policies/strict-dynamo-principals" in merge(users["tenant"], path, replicas(3), dry_run=True).message
    done(merge(users["operator"], path, replicas(3), dry_run=True))
    assert stopped(dynamo, users["operator of a release called dynamo-operator"], path)
    assert stopped(dynamo, users["planner"], path)  # its own namespace is another one


NAMED = [
    ("the name in full", "system:serviceaccount:flux-system:kustomize-controller", True),
    ("among others, indented", "  nobody\n  system:serviceaccount:flux-system:kustomize-controller \n", True),
    ("stars, and stars for nothing", "system:serviceaccount:*:*kustomize-controller*", True),
    ("a star in place of two parts", "system:*:kustomize-controller", False),
    ("a beginning", "system:serviceaccount:flux-system:kustomize", False),
    ("an end", "flux-system:kustomize-controller", False),
    ("dots, which stand for dots", "system:serviceaccount:flux-system:kustomize.controller", False),
    ("signs of regular expressions", "system:serviceaccount:flux-system:(kustomize-controller|x)+[", False),
    ("a comment", "# system:serviceaccount:flux-system:kustomize-controller", False),
    ("the namespace of the graph, which is another", "system:serviceaccount:{namespace}:kustomize-controller", False),
    ("nobody", "", False),
]


@cases(("reason", "lines", "allowed"), NAMED)
def test_users_are_named_by_lines_with_stars(reason, lines, allowed, dynamo, strict, users):
    """The tenant is listed, too, and shows when the ConfigMap has taken effect; while there is none, everybody is let through."""
    path = GRAPHS.format(strict, "strict")
    with principals(dynamo, {"replicas": f"{lines}\nsystem:serviceaccount:admission-team:tenant"}):
        server.eventually(lambda: merge(users["tenant"], path, replicas(3), dry_run=True).ok)
        server.eventually(lambda: merge(users["gitops"], path, replicas(3), dry_run=True).ok == allowed)
    server.eventually(lambda: stopped(dynamo, users["tenant"], path))


def test_a_missing_key_names_nobody(dynamo, strict, users):
    path = GRAPHS.format(strict, "strict")
    with principals(dynamo, {}):
        server.eventually(lambda: stopped(dynamo, users["operator"], path))
    server.eventually(lambda: not stopped(dynamo, users["operator"], path))


def test_a_lost_config_map_stops_nobody_and_leaves_the_other_rules(dynamo, strict, users):
    path = GRAPHS.format(strict, "strict")
    with principals(dynamo, None):
        for user in ("operator", "tenant"):
            server.eventually(lambda: merge(users[user], path, replicas(3), dry_run=True).ok)  # noqa: B023 - called at once
            server.eventually(lambda: merge(users[user], f"{path}/status", {"status": {"state": "pending"}}, dry_run=True).ok)  # noqa: B023
        engine = merge(users["tenant"], path, {"spec": {"backendFramework": "vllm"}}, dry_run=True)
        assert "graph-updates" in engine.message
    server.eventually(lambda: stopped(dynamo, users["tenant"], path))
