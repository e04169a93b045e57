"""Fields that a render copies: the same text object stands in the input and in the output."""

from __future__ import annotations

from krm_fn.origins import copied_texts
from krm_fn.origins.marked_values import ConfigMark, UserMark
from krm_fn.render import expand
from krm_fn.render.config import Config
from tests.support import given

DEBUG = {"nvidia.com/enable-debug-mode": "true"}


def inputs_of(services, settings=None):
    return copied_texts.distinct([given.graph(services)], settings or Config())


def containers(inputs):
    """The containers of all Deployments by the name of their Deployment and their own."""
    (planned,) = expand.plans(inputs.resources, inputs.settings)
    deployments = [resource for resource in planned.objects if resource["kind"] == "Deployment"]
    return {
        (deployment["metadata"]["name"], container["name"]): container
        for deployment in deployments
        for container in deployment["spec"]["template"]["spec"]["containers"]
    }


def image_field(service):
    return UserMark(0, ("spec", "services", service, "extraPodSpec", "mainContainer", "image"))


def test_two_fields_with_the_same_text_are_told_apart():
    inputs = inputs_of({"A": given.service("worker"), "B": given.service("frontend")})
    by_name = containers(inputs)
    assert by_name["chat-a", "main"]["image"] == by_name["chat-b", "main"]["image"]
    assert inputs.copied_from(by_name["chat-a", "main"]["image"]) == image_field("A")
    assert inputs.copied_from(by_name["chat-b", "main"]["image"]) == image_field("B")


def test_a_setting_is_the_field_of_what_a_render_adds():
    inputs = inputs_of({"A": given.service("worker", annotations=DEBUG)}, Config(behaviour="v0.9", debugger_image="r.example/debug:1"))
    marks = {inputs.copied_from(container["image"]) for container in containers(inputs).values()}
    assert marks == {image_field("A"), ConfigMark(("debuggerImage",))}


def test_a_text_that_a_render_puts_together_and_an_equal_text_are_no_copies():
    inputs = inputs_of({"A": given.service("worker")})
    main = containers(inputs)["chat-a", "main"]
    variables = given.variables(main)
    assert inputs.copied_from(variables["DYN_COMPONENT"]) == UserMark(0, ("spec", "services", "A", "componentType"))
    assert inputs.copied_from(variables["DYN_NAMESPACE"]) is None
    assert inputs.copied_from("".join([*main["image"]])) is None


def test_the_copy_renders_to_the_same_objects():
    services = {"A": given.service("worker", annotations=DEBUG), "B": given.service("frontend")}
    inputs = inputs_of(services)
    assert inputs.resources == [given.graph(services)]
    assert expand.expand(inputs.resources, inputs.settings) == expand.expand([given.graph(services)], Config())
