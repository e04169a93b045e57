"""`krm-fn images`: every image with its line, the lock, and the formats for kustomize, hauler and zarf."""

from __future__ import annotations

import hashlib
import json
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import krm_fn
from krm_fn.kubernetes import paths
from krm_fn.render.config import Config
from krm_fn.review.images import image_references, image_uses
from tests.cli import console
from tests.support import given, golden
from tests.support.cases import cases
from tests.testbed import programs

SCHEMA = json.loads((Path(krm_fn.__file__).parent / "review" / "schemas" / "images.json").read_text())
RESOLVER = "#!/bin/sh\nprintf 'sha256:%s\\n' \"$(printf %s \"$1\" | sha256sum | cut -d' ' -f1)\"\n"
EXAMPLES = [recording for recording in golden.recordings() if "krm-fn render" in recording.command]


def digest(image: str) -> str:
    return f"sha256:{hashlib.sha256(image.encode()).hexdigest()}"


@pytest.fixture
def resolver(tmp_path: Path) -> str:
    """A command that prints a digest of its argument, as `crane digest` does for an image."""
    script = tmp_path / "resolve"
    script.write_text(RESOLVER)
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return f"{script} {{}}"


def written(folder: Path, *resources: dict[str, Any], name: str = "graph.yaml") -> Path:
    file = folder / name
    file.write_text(yaml.safe_dump_all(resources, sort_keys=False))
    return file


def listed(*arguments: str | Path) -> dict[str, list[dict[str, Any]]]:
    """The uses by image, from the JSON, which its schema accepts."""
    output = json.loads(console.run("images", "--format", "json", *arguments).out)
    jsonschema.Draft202012Validator(SCHEMA).validate(output)
    return {each["image"]: each["uses"] for each in output["images"]}


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_every_image_of_an_example_is_listed_with_the_line_that_names_it(example):
    """The images are those of the recorded render, and each line that the list names holds the image."""
    render = [each for each in yaml.safe_load_all(example.expected.read_text()) if each]
    wanted = {image for each in render for image in _images(each)}
    arguments = example.command.split()[2:]
    uses = listed(*(programs.ROOT / word if "/" in word else word for word in arguments))
    assert set(uses) == wanted
    for image, each in [(image, each) for image, found_ in uses.items() for each in found_]:
        if each["author"]["field"].startswith("default of "):
            assert image in {Config().debugger_image, Config().profiling.copier_image}
        else:
            line = Path(each["author"]["file"]).read_text().splitlines()[each["author"]["line"] - 1]
            assert image in line


def _images(resource: dict[str, Any]) -> set[str]:
    """The images of a rendered object, found by the names of their fields."""
    specs = [spec for place in paths.POD_TEMPLATES for _, spec in paths.find(resource, [place.spec])]
    return {entry["image"] for spec in specs for field in ("initContainers", "containers") for entry in spec.get(field, ())}


POD = {
    "initContainers": [{"name": "load", "image": "r.example/load:1"}],
    "containers": [{"name": "run", "image": "r.example/run:1"}],
    "volumes": [{"name": "data", "image": {"reference": "r.example/data:1"}}],
}
KINDS = [
    ("Pod", "v1", {"spec": POD}),
    ("Deployment", "apps/v1", {"spec": {"template": {"spec": POD}}}),
    ("CronJob", "batch/v1", {"spec": {"jobTemplate": {"spec": {"template": {"spec": POD}}}}}),
    ("PodTemplate", "v1", {"template": {"spec": POD}}),
]


@cases(("kind", "api", "fields"), KINDS)
def test_workloads_that_a_user_wrote_are_listed_with_init_containers_and_image_volumes(kind, api, fields, tmp_path):
    uses = listed(written(tmp_path, given.item(kind, "own", api=api, **fields)))
    assert {image: each[0]["role"] for image, each in uses.items()} == {
        "r.example/load:1": "init container",
        "r.example/run:1": "container",
        "r.example/data:1": "volume",
    }
    assert all(each[0]["author"]["field"] == each[0]["field"] for each in uses.values())


def test_user_images_beside_the_main_container_are_found_where_the_user_wrote_them(tmp_path):
    """The image of each container, also of one with the image of another, and of an image volume of a graph."""
    pod = {
        "containers": [{"name": "log", "image": given.IMAGE}],
        "initContainers": [{"name": "load", "image": "r.example/load:1"}],
        "volumes": [{"name": "data", "image": {"reference": "r.example/data:1"}}],
    }
    uses = listed(written(tmp_path, given.graph({"Worker": given.service("worker", pod=pod)})))
    fields = {each["name"]: each["author"]["field"] for found_ in uses.values() for each in found_}
    assert fields == {
        "main": "spec.services.Worker.extraPodSpec.mainContainer.image",
        "log": "spec.services.Worker.extraPodSpec.containers[0].image",
        "load": "spec.services.Worker.extraPodSpec.initContainers[0].image",
        "data": "spec.services.Worker.extraPodSpec.volumes[0].image.reference",
    }


OLD = {"image": "registry.example/dynamo:0.9.0", "env": [{"name": "DYN_STORE_KV", "value": "mem"}]}
DEBUG = given.graph({"Worker": given.service("worker", main=OLD, annotations={"nvidia.com/enable-debug-mode": "true"})})


def test_an_image_of_the_configuration_names_its_setting(tmp_path):
    """A debugger has the image of the configuration: its line if it is written, or the setting with the default."""
    graph = written(tmp_path, DEBUG)
    (use,) = listed(graph)[Config().debugger_image]
    assert use["author"] == {"field": "default of debuggerImage"}
    render = tmp_path / "render.yaml"
    render.write_text(
        "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec:\n  debuggerImage: r.example/debug:1\n"
    )
    (use,) = listed("--config", render, graph)["r.example/debug:1"]
    assert (use["author"]["field"], use["author"]["line"]) == ("spec.debuggerImage", 5)


def test_generated_objects_among_the_input_are_not_listed_twice(tmp_path):
    """A finished build holds the graph and its objects: a render makes the objects again."""
    graph = written(tmp_path, given.graph())
    build = tmp_path / "build.yaml"
    build.write_text(console.run("render", graph).out)
    assert {image: len(each) for image, each in listed(build).items()} == {image: len(each) for image, each in listed(graph).items()}


def test_images_that_a_later_layer_changed_are_those_of_the_build(tmp_path):
    """A pinned build asks for digests, and its own field names them; images that the layer left alone keep their line in the graph."""
    graph = written(
        tmp_path, given.graph({"Worker": given.service("worker", pod={"containers": [{"name": "log", "image": "r.example/log:1"}]})})
    )
    pinned = f"r.example/log@{digest('log')}"
    build = tmp_path / "build.yaml"
    before, deployment = console.run("render", graph).out.split("kind: Deployment", 1)
    build.write_text(f"{before}kind: Deployment{deployment.replace('r.example/log:1', pinned, 1)}")
    uses = listed(build)
    assert set(uses) == {given.IMAGE, pinned}
    assert uses[pinned][0]["author"]["field"] == uses[pinned][0]["field"]
    assert uses[given.IMAGE][0]["author"]["field"] == "spec.services.Worker.extraPodSpec.mainContainer.image"


def test_a_build_has_the_lines_of_its_sources(tmp_path):
    """Real kustomize annotates the file of each resource, and --root names the folder of the build."""
    kustomize = programs.path("kustomize")
    graph = written(tmp_path, given.graph())
    (tmp_path / "kustomization.yaml").write_text("resources: [graph.yaml]\nbuildMetadata: [originAnnotations]\nnamePrefix: our-\n")
    built = subprocess.run([kustomize, "build", tmp_path], capture_output=True, text=True, check=True, timeout=120).stdout
    done = console.run("images", "--root", tmp_path, "-", stdin=built)
    assert (done.code, f"our-chat-worker, container main: {graph}:{_line(graph, given.IMAGE)} " in done.out) == (0, True)


def test_a_graph_with_an_error_hides_no_other_and_fails(tmp_path):
    """The text still has the other images, but no program gets a list that is not complete."""
    graphs = written(tmp_path, given.graph(name="good"), given.graph({"W": {"componentType": 3}}, name="bad"))
    done = console.run("images", graphs)
    assert (done.code, given.IMAGE in done.out) == (1, True)
    output = json.loads(console.run("images", "--format", "json", graphs).out)
    jsonschema.Draft202012Validator(SCHEMA).validate(output)
    assert [each["image"] for each in output["images"]] == [given.IMAGE]
    assert {each["severity"] for each in output["findings"]} == {"error"}
    for style in ("hauler", "zarf"):
        done = console.run("images", "--format", style, graphs)
        assert (done.code, done.out) == (1, "")
        assert "would not be complete" in done.err


def test_why_shows_one_image_and_names_the_nearest_for_an_unknown_one(tmp_path):
    pod = {"containers": [{"name": "log", "image": "r.example/log:1"}]}
    graph = written(tmp_path, given.graph({"Worker": given.service("worker", pod=pod)}))
    done = console.run("images", "--why", "r.example/log:1", graph)
    assert done.out == (
        "r.example/log:1\n  Deployment team/chat-worker, container log: "
        f"{graph}:{_line(graph, 'r.example/log:1')} spec.services.Worker.extraPodSpec.containers[0].image\n"
    )
    done = console.run("images", "--why", "r.example/lgo:1", graph)
    assert (done.code, "did you mean r.example/log:1?" in done.err) == (2, True)


def _line(file: Path, text: str) -> str:
    number, line = next((number, line) for number, line in enumerate(file.read_text().splitlines(), 1) if text in line)
    return f"{number}:{len(line) - len(line.lstrip(' -')) + 1}"


def test_the_lock_keeps_digests_and_forgets_images_that_no_pod_needs(tmp_path, resolver):
    lock, graph = tmp_path / "images.lock", written(tmp_path, given.graph())
    assert console.run("images", "--lock", lock, "--resolve", resolver, graph).code == 0
    first = yaml.safe_load(lock.read_text())
    assert first == {"formatVersion": 1, "images": {given.IMAGE: digest(given.IMAGE)}}
    assert console.run("images", "--lock", lock, "--resolve", "false {}", graph).code == 0  # nothing is missing, so nothing runs
    other = written(tmp_path, given.graph({"Worker": given.service("worker", main={"image": "r.example/new:2"})}))
    done = console.run("images", "--lock", lock, other)
    assert (done.code, "DYN556 spec.services.Worker.extraPodSpec.mainContainer.image: " in done.err) == (1, True)
    assert yaml.safe_load(lock.read_text()) == first  # without --resolve, the lock is only read
    assert console.run("images", "--lock", lock, "--resolve", resolver, other).code == 0
    assert yaml.safe_load(lock.read_text())["images"] == {"r.example/new:2": digest("r.example/new:2")}


LOCKS = [
    ("a newer format", "formatVersion: 2\nimages: []\n", "DYN558"),
    ("no format", "images: {}\n", "DYN557"),
    ("not a mapping", "- a\n", "DYN557"),
    ("an empty file", "", "DYN557"),
    ("no mapping of images", "formatVersion: 1\nimages: [a]\n", "DYN557"),
    ("no digest", f"formatVersion: 1\nimages: {{'{given.IMAGE}': latest}}\n", "DYN557"),
    ("not YAML", "{", "DYN0"),
]


@cases(("reason", "text", "code"), LOCKS)
def test_a_lock_that_cannot_be_read_is_an_error_and_stays_as_it_is(reason, text, code, tmp_path, resolver):
    lock, graph = tmp_path / "images.lock", written(tmp_path, given.graph())
    lock.write_text(text)
    done = console.run("images", "--lock", lock, "--resolve", resolver, graph)
    assert (done.code, f"error {code}" in done.err, lock.read_text()) == (1, True, text), reason


FAILURES = [
    ("a command that fails", "sh -c 'echo no such image >&2; exit 3' {}", "code 3: no such image"),
    ("a command that prints no digest", "echo {}", "printed no digest"),
    ("a command that is not installed", "no-such-command {}", "cannot be run"),
]


@cases(("reason", "command", "said"), FAILURES)
def test_a_failing_command_is_an_error_with_what_it_said(reason, command, said, tmp_path):
    lock = tmp_path / "images.lock"
    done = console.run("images", "--lock", lock, "--resolve", command, written(tmp_path, given.graph()))
    assert (done.code, "error DYN559" in done.err, said in done.err) == (1, True, True), reason


@pytest.mark.parametrize("command", ["crane digest", "crane 'digest {}"])
def test_a_command_without_a_place_for_the_image_is_wrong_usage(command, tmp_path):
    assert console.run("images", "--resolve", command, written(tmp_path, given.graph())).code == 2


@pytest.mark.parametrize("image", ["--help", "a b", "R.example/Upper", "a:${TAG}", "a@sha256:12", "\x1b[31mred", "x;touch y"])
def test_an_image_that_no_runtime_accepts_reaches_no_command_and_no_terminal(image, tmp_path):
    """The command would create a file. Escape codes are made visible."""
    ran = tmp_path / "ran"
    done = console.run(
        *("images", "--resolve", f"touch {ran} {{}}"),
        *("-",),
        stdin=json.dumps(given.item("Pod", "own", spec={"containers": [{"name": "run", "image": image}]})),
    )
    assert ("warning DYN555" in done.err, ran.exists(), "\x1b" in done.out + done.err) == (True, False, False)


GOOD = ["busybox", "busybox:1", "localhost:5000/a", "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0", f"a/b_c__d-e.f:T@{digest('')}"]


@pytest.mark.parametrize("image", GOOD)
def test_a_reference_is_read_in_parts_that_make_the_reference_again(image):
    parts = image_references.read(image)
    assert parts
    assert parts.name + (f":{parts.tag}" if parts.tag else "") + (f"@{parts.digest}" if parts.digest else "") == image


def test_kustomize_pins_every_image_of_a_build_by_its_digest(tmp_path, resolver):
    """Real kustomize: deployments, LeaderWorkerSets and cliques, image volumes, two tags of one name; no other image changes."""
    kustomize = programs.path("kustomize")
    volume = {"volumes": [{"name": "data", "image": {"reference": "r.example/data:1"}}]}
    multinode: dict[str, Any] = {"multinode": {"nodeCount": 2}, "resources": {"limits": {"gpu": "4"}}}
    sglang = {"args": ["python3 -m dynamo.sglang"]}
    services = {
        "Frontend": given.service("frontend", main={"image": "r.example/run:1.5.1"}, pod=volume),
        "Worker": given.service("worker", main={"image": "r.example/run:1.5.2", **sglang}, **multinode),
    }
    graphs = [
        given.graph(services, name="sets"),
        given.graph({**services, "Other": given.service("worker", main=sglang, pod=volume)}, name="grove"),
    ]
    render = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec: {orchestrator: %s}\n"
    objects = []
    for graph, orchestrator in zip(graphs, ("deployment", "grove"), strict=True):
        (tmp_path / "render.yaml").write_text(render % orchestrator)
        done = console.run("render", "--config", tmp_path / "render.yaml", written(tmp_path, graph))
        assert done.code == 0, done.err
        objects += [each for each in yaml.safe_load_all(done.out) if each["kind"] != "DynamoGraphDeployment"]
    objects.append(given.item("Pod", "own", spec={"containers": [{"name": "run", "image": f"r.example/own@{digest('')}"}], **volume}))
    file = written(tmp_path, *objects, name="objects.yaml")
    pins = console.run("images", "--resolve", resolver, "--format", "kustomize", file)
    assert pins.code == 0, pins.err
    (tmp_path / "images.yaml").write_text(pins.out)
    (tmp_path / "kustomization.yaml").write_text("resources: [objects.yaml]\ntransformers: [images.yaml]\n")
    built = subprocess.run([kustomize, "build", tmp_path], capture_output=True, text=True, check=True, timeout=120).stdout
    before = [use.image for use in image_uses.uses(objects, Config())]
    after = {use.image for use in image_uses.uses([*yaml.safe_load_all(built)], Config())}
    assert {"r.example/run:1.5.1", "r.example/run:1.5.2", "r.example/data:1", given.IMAGE} < set(before)
    assert after == {image if "@" in image else f"{re.sub(':[^:/]*$', '', image)}@{digest(image)}" for image in before}


CONFLICTS = [
    ("no tag beside a tag", ["r.example/a", "r.example/a:1"], True),
    ("a tag with another digest", ["r.example/a:1", f"r.example/a:1@{digest('other')}"], True),
    ("two tags", ["r.example/a:1", "r.example/a:2"], False),
    ("a longer tag", ["r.example/a:1", "r.example/a:12"], False),
    ("no tag alone", ["r.example/a", "r.example/b:1"], False),
]


@cases(("reason", "images", "wrong"), CONFLICTS)
def test_images_that_kustomize_cannot_tell_apart_are_an_error(reason, images, wrong, tmp_path, resolver):
    pod = given.item("Pod", "own", spec={"containers": [{"name": f"c{n}", "image": image} for n, image in enumerate(images)]})
    done = console.run("images", "--resolve", resolver, "--format", "kustomize", written(tmp_path, pod))
    assert (done.code, "error DYN560" in done.err, done.out == "") == (int(wrong), wrong, wrong), reason


def test_the_format_for_kustomize_needs_digests(tmp_path):
    assert console.run("images", "--format", "kustomize", written(tmp_path, given.graph())).code == 2


def test_mirrors_get_each_image_once_with_its_digest(tmp_path, resolver):
    graph = written(tmp_path, given.graph({"A": given.service("worker"), "B": given.service("frontend")}))
    pinned = f"{given.IMAGE}@{digest(given.IMAGE)}"
    hauler = yaml.safe_load(console.run("images", "--resolve", resolver, "--format", "hauler", graph).out)
    assert (hauler["apiVersion"], hauler["kind"], hauler["spec"]) == (
        "content.hauler.cattle.io/v1",
        "Images",
        {"images": [{"name": pinned}]},
    )
    done = console.run("images", "--resolve", resolver, "--format", "zarf", graph)
    zarf = yaml.safe_load(done.out)
    assert (zarf["kind"], zarf["components"][0]["images"]) == ("ZarfPackageConfig", [pinned])
    assert (done.code, done.err.count("warning DYN561")) == (0, 1)


@pytest.mark.parametrize("style", ["hauler", "zarf"])
def test_pinned_pods_find_their_images_in_a_mirror(style, tmp_path, resolver):
    """The mirror holds the digests, and the pods ask for them, so there is nothing to warn about."""
    image = f"{given.IMAGE}@{digest(given.IMAGE)}"
    graph = written(tmp_path, given.graph({"Worker": given.service("worker", main={"image": image})}))
    done = console.run("images", "--resolve", resolver, "--format", style, graph)
    assert (done.code, image in done.out, "DYN561" in done.err) == (0, True, False)
