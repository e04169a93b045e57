"""docs/upgrade-0.2.md says what an upgrade from 0.1.0 does. The code of 0.1.0 and that of this clone render the examples of 0.1.0."""

from __future__ import annotations

import re
import subprocess
from typing import TYPE_CHECKING

import pytest
import yaml

from krm_fn.schemas import finding_pages
from tests.releases import earlier_release
from tests.support import markdown
from tests.testbed import programs

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow  # renders with the code of an earlier release
PAGE = (programs.ROOT / "docs" / "upgrade-0.2.md").read_text()
PIN = markdown.files(PAGE)["graphs/render.yaml"]
MISTAKES = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: {name}, namespace: inference}}
spec:
  services:
    Frontend:
      componentType: frontend
      extraPodSpec: {{mainContainer: {{image: "nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0"}}}}
    Worker:
      componentType: worker
      multinode: {{nodeCount: 2}}
      resources: {{limits: {{gpu: "8"}}}}
      extraPodSpec:
        mainContainer:
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:0.8.0
          command: [python3, -m, dynamo.vllm]
          args: {args}
"""


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    return earlier_release.unpack("0.1.0", tmp_path_factory.mktemp("old"))


def _graphs(old: Path, folder: Path, image: str) -> dict[str, tuple[Path, Path | None]]:
    """The graphs of the examples of 0.1.0 with images of a version, and their configurations, by their paths in the examples.

    The graph of layout C has its settings in annotations, which another test renders. The graph `verbatim` is an error on purpose.
    """
    graphs = {}
    for graph in sorted((old / "examples").rglob("graph.yaml")):
        name = graph.relative_to(old / "examples")
        if name.parts[0] == "layout-c-generator" or {"rendered", "verbatim"} & {*name.parts}:
            continue
        copy = folder / str(name).replace("/", "-")
        copy.write_text(re.sub(r"(-runtime|/epp):0\.8\.0", rf"\1:{image}", graph.read_text()))
        config = old / "examples" / name.parts[0] / "config.yaml"
        graphs[str(name.parent)] = copy, (config if config.exists() else None)
    return graphs


def _pinned(graph: Path, config: Path | None) -> tuple[Path, Path]:
    """The same graph with `behaviour` in its configuration."""
    settings = yaml.safe_load(config.read_text() if config else PIN)
    settings["spec"] = (settings.get("spec") or {}) | yaml.safe_load(PIN)["spec"]
    pinned = graph.with_name(f"pinned-{graph.name}")
    pinned.write_text(yaml.safe_dump(settings))
    return graph, pinned


def _render(graph: Path, config: Path | None) -> list[str | Path]:
    return ["render", graph, *(("--config", config) if config else ())]


def _restarts(old: Path, folder: Path, image: str, *, pinned: bool) -> dict[str, tuple[int, int, int]]:
    """The number of workloads, of those whose pods restart, and the exit code of the new version, by graph."""
    folder.mkdir()
    graphs = _graphs(old, folder, image)
    assert len(graphs) > 20
    before = earlier_release.run(old, [_render(*pair) for pair in graphs.values()])
    assert {result.code for result in before} == {0}
    after = earlier_release.run(programs.ROOT, [_render(*(_pinned(*pair) if pinned else pair)) for pair in graphs.values()])
    counts = {}
    for name, first, second in zip(graphs, before, after, strict=True):
        templates, new = first.pods(), second.pods()
        counts[name] = (len(templates), sum(new.get(key) != template for key, template in templates.items()), second.code)
    return counts


@pytest.mark.parametrize(
    ("image", "pinned"), [("0.8.0", False), ("1.5.1", True), ("1.6.1", True)], ids=["below 1.0", "1.5, pinned", "1.6, pinned"]
)
def test_no_pod_restarts(old, tmp_path, image, pinned):
    """Rows of the table: images below 1.0, and all images with `behaviour: v0.9`. The image of one example has no version."""
    counts = _restarts(old, tmp_path / "graphs", image, pinned=pinned)
    assert {name: count for name, count in counts.items() if count[1:] != (0, 0)} == ({} if pinned else {"older-forms": (2, 2, 0)})


@pytest.mark.parametrize("image", ["1.0.0", "1.5.1", "1.6.1"])
def test_all_pods_restart(old, tmp_path, image):
    """Rows of the table: images of 1.0 or later, or without a version, without `behaviour`."""
    counts = _restarts(old, tmp_path / "graphs", image, pinned=False)
    errors = {} if image == "1.0.0" else {"epp-gateway": (3, 3, 1)}
    assert {name: count for name, count in counts.items() if count[2]} == errors
    assert {name for name, (workloads, restarts, _) in counts.items() if workloads != restarts} == set()


@pytest.mark.parametrize(
    ("name", "args", "restarts"),
    [
        ("ranks", ["--model", "m", "--data-parallel-size", "16"], ["ranks-worker-0"]),
        ("quotes", ["--model", "m", "--tensor-parallel-size", "16", "--kv-transfer-config", '{"kv_connector":"N"}'], ["quotes-worker-0"]),
        ("neither", ["--model", "m", "--tensor-parallel-size", "16"], []),
    ],
)
def test_workers_that_0_1_rendered_with_a_mistake(old, tmp_path, name, args, restarts):
    graph, config = tmp_path / "graph.yaml", tmp_path / "render.yaml"
    graph.write_text(MISTAKES.format(name=name, args=args))
    config.write_text(PIN)
    (before,) = earlier_release.run(old, [["render", graph]])
    (after,) = earlier_release.run(programs.ROOT, [["render", "--config", config, graph]])
    new = after.pods()
    assert [workload[2] for workload, template in before.pods().items() if new[workload] != template] == restarts


def test_the_steps_of_the_page(old, tmp_path):
    """Runs the page's commands with images of 1.6: first all pods restart, and with the configuration of the page none does."""
    earlier_release.launcher(old, tmp_path / "old" / "bin" / "krm-fn")
    earlier_release.launcher(programs.ROOT, tmp_path / "new" / "bin" / "krm-fn")
    (tmp_path / "graphs").mkdir()
    graph = tmp_path / "graphs" / "graph.yaml"
    graph.write_text((old / "examples" / "agg-vllm" / "graph.yaml").read_text().replace(":0.8.0", ":1.6.1"))
    _, first, _, second, search = [script for _, script in markdown.fenced(PAGE, "sh")]
    assert "2 of 2 services restart: Frontend, Worker." in _shell(first, tmp_path)
    (tmp_path / "graphs" / "render.yaml").write_text(PIN)
    assert "restart" not in _shell(second, tmp_path)
    assert _shell(search, tmp_path) == "no old annotation\n"
    graph.write_text((old / "examples" / "layout-c-generator" / "graph.yaml").read_text())
    assert _shell(search, tmp_path).count("dynamo.krm-fn.io/") == 3


def _shell(script: str, folder: Path) -> str:
    ended = subprocess.run(["bash", "-euo", "pipefail", "-c", script], cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_old_annotations_have_no_effect(old):
    """The page says so: the settings in the annotations of 0.1.0 are not read, and the new annotations are."""
    graph = old / "examples" / "layout-c-generator" / "graph.yaml"
    renamed = graph.with_name("renamed.yaml")
    renamed.write_text(graph.read_text().replace("    dynamo.krm-fn.io/", "    config.dynamo.krm-fn.io/"))
    (before,) = earlier_release.run(old, [["render", graph]])
    unread, read = earlier_release.run(programs.ROOT, [["render", graph], ["render", renamed]])
    assert "kind: Ingress\n" in before.out
    assert "kind: Ingress\n" not in unread.out
    assert "kind: Ingress\n" in read.out
    assert before.pods() == read.pods()


def _settings(functions: Path) -> set[str]:
    spec = yaml.safe_load(functions.read_text())["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    inner = {f"{name}.{key}" for name, schema in spec["properties"].items() for key in schema.get("properties", ())}
    return {*spec["properties"], *inner}


def _options(text: str) -> set[str]:
    return {option for line in re.findall(r"^  (-\S.*?)(?:  |$)", text, re.MULTILINE) for option in re.findall(r"--[a-z-]+", line)}


def test_the_page_lists_all_that_is_renamed(old):
    """Codes, options and keys of 0.1.0 that do not exist now, and no others; the search for annotations names all keys of 0.1.0."""
    settings = _settings(old / "functions.yaml")
    assert settings - _settings(programs.ROOT / "functions.yaml") == set()
    searched = PAGE.partition("dynamo\\.krm-fn\\.io/(")[2].partition(")")[0].split("|")
    assert {key for key in settings if "." not in key} == {*searched, "restart"}  # an annotation of this name exists beside the setting
    known = set(re.findall(r"DYN\d{3}", (old / "krm_fn" / "codes.py").read_text()))
    assert len(known) > 100
    assert known - set(finding_pages.CONSTANTS) == {"DYN055", "DYN165"}
    assert {"DYN055", "DYN165"} <= set(re.findall(r"DYN\d{3}", PAGE.partition("## Rename")[2]))
    verbs = ("render", "check", "crds", "schema", "install", "completion")
    helps = [earlier_release.run(code, [[verb, "--help"] for verb in verbs]) for code in (old, programs.ROOT)]
    texts = {verb: (before.out, after.out) for verb, before, after in zip(verbs, *helps, strict=True)}
    removed = {f"{verb} {option}" for verb, shown in texts.items() for option in set.difference(*map(_options, shown))}
    assert removed == {"check --allow-topology"}


def test_the_page_installs_the_commit_of_0_1():
    assert re.findall(r"dynamo-krm-fn@([0-9a-f]{7})\b", PAGE) == [earlier_release.commit("0.1.0")[:7]]
