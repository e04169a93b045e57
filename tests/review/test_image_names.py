"""`krm-fn check` finds tags and names of images of Dynamo that are probably slips."""

from __future__ import annotations

from krm_fn.render.config import Config
from krm_fn.review import image_names, resource_findings
from tests.support import beta, given
from tests.support.cases import cases

REGISTRY = "nvcr.io/nvidia/ai-dynamo"
IMAGES = [
    ("a patch with a digit too many", f"{REGISTRY}/vllm-runtime:1.6.11", "DYN704", "is 1.6.2;"),
    ("a patch of a variant", f"{REGISTRY}/sglang-runtime:1.2.9-cuda13", "DYN704", "is 1.2.1;"),
    ("a mirror and a digest", f"mirror.example:5000/a/dynamo-frontend:v1.5.7@sha256:{'0' * 64}", "DYN704", "is 1.5.1;"),
    ("a missing letter in the name", f"{REGISTRY}/vllm-runtme:1.6.1", "DYN705", "write vllm-runtime,"),
    ("a letter too many in the name", f"{REGISTRY}/sglang-runtimes:1.6.1", "DYN705", "write sglang-runtime,"),
    ("two letters in the wrong order", "mirror.example/ai-dynamo/dynamo-fronetnd:1.6.1", "DYN705", "write dynamo-frontend,"),
    ("a slip in the folder", "nvcr.io/nvidia/ai-dyanmo/vllm-runtime:1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime,"),
    ("a slip in the registry", "ncvr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime,"),
    ("slips in registry and name", "nvcr.oi/nvidia/ai-dynamo/vllm-runtme:1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime,"),
    ("another name of a registry", "ncvr.io/team/ai-dyanmo/vllm-runtime:1.6.1", "", ""),
    ("an image of one's own in such a folder", "nvcr.io/nvidia/ai-dynamos/own-engine:1.6.1", "", ""),
    ("a near name on a registry of one's own", "registry.example/ml/vllm-runtimes:1.6.1", "", ""),
    ("another separator", f"{REGISTRY}/vllm_runtime:1.6.1", "DYN705", "write vllm-runtime,"),
    ("a blank", f"{REGISTRY}/vllm-runtime: 1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime:1.6.1"),
    ("a scheme", f"https://{REGISTRY}/vllm-runtime:1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime:1.6.1"),
    ("no registry", "nvidia/ai-dynamo/vllm-runtime:1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime,"),
    ("a folder in capital letters", "registry.example/ML/vllm-runtime:1.6.1", "DYN705", "write registry.example/ml/vllm-runtime:1.6.1"),
    ("a tag behind the sign of digests", f"{REGISTRY}/vllm-runtime@1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime:1.6.1"),
    ("another name of an engine", f"{REGISTRY}/trt-llm-runtime:1.6.1", "DYN705", "write tensorrtllm-runtime,"),
    ("the end of a name", f"{REGISTRY}/planner:1.6.1", "DYN705", "write dynamo-planner,"),
    ("a tag with v", f"{REGISTRY}/vllm-runtime:v1.6.1", "DYN705", "write 1.6.1,"),
    ("a variant with v", f"{REGISTRY}/vllm-runtime:v1.6.1-cuda13", "DYN705", "write 1.6.1-cuda13,"),
    ("a tag without a patch", f"{REGISTRY}/vllm-runtime:1.0", "DYN705", "has no tag 1.0, but 1.0.0, 1.0.1, 1.0.2; write 1.0.2,"),
    ("the folder without ai", "nvcr.io/nvidia/dynamo/vllm-runtime:1.6.1", "DYN705", f"write {REGISTRY}/vllm-runtime,"),
    ("the registry without the last folder", "nvcr.io/nvidia/sglang-runtime:1.6.1", "DYN705", f"write {REGISTRY}/sglang-runtime,"),
    ("a tag with v on a mirror", "mirror.example/ai-dynamo/vllm-runtime:v1.6.1", "", ""),
    ("a tag without a patch on a mirror", "mirror.example/ai-dynamo/vllm-runtime:1.6", "", ""),
    ("another folder of NVIDIA", "nvcr.io/nvidia/staging/vllm-runtime:1.6.1", "", ""),
    ("another image of NVIDIA", "nvcr.io/nvidia/pytorch:25.03-py3", "", ""),
    ("a host in capital letters", "Registry.example:5000/vllm-runtime:1.6.1", "", ""),
    ("the newest patch", f"{REGISTRY}/vllm-runtime:1.6.2", "", ""),
    ("an older patch", f"{REGISTRY}/vllm-runtime:1.5.0", "", ""),
    ("an unknown minor version, which has DYN490", f"{REGISTRY}/vllm-runtime:1.9.4", "", ""),
    ("a pre-release", f"{REGISTRY}/vllm-runtime:1.6.9-rc1", "", ""),
    ("an early build for one model", f"{REGISTRY}/vllm-runtime:1.6.9-kimi-k3-dev.1", "", ""),
    ("the version of an image of one's own", "registry.example/engine:1.6.11", "", ""),
    ("an image of one's own with a number", "registry.example/vllm-runtime2:1.6.1", "", ""),
    ("an image of one's own with a word", "registry.example/my-vllm-runtime:1.6.1", "", ""),
    ("a short name", "registry.example/dynamos:1.6.1", "", ""),
    ("another program", "docker.io/vllm/vllm-openai:v0.31.0", "", ""),
]


BESIDE = [
    # reason, the image of the worker, those of the frontends, the remedy
    ("the newest image", f"{REGISTRY}/vllm-runtime:latest", ["1.5.1"], f"write {REGISTRY}/vllm-runtime:1.5.1,"),
    ("no tag", f"{REGISTRY}/vllm-runtime", ["1.5.1"], f"write {REGISTRY}/vllm-runtime:1.5.1,"),
    ("two versions", f"{REGISTRY}/vllm-runtime:latest", ["1.5.1", "1.6.1"], ""),
    ("a digest", f"{REGISTRY}/vllm-runtime@sha256:{'0' * 64}", ["1.5.1"], ""),
    ("another registry", "registry.example/vllm-runtime:latest", ["1.5.1"], ""),
]


@cases(("image", "versions", "words"), BESIDE)
def test_an_image_without_the_version_of_the_others(image, versions, words):
    frontends = [
        beta.component(f"Frontend{number}", "frontend", main={"image": f"{REGISTRY}/dynamo-frontend:{version}"})
        for number, version in enumerate(versions)
    ]
    found = [*image_names.check([beta.graph(*frontends, beta.component("Worker", main={"image": image}))])]
    assert [(finding.code, words in finding.message) for finding in found] == [("DYN705", True)] * bool(words)


@cases(("image", "code", "words"), IMAGES)
def test_images_that_are_probably_slips(image, code, words):
    """A warning at the image, in both API versions."""
    main = {"image": image, "command": ["python3", "-m", "dynamo.vllm"], "args": ["--model", "m"]}
    for graph in (beta.graph(beta.component("Worker", main=main)), given.graph({"Worker": given.service("worker", main=main)})):
        findings = [*image_names.check([graph])]
        assert [(finding.code, finding.severity, finding.path[-1]) for finding in findings] == [(code, "warning", "image")] * bool(code)
        assert all(words in finding.message and "; " in finding.message for finding in findings)
        assert [finding.code for finding in resource_findings.check([graph], Config(), is_configured=False)].count(code) == bool(code)


LISTS = [
    ("of flags", "--model - m", "args"),
    ("of a program", "python3 - -m - dynamo.vllm", "command"),
    ("of a shell", "'/bin/sh' - -c", "command"),
]


@cases(("entries", "field"), LISTS)
def test_a_list_in_an_image_lacks_its_field(entries, field):
    """YAML folds the lines of a list without a field into the value above it. No node pulls such an image."""
    graph = beta.graph(beta.component("Worker", main={"image": f"{REGISTRY}/vllm-runtime:1.6.1 - {entries}"}))
    (finding,) = image_names.check([graph])
    assert (finding.code, finding.severity) == ("DYN716", "error")
    assert finding.message.endswith(f"write {REGISTRY}/vllm-runtime:1.6.1, and {field}: above the list")


TAGS = [
    ("a dot at another place", "15.1", "write the tag 1.5.1,"),
    ("a missing dot", "1.51", "write the tag 1.5.1,"),
    ("a letter in place of a digit", "1.5.l", "write the tag 1.5.1,"),
    ("several releases", "1.5", "correct the tag,"),
    ("no digits of a release", "1.93", "correct the tag,"),
    ("a word", "latest-151", "correct the tag,"),
]


@cases(("tag", "words"), TAGS)
def test_the_only_release_that_a_tag_can_mean_is_proposed(tag, words):
    main = {"image": f"{REGISTRY}/vllm-runtime:{tag}"}
    for graph in (beta.graph(beta.component("Worker", main=main)), given.graph({"Worker": given.service("worker", main=main)})):
        (finding,) = (
            entry for entry in resource_findings.check([graph], Config(), is_configured=True) if entry.code in ("DYN451", "DYN491")
        )
        assert words in finding.message


def test_a_component_gets_the_version_of_another_one_with_its_image():
    main = {"image": f"{REGISTRY}/vllm-runtime:own"}
    graph = beta.graph(beta.component("A", main=main), beta.component("B", main=main, runtimeVersionOverride="1.4.2"))
    (finding,) = (entry for entry in resource_findings.check([graph], Config(), is_configured=True) if entry.code == "DYN451")
    assert finding.message.endswith("set runtimeVersionOverride: 1.4.2, as a component with the same image does, or correct the tag")


@cases(
    ("reason", "others", "words"),
    [
        ("all other images have one version", ["1.5.1", "1.5.1"], "write the tag 1.5.1, or set"),
        ("two versions", ["1.5.1", "1.6.1"], "correct the tag, or set"),
        ("no other image", [], "correct the tag, or set"),
    ],
)
def test_an_image_without_a_version_gets_that_of_all_others(reason, others, words):
    images = [f"{REGISTRY}/vllm-runtime:latest", *(f"{REGISTRY}/sglang-runtime:{other}" for other in others)]
    graph = beta.graph(*(beta.component(f"W{number}", main={"image": image}) for number, image in enumerate(images)))
    (finding,) = (entry for entry in resource_findings.check([graph], Config(), is_configured=True) if entry.code == "DYN451")
    assert words in finding.message


def test_a_slip_in_each_component_is_found():
    graph = beta.graph(*(beta.component(name, "frontend", main={"image": f"{REGISTRY}/vllm-runtime:1.6.11"}) for name in ("A", "B")))
    assert [finding.code for finding in image_names.check([graph])] == ["DYN704", "DYN704"]


def test_a_tag_without_a_patch_gets_that_of_another_image():
    """The images of a graph should have one version."""
    images = ("1.0", "1.0.1")
    graph = beta.graph(
        *(beta.component(f"W{number}", main={"image": f"{REGISTRY}/vllm-runtime:{tag}"}) for number, tag in enumerate(images))
    )
    assert [finding.proposed for finding in image_names.check([graph])] == [f"{REGISTRY}/vllm-runtime:1.0.1"]
