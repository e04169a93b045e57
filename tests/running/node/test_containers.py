"""The environment, the command and the user of containers on the node. The rules of the variables have a table beside the node's code."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.running.node import pods
from tests.testbed.node import Image


def ended(here, name, container="main"):
    """The end of a container that ends once."""
    here.node.eventually(lambda: "terminated" in here.container(name, container).get("state", {}), here.namespace, 60)
    return here.container(name, container)["state"]["terminated"]


def test_a_container_gets_its_variables_and_its_words(running):
    """Variables from the pod, a ConfigMap and a Secret; `$(NAME)` in a value, a command and arguments."""
    here = pods.here(running, "variables")
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": {"LEVEL": "debug", "mode": "fast"}}
    secret = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "keys"}, "data": {"TOKEN": base64.b64encode(b"s3cret").decode()}}
    env = [
        {"name": "POD_NAME", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "MODE", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "mode"}}},
        {"name": "GPUS", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
        {"name": "URL", "value": "http://$(POD_IP):8000/$(MISSING)"},
    ]
    script = 'echo "$POD_NAME $MODE $GPUS $LEVEL $TOKEN $URL $1 $PWD $HOME $HOSTNAME $(hostname)"'
    main = pods.shell(
        script,
        args=["sh", "$(MODE)-$$(MODE)"],
        env=env,
        envFrom=[{"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "keys"}}, {"secretRef": {"name": "no", "optional": True}}],
        workingDir="/made/for/it",
        resources={"limits": {"cpu": "1500m"}},
    )
    here.apply(settings, secret, pods.pod("words", main, restartPolicy="Never"))
    assert ended(here, "words")["exitCode"] == 0
    address = here.pod("words")["status"]["podIP"]
    expected = f"words fast 2 debug s3cret http://{address}:8000/$(MISSING) fast-$(MODE) /made/for/it /root words words\n"
    assert here.node.log("variables", "words") == expected


def test_a_container_waits_for_a_missing_key(running):
    """CreateContainerConfigError with the kubelet's message, until the ConfigMap is there."""
    here = pods.here(running, "missing-key")
    wanted = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "late", "key": "a"}}}]
    here.apply(pods.pod("waits", pods.sleeper(env=wanted)))
    waiting = {"reason": "CreateContainerConfigError", "message": 'configmap "late" not found'}
    here.node.eventually(lambda: here.container("waits").get("state") == {"waiting": waiting}, "missing-key", 60)
    here.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}, "data": {"a": "1"}})
    here.node.eventually(lambda: here.container("waits")["ready"], "missing-key", 60)


def test_an_unknown_image_is_pulled_again_until_it_is_there(running):
    """ErrImagePull, then ImagePullBackOff; the pod starts when a test gives the image."""
    here = pods.here(running, "images")
    here.apply(pods.pod("pulls", pods.sleeper(image="example.com/late:1")))
    messages = {}

    def both_seen():
        state = here.container("pulls").get("state", {}).get("waiting", {})
        messages[state.get("reason")] = state.get("message")
        return {"ErrImagePull", "ImagePullBackOff"} <= messages.keys()

    here.node.eventually(both_seen, "images", 60)
    assert "example.com/late:1" in messages["ImagePullBackOff"]
    assert here.pod("pulls")["status"]["phase"] == "Pending"
    here.node.images["example.com/late:1"] = Image()
    here.node.eventually(lambda: here.container("pulls")["ready"], "images", 60)


def test_a_command_that_does_not_exist_says_so(running):
    """StartError with exit code 128, as container runtimes report it."""
    here = pods.here(running, "no-command")
    here.apply(pods.pod("typo", pods.shell("", command=["vlm", "serve"]), restartPolicy="Never"))
    last = ended(here, "typo")
    assert (last["reason"], last["exitCode"]) == ("StartError", 128)
    assert 'exec: "vlm": executable file not found in $PATH' in last["message"]
    assert here.pod("typo")["status"]["phase"] == "Failed"


def test_the_entrypoint_of_an_image_is_used_and_replaced(running):
    """`command` replaces the entrypoint and the command of an image; `args` replaces its command only."""
    here = pods.here(running, "entrypoint")
    here.node.images["example.com/echo:1"] = Image(entrypoint=("echo", "entry"), command=("default",), env={"A": "image"})
    image = {"image": "example.com/echo:1"}
    containers: list[pods.Object] = [
        {"name": "none", **image},
        {"name": "args", "args": ["mine"], **image},
        {"name": "command", "command": ["sh", "-c", 'echo "$A"'], "env": [{"name": "A", "value": "pod"}], **image},
    ]
    here.apply(pods.pod("echo", *containers, restartPolicy="Never"))
    for name, said in (("none", "entry default\n"), ("args", "entry mine\n"), ("command", "pod\n")):
        assert ended(here, "echo", name)["exitCode"] == 0
        assert here.node.log("entrypoint", "echo", name) == said
    assert here.pod("echo")["status"]["phase"] == "Succeeded"


def test_a_container_writes_into_a_layer_of_its_own(running):
    """The files of the machine are readable and stay as they are; each life of a container begins with a new layer."""
    here = pods.here(running, "layers")
    script = "test ! -e /etc/mine && test ! -e /opt/mine && echo new > /etc/mine && echo new > /opt/mine && echo fresh; exit 1"
    here.apply(pods.pod("writes", pods.shell(script)))
    here.node.eventually(lambda: here.container("writes").get("restartCount", 0) >= 2, "layers", 60)
    assert [here.node.log("layers", "writes", life=life) for life in (0, 1)] == ["fresh\n"] * 2
    assert not Path("/etc/mine").exists()


def test_a_container_runs_as_its_user(running):
    """`runAsUser`, `fsGroup` and `readOnlyRootFilesystem`; a shared volume belongs to the group of the pod."""
    if not any(
        first == "0" and int(count) > 5000 for first, _, count in map(str.split, Path("/proc/self/gid_map").read_text().splitlines())
    ):
        pytest.skip("this user namespace has no user but root")
    here = pods.here(running, "users")
    strict = {"runAsUser": 1000, "runAsGroup": 1001, "readOnlyRootFilesystem": True}
    mount = {"name": "data", "mountPath": "/data"}
    script = "id -u; id -g; id -G; touch /nowhere || echo read-only; touch /data/mine && stat -c %g /data/mine"
    whole = pods.shell(script, securityContext=strict, volumeMounts=[mount])
    here.apply(
        pods.pod("user", whole, restartPolicy="Never", securityContext={"fsGroup": 5000}, volumes=[{"name": "data", "emptyDir": {}}])
    )
    assert ended(here, "user")["exitCode"] == 0
    lines = [line for line in here.node.log("users", "user").splitlines() if "touch" not in line]
    assert lines == ["1000", "1001", "1001 5000", "read-only", "5000"]


def test_groups_that_do_not_exist_are_left_out(running):
    """In a user namespace that has only root, a rendered pod with an `fsGroup` runs all the same; elsewhere it gets its group."""
    here = pods.here(running, "groups")
    here.apply(pods.pod("pod", pods.shell("id -u"), restartPolicy="Never", securityContext={"fsGroup": 1000}))
    assert ended(here, "pod")["exitCode"] == 0
    assert here.node.log("groups", "pod") == "0\n"


def test_containers_of_a_pod_share_their_network_and_no_process(running):
    """Both see one loopback interface; each command is process 1 of its container."""
    here = pods.here(running, "sharing")
    asks = pods.shell(
        'until curl -sf http://127.0.0.1:8000/ >/dev/null; do sleep 0.1; done; echo "asked as $$$$"; ls -d /proc/[0-9]* | wc -l'
    )
    here.apply(pods.pod("two", {**pods.server(), "name": "web"}, asks, restartPolicy="Never"))
    assert ended(here, "two")["exitCode"] == 0
    assert here.node.log("sharing", "two", "main").splitlines()[0] == "asked as 1"
    assert json.dumps(here.container("two", "web")["state"]).startswith('{"running"')
