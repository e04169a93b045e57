"""The field reference has every field of every kind, and its links lead somewhere."""

from __future__ import annotations

import re

import pytest

from krm_fn.render.schema import rule_messages
from krm_fn.schemas.generate import __main__ as generate
from krm_fn.schemas.generate import docs_pages, structural

PAGES = docs_pages.pages()
KINDS = {kind.__name__: kind for kind in structural.kinds()}


def headings(page):
    return re.findall(r"^#+ (.*)$", page, re.MULTILINE)


@pytest.mark.parametrize("name", PAGES)
def test_links_lead_somewhere(name):
    """To a heading of the same page, to another page, or to Kubernetes."""
    anchors = {heading.lower() for heading in headings(PAGES[name])}
    for target in re.findall(r"\]\(([^)]+)\)", PAGES[name]):
        if target.startswith("#"):
            assert target[1:] in anchors
        elif not target.startswith("https://kubernetes.io/docs/"):
            assert target in PAGES or (generate.DOCS / target).exists(), target


@pytest.mark.parametrize("name", KINDS)
def test_every_field_of_a_kind_is_on_its_page(name):
    page = PAGES[f"{name.lower()}.md"]
    models = {model.removesuffix("V1beta1"): schema for model, schema in structural.models([KINDS[name]]).items()}
    version, kind = structural.address(KINDS[name])
    title = headings(page)[0]
    assert title in (kind, f"{kind} {version.rpartition('/')[2]}")
    assert f"\n`apiVersion: {version}`" in page
    assert {*headings(page)} == {*models} - {kind} | {title}
    for model, schema in models.items():
        section = page.partition(f"# {title if model == kind else model}\n")[2].partition("\n#")[0]
        fields = {*schema["properties"]} - ({"apiVersion", "kind", "metadata"} if model == kind else set())
        assert {*re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE)} == fields


def test_a_row_says_type_default_and_limits():
    page = PAGES["dynamographdeployment.md"]
    probe = "[Probe](https://kubernetes.io/docs/reference/generated/kubernetes-api/v1.36/#probe-v1-core)"
    assert (
        f"| `livenessProbe` | {probe} |  | The liveness probe of the main container. It replaces the default of the component type. |\n"
        in page
    )
    assert (
        "| `nodeCount` | integer | `2` | The number of nodes of each replica. Resources, for example GPUs, are per node. At least 2. |\n"
        in page
    )
    assert "| `pvcs` | list of [PVC](#pvc), by name |  | PersistentVolumeClaims that services may mount. At most 100 entries. |\n" in page
    assert "| `size` | quantity |  | The size limit, for example `16Gi`. |\n" in page
    assert "| `services` | map to [Component](#component) |  | The components of the graph by name. At most 25 entries. |\n" in page
    assert "| `id` | string | **required** | Any text. A new value requests a new restart. Not empty. |\n" in page


def test_rules_stand_with_their_codes():
    said = rule_messages.of("DYN149")
    assert f"* `host`: {said} ([DYN149](../errors/DYN149.md))\n" in PAGES["dynamographdeployment.md"]


def test_the_adapter_says_why_it_is_what_one_scales():
    assert "`kubectl scale dgdsa`" in PAGES["dynamographdeploymentscalingadapter.md"]


def test_the_index_names_every_kind():
    for name, kind in KINDS.items():
        version, title = structural.address(kind)
        assert f"| [{title}]({name.lower()}.md) | `{version}` |" in PAGES[docs_pages.INDEX]
        assert all(f"`{short}`" in PAGES[docs_pages.INDEX] for short in (kind.served.short_names if kind.served else ()))


def test_no_two_pages_have_one_title():
    """A search shows the titles: the versions of a kind need different ones."""
    titles = [next(line for line in page.splitlines() if line.startswith("# ")) for page in PAGES.values()]
    assert sorted(titles) == sorted(set(titles))
    assert "# DynamoGraphDeployment v1beta1" in titles
