"""Names with any characters stay text in every output of `krm-fn graph` and `krm-fn images`: no syntax, and no control of a terminal."""

from __future__ import annotations

import json
import re
import subprocess
import unicodedata
import xml.etree.ElementTree as ET
from typing import Any

import pytest
import yaml
from hypothesis import example, settings
from hypothesis import given as drawn
from hypothesis import strategies as st

from krm_fn.origins.origin import FieldLocation
from krm_fn.render.config import Config
from krm_fn.review.diagram import Diagram, DiagramEdge, DiagramNode, graph_diagram, graphviz_diagram, mermaid_diagram
from krm_fn.review.images import image_lock, image_references, image_uses
from krm_fn.review.images.image_formats import FORMATS, ImageList
from tests.support import given
from tests.testbed import programs, tier

HOSTILE = [
    '"]; x["',
    "<script>alert(1)</script>",
    "a|b",
    "-->",
    "`code`",
    "```",
    "1. list",
    "- list",
    "**bold** _it_ [link](http://x)",
    "%%{init: {}}%%",
    "\\",
    "\\n\\l",
    "&lt;&quot;",
    "#quot;",
    "\x1b[31m",
    "\x9b31m",
    "a\nb",
    "end",
    "${x}",
    "\N{RIGHT-TO-LEFT OVERRIDE}x",
    "\ud800",
]
TEXTS = st.text(st.characters(), max_size=12) | st.lists(st.sampled_from(HOSTILE), min_size=1, max_size=3).map("".join)
MERMAID = r'"(?:[A-Za-z0-9 /:,.()-]|#[0-9]+;|<br/>)*"'
DOT = r'"(?:[^"\\&<>\x00-\x1f\x7f-\x9f]|<|>|\\\\|\\"|\\n|&amp;)*"'


def hostile(text: str) -> Diagram:
    one, two = ("g", "service", "1"), ("g", "service", "2")
    return Diagram(
        (DiagramNode(one, "service", text, (text,), f"g{text}"), DiagramNode(two, "model", text)), (DiagramEdge(one, two, text),)
    )


def has_control(text: str) -> bool:
    return any(unicodedata.category(each) in ("Cc", "Cf", "Cs", "Zl", "Zp") and each != "\n" for each in text)


def has_form(text: str, forms: list[str]) -> bool:
    lines = text.split("\n")
    return len(lines) == len(forms) and all(re.fullmatch(form, line) for form, line in zip(forms, lines, strict=True))


@drawn(TEXTS)
def test_names_stay_text_in_mermaid(text):
    """Every line has the form of our own lines, and the quoted texts have no character with a meaning in Mermaid, Markdown or HTML."""
    written = mermaid_diagram.write(hostile(text))
    forms = [
        "flowchart LR",
        rf"  subgraph g0\[{MERMAID}\]",
        "    direction LR",
        rf"    n0\[{MERMAID}\]",
        "  end",
        rf"  n1>{MERMAID}\]",
        rf"  n0 -->\|{MERMAID}\| n1",
        "",
    ]
    assert has_form(written, forms), written
    assert not has_control(written)


@drawn(TEXTS)
def test_names_stay_text_in_dot(text):
    written = graphviz_diagram.write(hostile(text))
    forms = [
        "digraph {",
        *[r"  \w+ \[.*\]"] * 3,
        "  subgraph cluster_0 {",
        f"    label={DOT}",
        rf"    n0 \[label={DOT}\]",
        "  }",
        rf"  n1 \[label={DOT}, shape=note\]",
        rf"  n0 -> n1 \[label={DOT}\]",
        "}",
        "",
    ]
    assert has_form(written, forms), written
    assert not has_control(written)


def test_graphviz_draws_names_as_text():
    """The text in the SVG is the name, with control characters made visible, in one line each; the page has no script."""
    nodes = tuple(DiagramNode(("", "service", f"{number}"), "service", text) for number, text in enumerate(HOSTILE))
    dot = programs.path("dot")
    svg = subprocess.run([dot, "-Tsvg"], input=graphviz_diagram.write(Diagram(nodes, ())).encode(), capture_output=True, check=True).stdout
    shown = [each.text for each in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314 - graphviz wrote it
    assert len(shown) == len(HOSTILE)
    assert {'"]; x["', "<script>alert(1)</script>", "&lt;&quot;", "#quot;", "\\x1b[31m", "a b", "\\n\\l"} < set(shown)
    assert "<script" not in graphviz_diagram.page(svg.decode(), compared=False)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(["kind", "name", "namespace", "hostnames", "rules", "backendRefs", "scaleTargetRef", "spec"]), inner
        )
    ),
    max_leaves=8,
)
KINDS = ["HTTPRoute", "HorizontalPodAutoscaler", "ScaledObject", "DynamoModel", "Pod", "Deployment"]


@settings(max_examples=tier.number(60, 10))
@drawn(st.sampled_from(KINDS), TEXTS, JSON)
@example("HTTPRoute", "\x1b[31m", {"hostnames": ["\x1b]0;x\x07", 3], "rules": [{"backendRefs": [{"kind": "InferencePool", "name": 5}, 1]}]})
def test_objects_that_users_wrote_may_have_any_fields(kind, name, spec):
    """The picture and the list of images end, and have no control characters."""
    api = "nvidia.com/v1alpha1" if kind == "DynamoModel" else "v1"
    resources = [{"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": "team"}, "spec": spec}, given.graph()]
    picture = graph_diagram.diagram(resources, Config())
    assert not has_control("".join(writer.write(picture) for writer in (graphviz_diagram, mermaid_diagram)))
    uses = image_uses.uses(resources, Config())
    assert not has_control(FORMATS["text"].write(ImageList([(use, FieldLocation("")) for use in uses], {})))


def pod(*images: Any) -> dict[str, Any]:
    return given.item("Pod", "own", spec={"containers": [{"name": f"c{number}", "image": image} for number, image in enumerate(images)]})


@drawn(st.lists(TEXTS.filter(bool), min_size=1, max_size=3))
@example(["a: b", "- c", "#d", "{e}", "r.example/good:1"])
def test_images_with_any_name_are_text_in_every_format(images):
    """JSON and YAML give the names back; formats for other programs and the lock have the valid names only."""
    uses = image_uses.uses([pod(*images)], Config())
    digests = dict.fromkeys(image_lock.images_without_digest(uses), f"sha256:{'0' * 64}")
    written = {
        style: image_format.write(ImageList([(use, FieldLocation("")) for use in uses], digests)) for style, image_format in FORMATS.items()
    }
    assert not [style for style, text in written.items() if has_control(text)]
    assert {each["image"] for each in json.loads(written["json"])["images"]} == set(images)
    assert len(written["text"].splitlines()) == len(set(images)) + len(images)
    valid = {image for image in images if image_references.read(image)}
    for style in ("hauler", "zarf"):
        value = yaml.safe_load(written[style])
        named = [each["name"] for each in value["spec"]["images"]] if style == "hauler" else value["components"][0]["images"]
        assert named == sorted(image_references.pin_image(image, digests) for image in valid)
    assert {each["imageTag"]["name"] for each in yaml.safe_load_all(written["kustomize"]) if each} == set(digests)
    assert yaml.safe_load(image_lock.text(digests))["images"] == digests


@pytest.mark.parametrize("image", HOSTILE)
def test_findings_about_images_have_no_control_characters(image):
    """The name of the image is in the message."""
    uses = image_uses.uses([pod(image)], Config())
    assert [result.code for result in image_references.invalid(uses)] == ([] if image_references.read(image) else ["DYN555"])
