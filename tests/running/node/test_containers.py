"""The environment, the command and the user of containers on the node. The rules of the variables have a table beside the node's code."""

from __future__ import annotations

import base64
import json
from pathlib import Path

import pytest

from tests.running.node import pods
from tests.testbed.node import Image


def ended(place, name, container="main"):
    """The end of a container that ends once."""
    place.node.eventually(lambda: "terminated" in place.container(name, container).get("state", {}), place.namespace, 60)
    return place.container(name, container)["state"]["terminated"]


def test_a_container_gets_its_variables_and_its_words(running):
    """Variables from the pod, a ConfigMap and a Secret; `$(NAME)` in a value, a command and arguments."""
    place = pods.place(running, "variables")
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
    place.apply(settings, secret, pods.pod("words", main, restartPolicy="Never"))
    assert ended(place, "words")["exitCode"] == 0
    address = place.pod("words")["status"]["podIP"]
    expected = f"words fast 2 debug s3cret http://{address}:8000/$(MISSING) fast-$(MODE) /made/for/it /root words words\n"
    assert place.node.log("variables", "words") == expected


def test_a_container_waits_for_a_missing_key(running):
    """CreateContainerConfigError with the kubelet's message, until the ConfigMap is there."""
    place = pods.place(running, "missing-key")
    wanted = [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "late", "key": "a"}}}]
    place.apply(pods.pod("waits", pods.sleeper(env=wanted)))
    waiting = {"reason": "CreateContainerConfigError", "message": 'configmap "late" not found'}
    place.node.eventually(lambda: place.container("waits").get("state") == {"waiting": waiting}, "missing-key", 60)
    place.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "late"}, "data": {"a": "1"}})
    place.node.eventually(lambda: place.container("waits")["ready"], "missing-key", 60)


def test_an_unknown_image_is_pulled_again_until_it_is_there(running):
    """ErrImagePull, then ImagePullBackOff; the pod starts when a test gives the image."""
    place = pods.place(running, "images")
    place.apply(pods.pod("pulls", pods.sleeper(image="example.com/late:1")))
    waits = []

    def backed_off():
        state = place.container("pulls").get("state", {}).get("waiting", {})
        waits.append(state.get("reason"))
        return state.get("reason") == "ImagePullBackOff" and "example.com/late:1" in state["message"]

    place.node.eventually(backed_off, "images", 60)
    assert "ErrImagePull" in waits
    assert place.pod("pulls")["status"]["phase"] == "Pending"
    place.node.images["example.com/late:1"] = Image()
    place.node.eventually(lambda: place.container("pulls")["ready"], "images", 60)


def test_a_command_that_does_not_exist_says_so(running):
    """StartError with exit code 128, as container runtimes report it."""
    place = pods.place(running, "no-command")
    place.apply(pods.pod("typo", pods.shell("", command=["vlm", "serve"]), restartPolicy="Never"))
    last = ended(place, "typo")
    assert (last["reason"], last["exitCode"]) == ("StartError", 128)
    assert 'exec: "vlm": executable file not found in $PATH' in last["message"]
    assert place.pod("typo")["status"]["phase"] == "Failed"


def test_the_entrypoint_of_an_image_is_used_and_replaced(running):
    """`command` replaces the entrypoint and the command of an image; `args` replaces its command only."""
    place = pods.place(running, "entrypoint")
    place.node.images["example.com/echo:1"] = Image(entrypoint=("echo", "entry"), command=("default",), env={"A": "image"})
    image = {"image": "example.com/echo:1"}
    containers: list[pods.Object] = [
        {"name": "none", **image},
        {"name": "args", "args": ["mine"], **image},
        {"name": "command", "command": ["sh", "-c", 'echo "$A"'], "env": [{"name": "A", "value": "pod"}], **image},
    ]
    place.apply(pods.pod("echo", *containers, restartPolicy="Never"))
    for name, said in (("none", "entry default\n"), ("args", "entry mine\n"), ("command", "pod\n")):
        assert ended(place, "echo", name)["exitCode"] == 0
        assert place.node.log("entrypoint", "echo", name) == said
    assert place.pod("echo")["status"]["phase"] == "Succeeded"


def test_a_container_writes_into_a_layer_of_its_own(running):
    """The files of the machine are readable and stay as they are; each life of a container begins with a new layer."""
    place = pods.place(running, "layers")
    script = "test ! -e /etc/mine && test ! -e /opt/mine && echo new > /etc/mine && echo new > /opt/mine && echo fresh; exit 1"
    place.apply(pods.pod("writes", pods.shell(script)))
    place.node.eventually(lambda: place.container("writes").get("restartCount", 0) >= 2, "layers", 60)
    assert [place.node.log("layers", "writes", life=life) for life in (0, 1)] == ["fresh\n"] * 2
    assert not Path("/etc/mine").exists()


def test_a_container_runs_as_its_user(running):
    """`runAsUser`, `fsGroup` and `readOnlyRootFilesystem`; a shared volume belongs to the group of the pod."""
    if not any(
        first == "0" and int(count) > 5000 for first, _, count in map(str.split, Path("/proc/self/gid_map").read_text().splitlines())
    ):
        pytest.skip("this user namespace has no user but root")
    place = pods.place(running, "users")
    strict = {"runAsUser": 1000, "runAsGroup": 1001, "readOnlyRootFilesystem": True}
    mount = {"name": "data", "mountPath": "/data"}
    script = "id -u; id -g; id -G; touch /nowhere || echo read-only; touch /data/mine && stat -c %g /data/mine"
    whole = pods.shell(script, securityContext=strict, volumeMounts=[mount])
    place.apply(
        pods.pod("user", whole, restartPolicy="Never", securityContext={"fsGroup": 5000}, volumes=[{"name": "data", "emptyDir": {}}])
    )
    assert ended(place, "user")["exitCode"] == 0
    lines = [line for line in place.node.log("users", "user").splitlines() if "touch" not in line]
    assert lines == ["1000", "1001", "1001 5000", "read-only", "5000"]


def test_groups_that_do_not_exist_are_left_out(running):
    """In a user namespace that has only root, a rendered pod with an `fsGroup` runs all the same; elsewhere it gets its group."""
    place = pods.place(running, "groups")
    place.apply(pods.pod("pod", pods.shell("id -u"), restartPolicy="Never", securityContext={"fsGroup": 1000}))
    assert ended(place, "pod")["exitCode"] == 0
    assert place.node.log("groups", "pod") == "0\n"


def test_containers_of_a_pod_share_their_network_and_no_process(running):
    """Both see one loopback interface; each command is process 1 of its container."""
    place = pods.place(running, "sharing")
    asks = pods.shell(
        'until curl -sf http://127.0.0.1:8000/ >/dev/null; do sleep 0.1; done; echo "asked as $$$$"; ls -d /proc/[0-9]* | wc -l'
    )
    place.apply(pods.pod("two", {**pods.server(), "name": "web"}, asks, restartPolicy="Never"))
    assert ended(place, "two")["exitCode"] == 0
    assert place.node.log("sharing", "two", "main").splitlines()[0] == "asked as 1"
    assert json.dumps(place.container("two", "web")["state"]).startswith('{"running"')
