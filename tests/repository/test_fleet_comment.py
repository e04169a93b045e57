"""The comment on a pull request of a fleet: one first line, one block for clusters with equal effects, and answers for a reviewer."""

from __future__ import annotations

import json

import jsonschema

from tests.cli import console
from tests.repository import fleet
from tests.repository.clones import FLUX, RENDER
from tests.review.diff.test_scenario import SCHEMA
from tests.support.cases import cases

MOST_LINES = 60
GRAPH = "apiVersion: nvidia.com/v1beta1\nkind: DynamoGraphDeployment\n"
TEAM_A = [f"clusters/{name}/apps/team-a" for name in sorted(fleet.CLUSTERS)]


def comment(*options):
    done = console.run("diff", "--old", "HEAD", "--format", "markdown", *options)
    assert done.out, done.err
    return done.out


def headings(text):
    return [line.removeprefix("#### ") for line in text.splitlines() if line.startswith("#### ")]


def test_a_renamed_graph_in_four_clusters_is_one_block(clone):
    """Deletions and addresses come first. Details are folded, and the whole comment is short."""
    fleet.write(clone).edit("apps/search/graph.yaml", "name: search", "name: retrieval")
    text = comment("--fail-on", "changes")
    lines = text.splitlines()
    assert len(lines) <= MOST_LINES
    first = lines[2].replace("*", "")
    assert first.startswith("8 services are deleted, with 16 GPUs: dev-search/Engine, dev-search/Frontend, ")
    assert first.index("4 addresses go: dev-search-frontend.team-a:8000") < first.index("8 services are created")
    assert first.endswith("16 GPUs are interrupted. 33 GPUs before, 49 at the peak, 33 after. 4 of 8 folders change.")
    assert headings(text) == [f"4 folders with equal effects: {', '.join(f'`{folder}`' for folder in TEAM_A)}"]
    assert "In the others, the prefix dev- is prod-eu-, prod-us-, staging-." in text.replace("\\", "")
    assert "| `dev-search/Engine` | **deleted** | 4 → 0 |" in text
    assert "prod-us-search/Engine` |" not in text
    assert text.count("no object changes") == 1
    assert console.run("diff", "--old", "HEAD", "--fail-on", "restarts,interrupted").code == 3


def test_the_text_has_the_same_order(clone):
    fleet.write(clone, ("dev", "staging")).edit("apps/search/graph.yaml", "name: search", "name: retrieval")
    text = console.run("diff", "--old", "HEAD").out
    assert text.startswith("4 services are deleted, with 8 GPUs: dev-search/Engine, ")
    blocks = [line for line in text.splitlines() if line.startswith("== ")]
    team_b = "2 folders: clusters/dev/apps/team-b, clusters/staging/apps/team-b"
    assert blocks == ["== 2 folders with equal effects: clusters/dev/apps/team-a, clusters/staging/apps/team-a", f"== {team_b}"]
    report = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)
    jsonschema.validate(report, SCHEMA)
    assert report["headline"] == text.splitlines()[0]
    folders = [[report["roots"][number]["root"].removeprefix("clusters/") for number in group] for group in report["alike"]]
    assert folders == [["dev/apps/team-a", "staging/apps/team-a"], ["dev/apps/team-b", "staging/apps/team-b"]]
    assert report["roots"][0]["clusters"] == ["dev"]


def test_the_comment_says_what_must_exist_in_which_order_pods_change_and_what_a_revert_does(clone):
    fleet.write(clone, ("dev", "staging"))
    clone.edit("apps/search/graph.yaml", "hf-token", "hf-token-2").edit("apps/search/graph.yaml", "replicas: 4", "replicas: 3")
    text = comment().replace("\\", "")
    answers = dict(line.removeprefix("- **").split(":** ", 1) for line in text.splitlines() if line.startswith("- **"))
    assert answers["Must exist first"] == "Secret team-a/hf-token-2."
    assert "dev-search/Engine (3 steps, at most 6 h)" in answers["Order"]
    assert answers["Way back"].startswith(
        "a revert: 2 of 8 services restart: dev-search/Engine, staging-search/Engine. 6 GPUs are interrupted."
    )
    report = json.loads(console.run("diff", "--old", "HEAD", "--format", "json").out)
    assert [entry["name"] for entry in report["roots"][0]["forecast"]["mustExist"]] == ["hf-token-2"]
    assert "3 GPUs are interrupted" in report["roots"][0]["revert"]["headline"]


DIFFERENT = [
    ("another number of replicas", {"dev": "replicas: 3", "staging": "replicas: 2"}),
    (
        "another value",
        {
            "dev": "replicas: 4\n    podTemplate: {metadata: {annotations: {a: b}}}",
            "staging": "replicas: 4\n    podTemplate: {metadata: {annotations: {a: c}}}",
        },
    ),
]


@cases("edits", DIFFERENT)
def test_clusters_with_other_effects_have_blocks_of_their_own(edits, clone):
    """The names of the graphs are equal, and what happens to them is not."""
    fleet.write(clone, ("dev", "staging"))
    for cluster, text in edits.items():
        patch = f"{GRAPH}metadata: {{name: batch}}\nspec:\n  components:\n  - name: Engine\n    {text}\n"
        folder = f"clusters/{cluster}/apps/team-b"
        clone.put({"patch.yaml": patch}, folder).edit(
            f"{folder}/kustomization.yaml", "transformers", "patches: [{path: patch.yaml}]\ntransformers"
        )
    assert headings(comment()) == ["`clusters/dev/apps/team-b`", "`clusters/staging/apps/team-b`"]


def test_two_graphs_with_equal_effects_are_not_one_graph_with_two_prefixes(clone):
    """`dev-chat` and `staging-search` restart for the same reason, but a reader must see both names."""
    fleet.write(clone, ("dev", "staging"))
    for cluster, graph in (("dev", "chat"), ("staging", "search")):
        folder = f"clusters/{cluster}/apps/team-a"
        patch = '[{"op": "replace", "path": "/spec/components/1/replicas", "value": 2}]'
        patches = f"patches: [{{target: {{kind: DynamoGraphDeployment, name: {graph}}}, patch: '{patch}'}}]\ntransformers"
        clone.edit(f"{folder}/kustomization.yaml", "transformers", patches)
    assert headings(comment()) == ["`clusters/dev/apps/team-a`", "`clusters/staging/apps/team-a`"]


def test_a_broken_root_of_eight_is_named_and_the_others_are_judged(clone):
    """The message of kustomize and the line of the Kustomization stand in the comment. Nothing says that the root is the same."""
    fleet.write(clone).edit("apps/batch/graph.yaml", "replicas: 4", "replicas: 5")
    clone.edit("clusters/prod-us/apps/team-b/kustomization.yaml", "transformers", "components: [../none]\ntransformers")
    done = console.run("diff", "--old", "HEAD", "--format", "markdown")
    assert done.code == 1
    assert "3 of 8 folders change." in done.out
    broken = done.out.partition("#### `clusters/prod-us/apps/team-b`")[2]
    assert "`clusters/prod-us/apps/team-b/kustomization.yaml:4" in broken
    assert "none" in broken
    assert "no object changes" not in broken.partition("\n")[0]
    assert headings(done.out)[0].startswith("3 folders with equal effects: `clusters/dev/apps/team-b`, `clusters/prod-eu/apps/team-b`, ")


def test_a_root_that_is_broken_in_both_states_is_not_called_the_same(clone):
    fleet.write(clone, ("dev", "staging"))
    clone.edit("clusters/dev/apps/team-a/kustomization.yaml", "transformers", "components: [../none]\ntransformers").commit()
    clone.edit("clusters/dev/apps/team-a/kustomization.yaml", "../none", "../nothing")
    text = console.run("diff", "--old", "HEAD").out
    assert "cannot be read, so it is not compared" in text.splitlines()[0]
    assert "The states are the same" not in text.partition("== clusters/dev/apps/team-a\n")[2].partition("\n")[0]


REMOTE = "https://git.example.invalid/team/base?ref=v1"


def test_a_remote_base_that_nobody_can_fetch_is_named(clone):
    fleet.write(clone, ("dev", "staging")).edit("apps/batch/graph.yaml", "replicas: 4", "replicas: 5")
    clone.edit("clusters/dev/apps/team-b/kustomization.yaml", "resources: [", f"resources: [{REMOTE}, ")
    done = console.run("diff", "--old", "HEAD", "--format", "markdown")
    assert done.code == 1
    assert "clusters/dev/apps/team-b/kustomization.yaml:3" in done.out
    assert f"DYN596 the root is not built: {REMOTE} is not in the repository" in done.out
    assert "1 of 4 folders changes." in done.out


def test_a_submodule_that_is_not_checked_out_is_named(clone):
    """The folder of a submodule is empty in a copy of the repository, so a root that needs it cannot be built."""
    fleet.write(clone, ("dev", "staging"))
    clone.put({"kustomization.yaml": "resources: []\n"}, "module-source")
    clone.git("-C", "module-source", "init")
    clone.git("-C", "module-source", "add", "--all")
    clone.git("-C", "module-source", "commit", "--message", "Start")
    clone.git("-c", "protocol.file.allow=always", "submodule", "add", "./module-source", "vendor/module")
    clone.edit("clusters/dev/apps/team-b/kustomization.yaml", "resources: [", "resources: [../../../../vendor/module, ")
    done = console.run("diff", "--old", "HEAD", "--format", "markdown")
    assert done.code == 1
    assert "clusters/dev/apps/team-b/kustomization.yaml:3" in done.out
    assert "../../../../vendor/module is in the submodule vendor/module, whose files are in another repository" in done.out


def test_three_hundred_roots_are_one_short_comment(clone):
    """Each folder has a configuration, so it is a root of its own. One line in each of them changes."""
    graph = fleet.GRAPH.replace("replicas: 4", "replicas: 2")
    for number in range(300):
        name = f"cluster-{number}"
        clone.put({"render.yaml": RENDER, "graph.yaml": graph.replace("NAME", f"{name}-chat")}, f"clusters/{name}/chat")
    clone.put({"flux.yaml": FLUX.format(name="chat", path="./clusters/cluster-0", kind="GitRepository", more="")}, "flux").commit()
    for number in range(300):
        clone.edit(f"clusters/cluster-{number}/chat/graph.yaml", "Qwen3-0.6B", "Qwen3-1.7B")
    text = comment()
    assert len(text.splitlines()) <= MOST_LINES
    assert "300 of 600 services restart: cluster-0-chat/Engine, cluster-1-chat/Engine, " in text.replace("\\", "")
    assert [heading.partition(":")[0] for heading in headings(text)] == ["300 folders with equal effects"]
