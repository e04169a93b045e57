"""The recipes of docs/architecture.md, followed with toys in a copy of this clone. `test_clone.py` follows those of engines and types."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml

from tests.extensions.test_clone import Clone
from tests.support import beta, given, toys
from tests.testbed import programs

pytestmark = pytest.mark.slow  # runs a copy of this clone

PAGE = (programs.ROOT / "docs" / "architecture.md").read_text()
FIELD = '''    share_processes: bool | None = None
    """If true, the processes of all containers of a pod see each other."""
'''
RELEASE = '''"""A release that nobody has seen."""

from __future__ import annotations

from krm_fn.render.kinds.releases import v1_5

RELEASE = v1_5.RELEASE._replace(number=(9, 9), shared_memory="16Gi")
'''
GATE = """    Gate(
        name="Echo",
        release=(9, 9),
        reads="runtime",
        minimum=(9, 9, 1),
        effect="Workers send each answer twice.",
        fields=("containers[main].env[DYN_ECHO]",),
        types=("worker",),
        env=(("DYN_ECHO", "true"),),
    ),
"""
RULE = """    if plan.identity.service == "Nobody":
        yield results.error(codes.NOBODY_ANSWERS, "nobody answers; give the component the name of its work", plan.ref, plan.at())
"""
NAME = 'NOBODY_ANSWERS = "DYN169"\n'
TEXT = """
DYN169:
  title: Nobody answers
  message: >-
    nobody answers; give the component the name of its work
  means: >-
    The name of the component says that it does nothing.
  fix: >-
    Choose another name.
  wrong: |
    components:
    - {name: Nobody, type: frontend}
  right: |
    components:
    - {name: Frontend, type: frontend}
"""
CASES = """    fires("DYN169", "spec.services.Nobody", "nobody", given.graph({"Nobody": given.service("frontend")})),
    quiet("somebody", given.graph({"Somebody": given.service("frontend")})),
"""
NET = ("tests/fields/test_every_field.py", "-k", "ComponentDeployment-v1alpha1-v0.9")


@pytest.fixture
def clone(tmp_path):
    return Clone(tmp_path / "clone")


def section(recipe):
    """A recipe of the page."""
    _, _, rest = PAGE.partition(f"### {recipe}\n")
    assert rest, recipe
    return rest.partition("\n### ")[0].partition("\n## ")[0]


def run(clone, item, **settings):
    """The pods of the Deployments and StatefulSets of an item, rendered by the function of the copy."""
    config = {"apiVersion": "dynamo.krm-fn.io/v1alpha1", "kind": "DynamoRender", "metadata": {"name": "render"}, "spec": settings}
    text = yaml.safe_dump({"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "functionConfig": config, "items": [item]})
    items = yaml.safe_load(clone.python("-m", "krm_fn", text=text))["items"]
    return [each["spec"]["template"]["spec"] for each in items if each["kind"] in ("Deployment", "StatefulSet")]


def by_hand(clone):
    """The files of the package that a contributor changed."""
    return {name for name in clone.changed() if name.startswith("krm_fn/") and name.endswith(".py")}


def test_a_new_field(clone):
    """The test of every field fails until a layer acts on it, and then it holds for all kinds, versions and releases."""
    for version in ("v1alpha1", "v1beta1"):
        clone.edit(f"schemas/api/{version}/component.py", "    runtime_version_override:", f"{FIELD}    runtime_version_override:")
    clone.generate()
    with pytest.raises(AssertionError, match=r"spec\.shareProcesses"):
        clone.test(*NET)

    clone.edit(
        "render/plan/facts.py", "    cache: Mount | None = None\n", "    cache: Mount | None = None\n    share_processes: bool = False\n"
    )
    for version in ("v1alpha1", "v1beta1"):
        read = 'share_processes=bool(written.get("shareProcesses"))'
        clone.edit(
            f"render/resolve/{version}_components.py", "        shared_memory=_shared", f"        {read},\n        shared_memory=_shared"
        )
    before, added = "    draft.pod = {**pod, **added, **plan.pod.enforced}\n", 'added["shareProcessNamespace"] = True'
    clone.edit("render/manifests/pod_builder.py", before, f"    if plan.pod.share_processes:\n        {added}\n{before}")
    clone.test(*NET)
    older = given.graph({"Worker": given.service("worker", shareProcesses=True)})
    newer = beta.graph(beta.component("Worker", shareProcesses=True))
    for item, release in ((older, "v0.9"), (older, "v1.5"), (newer, "v0.9"), (newer, "v1.5")):
        (pod,) = run(clone, item, behaviour=release)
        assert pod["shareProcessNamespace"] is True
    assert [name for name in by_hand(clone) if f"`{name}`" not in section("A field")] == []


def test_a_new_workload_kind(clone):
    (clone.root / "krm_fn/render/manifests/workloads/statefulset.py").write_text(toys.WORKLOAD)
    (clone.root / "krm_fn/syncer/status/replica_status/statefulset_status.py").write_text(toys.OBSERVER)
    clone.edit("render/config.py", '"grove", "disaggregatedSet"]', '"grove", "disaggregatedSet", "statefulset"]')
    clone.generate()
    (pod,) = run(clone, given.graph({"Worker": given.service("worker")}), orchestrator="statefulset")
    assert pod["containers"][-1]["name"] == "main"
    assert [name for name in by_hand(clone) if f"`{name.replace('statefulset', 'KIND')}`" not in section("A workload kind")] == []


def add_release(clone):
    """Adds a release that images of 9.9 choose."""
    (clone.root / "krm_fn/render/kinds/releases/v9_9.py").write_text(RELEASE)
    row = '"v1.7": ReleaseRow("v1_7", (1, 7), 0)'
    clone.edit("render/resolve/release_choice.py", row, f'{row}, "v9.9": ReleaseRow("v9_9", (9, 9), 0)')
    names = '"", "v0.9", "v1.2", "v1.2+", "v1.3", "v1.4", "v1.5", "v1.5+", "v1.6", "v1.7"'
    clone.edit("render/config.py", f"behaviour: Literal[{names}]", f'behaviour: Literal[{names}, "v9.9"]')
    clone.edit("render/kinds/floors.py", "FLOORS = {", 'FLOORS = {\n    (9, 9): Floors("1.99"),')
    clone.edit("render/kinds/floors.py", "for minor in range(8)))", "for minor in range(8)), (9, 9))")


def of_version(tag):
    return beta.graph(beta.component("Worker", main={"image": f"registry.example/dynamo:{tag}"}))


def test_a_new_operator_release(clone):
    """One new file and one row: images of its versions choose it, and the configuration can name it."""
    add_release(clone)
    clone.generate()
    sizes = {}
    cases = [("1.6.0", "v1.5"), ("1.6.0", "v9.9"), ("1.6.0", ""), ("9.9.0", ""), ("10.0.0", "")]
    for tag, release in cases:
        (pod,) = run(clone, of_version(tag), behaviour=release)
        (sizes[tag, release],) = (volume["emptyDir"]["sizeLimit"] for volume in pod["volumes"] if volume["name"] == "shared-memory")
    assert list(sizes.values()) == ["8Gi", "16Gi", "8Gi", "16Gi", "16Gi"]
    clone.test("tests/render/kinds/test_releases.py", "tests/render/kinds/test_gates.py")
    assert [name for name in by_hand(clone) if f"`{name.replace('v9_9', 'RELEASE')}`" not in section("An operator release")] == []


def test_a_new_gate(clone):
    """One row: it opens for the images of its version, from its release on, and the page of the releases lists it."""
    add_release(clone)
    of_release = by_hand(clone)
    row = '    Gate(\n        name="FrontendStartupProbe",\n'
    clone.edit("render/kinds/gates.py", row, GATE + row)
    clone.generate()
    has = {}
    for tag, release in (("9.9.0", ""), ("9.9.1", ""), ("9.9.1", "v1.6"), ("1.6.0", "")):
        (pod,) = run(clone, of_version(tag), behaviour=release)
        has[tag, release] = {"name": "DYN_ECHO", "value": "true"} in pod["containers"][0]["env"]
    assert list(has.values()) == [False, True, False, False]
    assert "| `Echo` |" in (clone.root / "docs/releases.md").read_text()
    clone.test("tests/render/kinds/test_gates.py")
    added = by_hand(clone) - of_release
    assert [name for name in added if f"`{name}`" not in section("A gate")] == []


def test_a_new_finding(clone):
    """A name, a rule, a page and two cases. Without the cases, a test fails."""
    name = "LORA_WITHOUT_SOURCE ="
    clone.edit("base/codes.py", name, NAME + name)
    row = "    yield from _check_names(plan)\n"
    clone.edit("render/rules/component_rules.py", row, RULE + row)
    texts = clone.root / "krm_fn/schemas/finding_pages/texts/components.yaml"
    texts.write_text(texts.read_text() + TEXT)
    clone.generate()
    with pytest.raises(AssertionError, match="DYN169"):
        clone.test("tests/schemas/finding_pages/test_codes.py")
    clone.edit("../tests/support/faults.py", "COMPONENTS = [\n", f"COMPONENTS = [\n{CASES}")
    clone.test("tests/schemas/finding_pages", "tests/render/rules", "-k", "DYN169 or nobody or somebody or codes")
    assert "# DYN169 nobody-answers: Nobody answers" in (page := (clone.root / "docs/errors/DYN169.md").read_text())
    assert page.endswith("\nRule: [krm_fn/render/rules/component_rules.py](../../krm_fn/render/rules/component_rules.py)\n")
    assert clone.python("-m", "krm_fn", "explain", "nobody-answers") == page.partition("\nRule: ")[0]
    recipe = section("A finding")
    assert {"`krm_fn/base/codes.py`", "`krm_fn/render/rules`", "`krm_fn/schemas/finding_pages/texts`", "`tests/support/faults.py`"} <= {
        *re.findall(r"`[^`]*`", recipe)
    }


def test_the_page_names_the_files_of_the_other_recipes():
    assert "`krm_fn/render/engines/ENGINE.py`" in section("An engine")
    assert "`krm_fn/render/kinds/types/TYPE.py`" in section("A component type")
    command = ["git", "ls-files", "krm_fn/render/kinds", "krm_fn/render/engines"]
    listed = subprocess.run(command, cwd=programs.ROOT, capture_output=True, text=True, check=True).stdout
    assert {"krm_fn/render/engines/vllm.py", "krm_fn/render/kinds/types/worker.py"} <= set(listed.split())
