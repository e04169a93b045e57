"""The one origin of which a text is a copy: in the objects of a render, and in a converted resource."""

from __future__ import annotations

from krm_fn.base import results
from krm_fn.origins import text_origins
from krm_fn.origins.origin import Origin
from krm_fn.origins.text_origins import TextOrigins
from krm_fn.render import expand
from krm_fn.render.config import Config
from tests.support import given
from tests.support.cases import cases

DEBUG = {"nvidia.com/enable-debug-mode": "true"}
POD = ("spec", "template", "spec", "containers")


def origins_of(services, settings=None):
    """The origins of the images and the variables of all Deployments, by the name of the Deployment, the container, and the field."""
    graph, config = given.graph(services), settings or Config()
    (planned,) = expand.plans([graph], config)
    origins = TextOrigins([graph], planned.objects, config)
    made = {}
    for deployment in (resource for resource in planned.objects if resource["kind"] == "Deployment"):
        for index, container in enumerate(deployment["spec"]["template"]["spec"]["containers"]):
            named = [(variable["name"], ("env", number, "value")) for number, variable in enumerate(container.get("env", ()))]
            for name, path in [("image", ("image",)), *named]:
                made[deployment["metadata"]["name"], container["name"], name] = origins.of(deployment, (*POD, index, *path))
    return made


def user(*path):
    return Origin("user", ("spec", "services", *path), results.ref(given.graph({})))


def test_two_fields_with_the_same_text_are_told_apart():
    origins = origins_of({"A": given.service("worker"), "B": given.service("frontend")})
    assert origins["chat-a", "main", "image"] == user("A", "extraPodSpec", "mainContainer", "image")
    assert origins["chat-b", "main", "image"] == user("B", "extraPodSpec", "mainContainer", "image")


def test_a_setting_is_the_origin_of_what_a_render_adds():
    settings = Config(behaviour="v0.9", debugger_image="r.example/debug:1")
    origins = origins_of({"A": given.service("worker", annotations=DEBUG)}, settings)
    images = {origin for (*_, name), origin in origins.items() if name == "image"}
    assert images == {user("A", "extraPodSpec", "mainContainer", "image"), Origin("config", ("debuggerImage",))}


def test_a_text_that_a_render_puts_together_has_no_single_origin():
    origins = origins_of({"A": given.service("worker")})
    assert origins["chat-a", "main", "DYN_COMPONENT"] == user("A", "componentType")
    assert origins["chat-a", "main", "DYN_NAMESPACE"] is None


MAIN = ("spec", "components", 0, "podTemplate", "spec", "containers", 0)
MOVES = [
    ("a field with another name", ("spec", "services", "A", "extraPodSpec", "mainContainer", "image"), (*MAIN, "image")),
    ("a number", ("spec", "services", "A", "replicas"), ("spec", "components", 0, "replicas")),
    ("an object", ("spec", "services", "A", "extraPodSpec", "mainContainer"), MAIN),
    ("a field that stays", ("metadata", "name"), ("metadata", "name")),
]


@cases(("reason", "path", "expected"), MOVES)
def test_a_conversion_moves_fields(reason, path, expected):
    graph = given.graph({"A": given.service("worker", replicas=3, main={"image": "r.example/a:1", "command": ["python3"]})})
    assert text_origins.path_map(graph, "v1beta1")(path) == expected
