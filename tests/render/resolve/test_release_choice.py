"""The images of a graph choose the release that its render follows; the configuration can pin it, and no graph changes by itself.

Each row has at most one finding. It names the field, the release, and what to do.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from krm_fn.base import registry
from krm_fn.base.results import field
from krm_fn.render import dynamo_api, expand, function_config, labels
from krm_fn.render.config import Config
from krm_fn.render.kinds import releases
from krm_fn.render.resolve import release_choice
from tests.support import beta, given
from tests.support.cases import cases

ROOT = Path(__file__).parents[3]
ORIGIN = labels.ORIGIN_VERSION
OF_CHOICE = {"DYN490", "DYN491", "DYN492"}
MAIN = "spec.services.Worker.extraPodSpec.mainContainer.image"
DIGEST = f"@sha256:{'0a' * 32}"


def older(*images, annotations=None, **fields):
    """A v1alpha1 graph with a worker for each image; the first is called `Worker`, and has the other fields."""
    names = ["Worker", *(f"Worker{number}" for number in range(1, len(images)))]
    services = {name: given.service("worker", main=_main(image)) for name, image in zip(names, images, strict=True)}
    services["Worker"].update(fields)
    return given.graph(services, annotations=annotations)


def newer(*images, annotations=None, **fields):
    """The same in v1beta1."""
    rest = [beta.component(f"Worker{number}", main=_main(image)) for number, image in enumerate(images[1:], 1)]
    return beta.graph(beta.component("Worker", main=_main(images[0]), **fields), *rest, annotations=annotations)


def _main(image):
    """The fields of a container with an image, or with an image and a command."""
    return {"image": image} if isinstance(image, str) else {"image": image[0], "command": image[1]}


def alone(image, api=dynamo_api.V1ALPHA1):
    """A DynamoComponentDeployment."""
    if api == dynamo_api.V1ALPHA1:
        spec = {"componentType": "worker", "extraPodSpec": {"mainContainer": {"image": image}}}
    else:
        spec = {key: value for key, value in beta.component("chat", main={"image": image}).items() if key != "name"}
    return given.item("DynamoComponentDeployment", "chat", api=api, spec=spec)


def tagged(tag):
    return older(f"registry.example/dynamo:{tag}")


SIDECAR = {"name": "front", "image": "registry.example/dynamo-frontend:1.6.0"}
UNKNOWN = ("DYN491", MAIN)
OF_V1BETA1 = ("DYN491", "spec.components[0].podTemplate.spec.containers[0].image")
NIM, EXPRESS = "nvcr.io/nim/meta/llama:3.0.0", "a/modelexpress-server:0.3.0"
STARTS = ["python3", "-m", "dynamo.vllm"]
SERVER = {"image": EXPRESS, "command": ["/app/server"]}
BESIDE = {"initContainers": [{"name": "runtime", "image": "own/runtime:1.6.1", "restartPolicy": "Always"}]}

CASES = [
    ("a version below 1.0", tagged("0.9.0"), "v0.9", None),
    ("the first version of v1.2", tagged("1.0.0"), "v1.2", None),
    ("a version between", tagged("1.1.1"), "v1.2", None),
    ("the last version before 1.3", tagged("1.2.99"), "v1.2", None),
    ("the first version of v1.3", tagged("1.3.0"), "v1.3", None),
    ("an unknown patch", tagged("1.3.4"), "v1.3", None),
    ("a version of v1.4", tagged("1.4.2"), "v1.4", None),
    ("a build of one's own of 1.4", tagged("1.4.2-patched"), "v1.4", None),
    ("the first version of v1.5", tagged("1.5.0"), "v1.5", None),
    ("the last version before 1.6", tagged("1.5.99"), "v1.5", None),
    ("the first version of v1.6", tagged("1.6.0"), "v1.6", None),
    ("a leading v", tagged("v1.6.1"), "v1.6", None),
    ("a pre-release of an image counts as its release", tagged("1.6.0-rc1"), "v1.6", None),
    ("a pre-release below 1.0", tagged("0.9.1-rc2"), "v0.9", None),
    ("two numbers are no version", tagged("1.6"), "v1.6", UNKNOWN),
    ("two numbers with a leading v", tagged("v1.4"), "v1.6", UNKNOWN),
    ("a suffix of a build of one's own", tagged("1.5.2-patched"), "v1.5", None),
    ("a word", tagged("latest"), "v1.6", UNKNOWN),
    ("a version inside a word", tagged("vllm-1.6.0"), "v1.6", UNKNOWN),
    ("no tag", older("registry.example/dynamo"), "v1.6", UNKNOWN),
    ("a digest alone", older(f"registry.example/dynamo{DIGEST}"), "v1.6", UNKNOWN),
    ("digests only", older(f"a/dynamo{DIGEST}", f"a/vllm-runtime{DIGEST}"), "v1.6", UNKNOWN),
    ("a digest after a version", older(f"registry.example/dynamo:1.5.0{DIGEST}"), "v1.5", None),
    ("the port of a registry is no tag", older("registry.example:5000/dynamo"), "v1.6", UNKNOWN),
    ("a version after the port of a registry", older("registry.example:5000/dynamo:1.5.1"), "v1.5", None),
    ("no image, which is another finding", given.graph({"Worker": {"componentType": "worker"}}), "v0.9", None),
    ("an override", older("a/dynamo:latest", runtimeVersionOverride="1.6.0"), "v1.6", None),
    ("an override is above the tag", older("a/dynamo:1.6.0", runtimeVersionOverride="0.9.0"), "v0.9", None),
    ("the highest version decides", older("a/dynamo:0.9.0", "a/dynamo:1.6.0", "a/dynamo:1.5.0"), "v1.6", None),
    ("images of four releases", older("a/dynamo:0.9.0", "a/dynamo:1.3.1", "a/dynamo:1.5.0", "a/dynamo:1.6.2"), "v1.6", None),
    ("images without a version do not decide", older("a/dynamo:latest", "a/dynamo:1.5.0"), "v1.5", None),
    ("the image of a frontend sidecar counts", older("a/dynamo:1.5.0", frontendSidecar={"image": "a/dynamo-frontend:1.6.0"}), "v1.6", None),
    ("the first version of v1.7", tagged("1.7.0"), "v1.7", None),
    ("a newer image", tagged("1.8.0"), "v1.7", ("DYN490", MAIN)),
    ("a much newer image", tagged("2.0.0-rc1"), "v1.7", ("DYN490", MAIN)),
    ("a newer patch is of the same release", tagged("1.6.9"), "v1.6", None),
    (
        "a newer override",
        older("a/dynamo:1.6.0", runtimeVersionOverride="1.8.0"),
        "v1.7",
        ("DYN490", "spec.services.Worker.runtimeVersionOverride"),
    ),
    (
        "a newer frontend sidecar",
        older("a/dynamo:1.6.0", frontendSidecar={"image": "a/dynamo-frontend:1.8.0"}),
        "v1.7",
        ("DYN490", "spec.services.Worker.frontendSidecar.image"),
    ),
    ("an annotation of an operator", older("a/dynamo:0.9.0", annotations={ORIGIN: "1.5.0"}), "v1.5", None),
    ("the same without a version of an image", older("a/dynamo:latest", annotations={ORIGIN: "1.5.0"}), "v1.6", None),
    ("an older origin", older("a/dynamo:0.9.0", annotations={ORIGIN: "0.9.0"}), "v0.9", None),
    ("a pre-release of an operator is below its release", older("a/dynamo:0.9.0", annotations={ORIGIN: "1.0.0-rc1"}), "v0.9", None),
    ("an older origin of a newer graph", older("a/dynamo:1.6.0", annotations={ORIGIN: "1.5.0"}), "v1.6", None),
    ("a worker hash", older("a/dynamo:latest", annotations={labels.WORKER_HASH_V2: "0a1b2c3d"}), "v1.6", None),
    (
        "an origin in the future",
        older("a/dynamo:1.5.0", annotations={ORIGIN: "1.6.0"}),
        "v1.5",
        ("DYN492", f"metadata.annotations['{ORIGIN}']"),
    ),
    ("v1beta1 below 1.0", newer("a/dynamo:0.9.0"), "v1.5", None),
    ("v1beta1 with an image of 1.2", newer("a/dynamo:1.2.1"), "v1.2", None),
    (
        "an annotation of a newer operator with an image of 1.3",
        older("a/dynamo:1.3.1", annotations={labels.WORKER_HASH_V2: "0a1b2c3d"}),
        "v1.3",
        None,
    ),
    ("v1beta1 without a version, which is an error", newer("a/dynamo:latest"), "v1.6", None),
    ("v1beta1", newer("a/dynamo:1.6.1"), "v1.6", None),
    ("v1beta1 with several images", newer("a/dynamo:1.5.0", "a/dynamo:1.6.0"), "v1.6", None),
    ("v1beta1 with an override", newer("a/dynamo:latest", runtimeVersionOverride="1.6.0"), "v1.6", None),
    ("v1beta1 with a frontend sidecar", newer("a/dynamo:1.5.0", frontendSidecar="front", beside=[SIDECAR]), "v1.6", None),
    ("v1beta1 with another sidecar", newer("a/dynamo:1.5.0", beside=[SIDECAR]), "v1.5", None),
    ("v1beta1, newer", newer("a/dynamo:1.8.0"), "v1.7", ("DYN490", "spec.components[0].podTemplate.spec.containers[0].image")),
    (
        "v1beta1, newer override",
        newer("a/dynamo:latest", runtimeVersionOverride="1.8.0"),
        "v1.7",
        ("DYN490", "spec.components[0].runtimeVersionOverride"),
    ),
    (
        "v1beta1 with an origin in the future",
        newer("a/dynamo:1.6.0", annotations={ORIGIN: "2"}),
        "v1.6",
        ("DYN492", f"metadata.annotations['{ORIGIN}']"),
    ),
    ("a component", alone("a/dynamo:0.9.0"), "v0.9", None),
    ("a newer component", alone("a/dynamo:1.6.0"), "v1.6", None),
    ("a component of v1beta1", alone("a/dynamo:1.5.0", dynamo_api.V1BETA1), "v1.5", None),
    ("a component of v1beta1, newest", alone("a/dynamo:1.6.0", dynamo_api.V1BETA1), "v1.6", None),
    ("a component without a version", alone("a/dynamo:latest"), "v1.6", ("DYN491", "spec.extraPodSpec.mainContainer.image")),
    (
        "a component of v1beta1 without a version",
        alone("a/dynamo:latest", dynamo_api.V1BETA1),
        "v1.6",
        ("DYN491", "spec.podTemplate.spec.containers[0].image"),
    ),
    ("another image says nothing", older("own/engine:0.3.0", "a/vllm-runtime:1.5.0"), "v1.5", None),
    ("another image alone", older("own/engine:0.3.0"), "v1.6", UNKNOWN),
    ("another image alone in v1beta1", newer("own/engine:1.5.0"), "v1.6", OF_V1BETA1),
    ("another image beside an error", newer("own/engine:1.5.0", "a/dynamo:latest"), "v1.6", None),
    ("an override gives it a version", older("own/engine:0.3.0", runtimeVersionOverride="1.5.0"), "v1.5", None),
    ("a NIM", newer(NIM, "a/dynamo-frontend:1.5.0"), "v1.5", None),
    ("a NIM that starts Dynamo", newer((NIM, STARTS), "a/dynamo-frontend:1.5.0"), "v1.5", None),
    (
        "ModelExpress beside images without a version",
        older((EXPRESS, ["/app/server"]), "a/vllm-runtime:latest"),
        "v1.6",
        ("DYN491", MAIN.replace("Worker", "Worker1")),
    ),
    ("an engine's own image", newer("vllm/vllm-openai:0.31.0", "a/dynamo-frontend:1.5.0"), "v1.5", None),
    ("a nightly image has no version", newer("a/vllm-runtime-nightly:20260701-5245c0f", "a/dynamo:1.5.0"), "v1.5", None),
    ("any image that starts Dynamo", newer(("own/engine:1.5.0", STARTS)), "v1.5", None),
    ("the same in a line for a shell", newer(("own/engine:1.5.0", ["sh", "-c", "exec python3  -m dynamo.vllm --model m"])), "v1.5", None),
    ("the same in v1alpha1", older(("own/engine:0.9.0", STARTS)), "v0.9", None),
    ("an image with another command", older(("own/engine:0.9.0", ["./start.sh"])), "v1.6", UNKNOWN),
    ("the default of a frontend", beta.graph(beta.component("A", "frontend", main={"image": "own/front:1.5.0"})), "v1.5", None),
    ("the command of a frontend", beta.graph(beta.component("A", "frontend", main=SERVER)), "v1.6", OF_V1BETA1),
    ("the default of a frontend in v1alpha1", older("own/front:0.9.0", componentType="frontend"), "v0.9", None),
    ("the container runtime beside an engine", newer("vllm/vllm-openai:0.31.0", pod=BESIDE), "v1.6", None),
    ("a component in the future", alone("a/dynamo:1.8.0"), "v1.7", ("DYN490", "spec.extraPodSpec.mainContainer.image")),
    (
        "a component of v1beta1 in the future",
        alone("a/dynamo:1.8.0", dynamo_api.V1BETA1),
        "v1.7",
        ("DYN490", "spec.podTemplate.spec.containers[0].image"),
    ),
]


@cases(("resource", "release", "finding"), CASES)
def test_the_release_of_a_resource(resource, release, finding):
    assert release_choice.release_name(resource, Config()) == release
    found = [result for result in expand.expand([resource], Config()).results if result.code in OF_CHOICE]
    assert [(result.code, field(result.path)) for result in found] == ([finding] if finding else [])
    for result in found:
        assert result.severity == "warning"
        assert release in result.message
        assert "set behaviour" in result.message


LOWEST = [
    # reason, resource, the lowest release, the release that the render follows
    ("no version, as without a lowest release", tagged("latest"), "v1.5+", "v1.6"),
    ("a digest of v1beta1", newer(f"a/dynamo{DIGEST}"), "v1.2+", "v1.6"),
    ("a version below 1.0", tagged("0.9.0"), "v1.5+", "v1.5"),
    ("a version below 1.0 and an operator that has a file", tagged("0.9.0"), "v1.2+", "v1.2"),
    ("the version of an older operator", tagged("1.3.1"), "v1.2+", "v1.3"),
    ("an older version", tagged("1.3.1"), "v1.5+", "v1.5"),
    ("a newer version", tagged("1.6.1"), "v1.5+", "v1.6"),
]


@cases(("resource", "lowest", "release"), LOWEST)
def test_the_configuration_can_name_the_lowest_release(resource, lowest, release):
    """The images choose a newer one."""
    assert release_choice.release_name(resource, Config(behaviour=lowest)) == release


@pytest.mark.parametrize(
    ("reason", "override", "code"),
    [
        ("a word", "main", "DYN027"),
        ("two numbers", "1.6", "DYN027"),
        ("a leading v, which the schema refuses", "v1.6.0", "DYN027"),
        ("a number", 1.6, "DYN021"),
    ],
)
def test_an_override_that_is_no_version_is_the_only_error(reason, override, code):
    """The choice adds no finding of its own."""
    (found,) = expand.expand([older("a/dynamo:1.6.0", runtimeVersionOverride=override)], Config()).results
    assert (found.severity, found.code, field(found.path)) == ("error", code, "spec.services.Worker.runtimeVersionOverride"), reason


@cases("resource", CASES)
@pytest.mark.parametrize("release", release_choice.RELEASES)
def test_the_configuration_pins_a_release_for_all_graphs(resource, release):
    """Then the images say nothing. An origin that is newer than the release is still reported."""
    config = Config(behaviour=release)
    assert release_choice.release_name(resource, config) == release
    found = {result.code for result in expand.expand([resource], config).results} & OF_CHOICE
    assert found <= {"DYN492"}


def test_the_releases_are_in_order_and_their_names_are_those_of_the_configuration():
    """The choice takes the last release whose first image version is not above that of the images."""
    rows = list(release_choice.RELEASES.values())
    assert rows == sorted(rows, key=lambda row: row.since)
    assert [releases.get(row.file).number for row in rows] == [tuple(map(int, name[1:].split("."))) for name in release_choice.RELEASES]
    for name in release_choice.RELEASES:
        given_config, found = function_config.read(
            given.item("DynamoRender", "a", api="dynamo.krm-fn.io/v1alpha1", spec={"behaviour": name})
        )
        assert (given_config.behaviour, found) == (name, [])


@pytest.mark.parametrize(
    ("reason", "resource", "settings", "origin"),
    [
        ("v0.9 has no origin", older("a/dynamo:0.9.0"), {}, None),
        ("the lowest version of v1.5", older("a/dynamo:1.5.1"), {}, "1.5.0"),
        ("the lowest version of v1.6", older("a/dynamo:1.6.1"), {}, "1.6.0"),
        ("v1beta1", newer("a/dynamo:1.6.1"), {}, "1.6.0"),
        ("the configuration", newer("a/dynamo:1.6.1"), {"operator_version": "1.5.3"}, "1.5.3"),
        ("the annotation wins", newer("a/dynamo:1.6.1", annotations={ORIGIN: "1.5.1"}), {"operator_version": "1.5.3"}, "1.5.1"),
        ("a pinned release", newer("a/dynamo:1.6.1"), {"behaviour": "v1.5"}, "1.5.0"),
    ],
)
def test_the_kept_graph_has_the_origin_version(reason, resource, settings, origin):
    kept = given.rendered(resource, **{"behaviour": "", "discovery_backend": "etcd", "worker_hash": "none", **settings})
    assert labels.annotations(kept["DynamoGraphDeployment/chat"]).get(ORIGIN) == origin, reason


@pytest.mark.parametrize("resource", [older("a/dynamo:1.5.1"), newer("a/dynamo:1.5.1")], ids=["v1alpha1", "v1beta1"])
def test_the_origin_stays_when_newer_images_move_the_graph(resource):
    """The pods of several nodes depend on the origin, so a kept graph keeps it: only a new graph gets that of the newer release."""
    kept = given.rendered(resource, behaviour="")["DynamoGraphDeployment/chat"]
    moved = {**kept, "spec": newer("a/dynamo:1.6.0")["spec"] if "components" in kept["spec"] else older("a/dynamo:1.6.0")["spec"]}
    assert release_choice.release_name(moved, Config()) == "v1.6"
    again = given.rendered(moved, behaviour="")["DynamoGraphDeployment/chat"]
    assert labels.annotations(again)[ORIGIN] == "1.5.0"


@pytest.mark.parametrize("file", registry.entries(releases))
def test_the_configuration_can_name_each_release(file):
    """Also the releases that no image chooses."""
    name = releases.get(file).name
    config, found = function_config.read(given.item("DynamoRender", "a", api="dynamo.krm-fn.io/v1alpha1", spec={"behaviour": name}))
    assert (config.behaviour, found, release_choice.number(name)) == (name, [], releases.get(file).number)
    assert release_choice.release(older("a/b:0.9.0"), config).number == releases.get(file).number


def test_the_page_about_releases_has_the_number_of_compared_graphs():
    rows = re.findall(r"^\| `(v[0-9.]+)` \| [0-9.]+ \| v1[a-z0-9]+ \| ([0-9]+)", (ROOT / "docs" / "releases.md").read_text(), re.MULTILINE)
    assert [(name, int(number)) for name, number in rows] == [(name, row.cases) for name, row in release_choice.RELEASES.items()]


def test_an_unknown_release_in_the_configuration_is_a_finding_that_names_the_known_ones():
    _, found = function_config.read(given.item("DynamoRender", "a", api="dynamo.krm-fn.io/v1alpha1", spec={"behaviour": "v1.1"}))
    assert [result.severity for result in found] == ["error"]
    assert all(name in found[0].message for name in release_choice.RELEASES)


@pytest.mark.parametrize(
    ("version", "name"), [((1, 3, 4), "v1.3"), ((1, 1, 0), "v1.2"), ((0, 8, 1), "v0.9"), ((1, 6, 9), "v1.6"), ((1, 9, 0), "v1.7")]
)
def test_an_operator_of_an_unknown_patch_belongs_to_its_minor_release(version, name):
    assert release_choice.of_version(version) == name
