"""`krm-fn check --fix`: which edits it makes, which text it leaves, which files it does not touch, and what it says."""

from __future__ import annotations

import itertools
import json
import random
import re
import subprocess
from pathlib import Path

import pytest
import yaml

from krm_fn.migration.fixes.editable_files import EditableFiles
from krm_fn.render import expand
from krm_fn.render.config import Config
from tests.cli import console
from tests.support import growth, workload_templates
from tests.support.cases import cases
from tests.support.text_mutations import MUTATIONS

IMAGE = "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1"
GRAPH = f"""\
# A graph of a team.
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {{name: chat, namespace: prod}}
spec:
  backendFramework: vllm # the engine
  components:
  - name: Frontend
    type: frontend
    replicas: 2   # two
    podTemplate: {{spec: {{containers: [{{name: main, image: "{IMAGE}"}}]}}}}
  - name: Worker
    type: worker
    podTemplate:
      spec:
        containers:
        - name: main
          image: {IMAGE} # pinned
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-0.6B, --dtype, bfloat16]
          resources: {{limits: {{nvidia.com/gpu: "1"}}}}
          env:
          - {{name: MODE, value: "5"}}
"""
SHELL = """\
          command: [sh, -c]
          args:
          - |
            # starts the engine
            exec python3 -m dynamo.vllm --model Qwen/Qwen3-0.6B \\
              --dtype=bfloat16 \\
              --max-model-len '4096'
"""
IN_SHELL = GRAPH.replace(
    "          command: [python3, -m, dynamo.vllm]\n          args: [--model, Qwen/Qwen3-0.6B, --dtype, bfloat16]\n", SHELL
)
OLDER = f"""\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {{name: chat, namespace: prod}}
spec:
  services:
    Frontend:
      componentType: frontend # clients
      ingress: {{enabled: true, host: chat, ingressControllerClassName: nginx}}
      extraPodSpec: {{mainContainer: {{image: "{IMAGE}"}}}}
    Worker:
      componentType: worker
      replicas: 1
      resources: {{limits: {{gpu: "1"}}}}
      extraPodSpec:
        volumes: [{{name: model-cache, emptyDir: {{}}}}]
        mainContainer:
          image: {IMAGE}
          imagePullPolicy: Always
          command: [python3, -m, dynamo.vllm]
          args: [--model, Qwen/Qwen3-0.6B]
"""


def fixed(tmp_path, text, *options, name="graph.yaml"):
    """The text of a file after `check --fix`, and the output."""
    file = tmp_path / name
    file.write_bytes(text.encode())
    done = console.run("check", "--fix", *options, file)
    return file.read_bytes().decode(), done


SAFE = [
    ("a key with a slip", GRAPH, "replicas: 2", "replcas: 2", "DYN023"),
    ("a key in snake case", GRAPH, "podTemplate:\n", "pod_template:\n", "DYN023"),
    ("a key of Kubernetes", GRAPH, "image: nvcr", "imgae: nvcr", "DYN029"),
    ("a value of an enum", GRAPH, "backendFramework: vllm", "backendFramework: vlm", "DYN024"),
    ("a number in quotes", GRAPH, "replicas: 2", 'replicas: "2"', "DYN021"),
    ("a number in place of a text", GRAPH, 'value: "5"', "value: 5", "DYN021"),
    ("a version", GRAPH, "nvidia.com/v1beta1", "nvidia.com/v1beta", "DYN020"),
    ("a kind", GRAPH, "DynamoGraphDeployment", "DynamoGraphDeploymnet", "DYN020"),
    ("a flag", GRAPH, "--dtype", "--dtpye", "DYN600"),
    ("a value of a flag", GRAPH, "bfloat16", "bfloat", "DYN604"),
    ("a module", GRAPH, "dynamo.vllm", "dynamo.vlm", "DYN638"),
    ("a flag in a line of a shell", IN_SHELL, "--max-model-len '", "--max-model-lenn '", "DYN600"),
    ("a value behind = in a line of a shell", IN_SHELL, "--dtype=bfloat16", "--dtype=bfloat", "DYN604"),
    ("a module in a line of a shell", IN_SHELL, "dynamo.vllm", "dynamo.vlm", "DYN638"),
    ("an amount without quotes", OLDER, 'gpu: "1"', "gpu: 1", "DYN021"),
    ("a host that is a URL", OLDER, "host: chat,", "host: 'https://Chat',", "DYN157"),
    ("a policy in another case", OLDER, "imagePullPolicy: Always", "imagePullPolicy: always", "DYN024"),
    (
        "a name of a volume",
        OLDER,
        "volumes: [{",
        "containers: [{name: side, image: side, volumeMounts: [{name: modle-cache, mountPath: /cache}]}]\n        volumes: [{",
        "DYN208",
    ),
]


@cases(("right", "before", "after", "code"), SAFE)
def test_the_only_right_answer_is_written(tmp_path, right, before, after, code):
    """An error with one fix: the text is as it was before the mistake, with its comments, or as the author wrote other values."""
    wrong = right.replace(before, after)
    assert wrong != right
    text, done = fixed(tmp_path, wrong)
    assert f": {code} " in done.out, done
    assert done.code == 0, done
    assert "1 edit in 1 file" in done.err
    wanted = right.replace(before, after.replace("modle", "model").replace("'https://Chat'", "'chat'"))
    assert text == (wanted if code in ("DYN208", "DYN157") else right)
    assert fixed(tmp_path, text)[0] == text


UNSAFE = [
    ("an amount of GPUs", GRAPH, "nvidia.com/gpu:", "nvidia.com/gpus:", "DYN154"),
    ("an image", GRAPH, "vllm-runtime:1.6.1 #", "vllm-runtme:1.6.1 #", "DYN705"),
    ("a registry", GRAPH, "nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1 #", "nvcr.io/nvida/ai-dynamo/vllm-runtime:1.6.1 #", "DYN705"),
    ("a former type", OLDER, "componentType: frontend", "componentType: main", "DYN104"),
    ("a type with a slip", OLDER, "componentType: frontend", "componentType: fronted", "DYN476"),
]


@cases(("right", "before", "after", "code"), UNSAFE)
def test_an_edit_that_changes_what_runs_needs_consent(tmp_path, right, before, after, code):
    """A warning is about something that works in some way, so its edit is made with --unsafe only."""
    wrong = right.replace(before, after)
    text, done = fixed(tmp_path, wrong)
    assert (text, code in done.out) == (wrong, True)
    assert "1 edit needs --unsafe" in done.err
    text, done = fixed(tmp_path, wrong, "--unsafe")
    assert (text, done.code) == (right, 0), done


MOVED = [
    (
        "a field of the pod at the component",
        GRAPH,
        "    type: worker\n",
        "    type: worker\n    # apart\n    tolerations: [{operator: Exists}] # all\n",
        '          - {name: MODE, value: "5"}\n',
        '          - {name: MODE, value: "5"}\n        # apart\n        tolerations: [{operator: Exists}] # all\n',
        "DYN023",
    ),
    (
        "a field of a pod in flow style",
        GRAPH,
        "    type: frontend\n",
        "    type: frontend\n    hostNetwork: true\n",
        '1.6.1"}]}',
        '1.6.1"}], hostNetwork: true}',
        "DYN023",
    ),
    (
        "a field of the component in its template",
        GRAPH,
        "    podTemplate:\n      spec:\n",
        "    podTemplate:\n      # two of them\n      replicas: 2 # two\n      spec:\n",
        '          - {name: MODE, value: "5"}\n',
        '          - {name: MODE, value: "5"}\n    # two of them\n    replicas: 2 # two\n',
        "DYN023",
    ),
    (
        "a field of the pod in its container",
        GRAPH,
        "          env:\n",
        "          tolerations: # all\n          - operator: Exists\n          env:\n",
        '          - {name: MODE, value: "5"}\n',
        '          - {name: MODE, value: "5"}\n        tolerations: # all\n        - operator: Exists\n',
        "DYN029",
    ),
    (
        "an amount without its side",
        GRAPH,
        'resources: {limits: {nvidia.com/gpu: "1"}}',
        'resources: {nvidia.com/gpu: "1"}',
        'resources: {nvidia.com/gpu: "1"}',
        'resources: {limits: {nvidia.com/gpu: "1"}}',
        "DYN029",
    ),
    (
        "amounts without their side",
        OLDER,
        'resources: {limits: {gpu: "1"}}',
        'resources:\n        # one\n        gpu: "1" # of 8\n        memory: 64Gi',
        'resources:\n        # one\n        gpu: "1" # of 8\n        memory: 64Gi',
        'resources:\n        limits:\n          # one\n          gpu: "1" # of 8\n          memory: 64Gi',
        "DYN023",
    ),
    (
        "a field of a container in its security context",
        GRAPH,
        "          env:\n",
        "          securityContext: {fsGroup: 1000, runAsUser: 1000}\n          env:\n",
        "          securityContext: {fsGroup: 1000, runAsUser: 1000}\n",
        None,
        "DYN029",
    ),
    (
        "a source of a variable beside its name",
        GRAPH,
        'value: "5"}',
        "secretKeyRef: {name: token, key: KEY}} # secret",
        "secretKeyRef: {name: token, key: KEY}}",
        "valueFrom: {secretKeyRef: {name: token, key: KEY}}}",
        "DYN029",
    ),
    (
        "a field of the pod in the main container of the service",
        OLDER,
        "          args: [--model, Qwen/Qwen3-0.6B]\n",
        "          args: [--model, Qwen/Qwen3-0.6B]\n          nodeSelector: {zone: a} # here\n",
        "          nodeSelector: {zone: a} # here\n",
        "        nodeSelector: {zone: a} # here\n",
        "DYN029",
    ),
    (
        "a field of a container at the service",
        OLDER,
        "      replicas: 1\n",
        "      replicas: 1\n      workingDir: /work # here\n",
        "args: [--model, Qwen/Qwen3-0.6B]\n",
        "args: [--model, Qwen/Qwen3-0.6B]\n          workingDir: /work # here\n",
        "DYN023",
    ),
]


@cases(("right", "before", "after", "old", "new", "code"), MOVED)
def test_a_misplaced_field_moves(tmp_path, right, before, after, old, new, code):
    """A field whose only place is known moves there with its comments. `old` to `new` is its new place."""
    wrong = right.replace(before, after)
    assert wrong != right
    text, done = fixed(tmp_path, wrong)
    assert f": {code} " in done.out, done
    assert done.code == 0, done
    assert "moved to " in done.out
    if new is not None:
        assert text == (wrong.replace(old, new) if old in after else wrong.replace(after, before).replace(old, new))
    assert sorted(_comments(text)) == sorted(_comments(wrong))
    assert fixed(tmp_path, text)[0] == text


RESHAPED = [
    ("an entry with a flag and its value", GRAPH, "[--model, Qwen/Qwen3-0.6B,", "['--model Qwen/Qwen3-0.6B',", "DYN625"),
    ("a flag with a colon", GRAPH, "--dtype, bfloat16]", "--dtype: bfloat16]", "DYN021"),
    (
        "words of a command in one text",
        GRAPH,
        "[--model, Qwen/Qwen3-0.6B, --dtype, bfloat16]",
        "--model Qwen/Qwen3-0.6B --dtype bfloat16",
        "DYN021",
    ),
    ("a module without -m", GRAPH, "[python3, -m, dynamo.vllm]", "[python3, dynamo.vllm]", "DYN624"),
    ("a name in place of an object", GRAPH, "          env:", "          envFrom: [{secretRef: token}]\n          env:", "DYN021"),
    ("a map of variables", GRAPH, '          - {name: MODE, value: "5"}\n', "            MODE: 5\n            OTHER: x\n", "DYN021"),
    ("an amount in bytes", OLDER, 'gpu: "1"', 'gpu: "1", memory: 64GB', "DYN123"),
    ("an amount in another case", GRAPH, 'gpu: "1"', 'gpu: "1", memory: 64gi', "DYN027"),
    ("the name of GPUs of v1alpha1", GRAPH, "limits: {nvidia.com/gpu:", "limits: {gpu:", "DYN229"),
    ("a part of the memory in percent", GRAPH, "--dtype, bfloat16", "--gpu-memory-utilization, 90%", "DYN605"),
    (
        "quotes that no shell removes",
        GRAPH,
        "bfloat16]",
        """bfloat16, --speculative-config, "'{\\"method\\": \\"ngram\\", \\"num_speculative_tokens\\": 2}'"]""",
        "DYN606",
    ),
]


@cases(("right", "before", "after", "code"), RESHAPED)
def test_another_shape_of_a_value_is_written(tmp_path, right, before, after, code):
    """A value of another shape, with one answer: the check after it has no finding, and its texts are the author's."""
    wrong = right.replace(before, after)
    text, done = fixed(tmp_path, wrong)
    assert f": {code} " in done.out, done
    assert done.code == 0, done
    assert sorted(_comments(text)) == sorted(_comments(wrong))
    assert fixed(tmp_path, text)[0] == text


DECODE = GRAPH.replace("  - name: Worker\n    type: worker\n", "  - name: Worker\n    type: prefill\n")


def test_missing_words_are_added_behind_the_command(tmp_path):
    """A prefill worker needs its mode and a connector: an edit writes them behind the last argument."""
    wrong = DECODE.replace("bfloat16]", "bfloat16, --disaggregation-mode, prefill]")
    text, done = fixed(tmp_path, wrong, "--unsafe")
    assert 'bfloat16, --disaggregation-mode, prefill, --kv-transfer-config, \'{"kv_connector":"NixlConnector",' in text, done
    assert "DYN635" in done.out


def test_edits_of_hidden_mistakes_are_made_together(tmp_path):
    """Flags are checked only behind a known module: its edit is better only together with that of the flag."""
    text, done = fixed(tmp_path, GRAPH.replace("dynamo.vllm", "dynamo.vlm").replace("--dtype", "--dtpye"))
    assert (text, done.code) == (GRAPH, 0), done


def test_a_removed_null_changes_nothing_that_runs(tmp_path):
    """A field without a value is not in the output, so its removal is safe though it is a warning."""
    text, done = fixed(tmp_path, GRAPH.replace("    replicas: 2   # two\n", "    replicas:\n"))
    assert (text, done.code) == (GRAPH.replace("    replicas: 2   # two\n", ""), 0)
    assert "DYN028" in done.out


STYLES = [
    ("line ends of Windows", lambda text: text.replace("\n", "\r\n")),
    ("a byte order mark", lambda text: f"\ufeff{text}"),
    ("no line end", lambda text: text.removesuffix("\n")),
    ("several documents", lambda text: f"---\n# other\na: b\n---\n{text}---\nkind: ConfigMap\napiVersion: v1\nmetadata: {{name: c}}\n"),
    ("a list", lambda text: "kind: List\napiVersion: v1\nitems:\n- " + text.partition("\n")[2].replace("\n", "\n  ").strip() + "\n"),
    ("JSON", lambda text: json.dumps(yaml.safe_load(text), indent=1)),
]


@cases("style", STYLES)
def test_the_format_of_the_text_stays(tmp_path, style):
    """Bytes outside of the edit are the same in each style."""
    right = style(GRAPH)
    name = "graph.json" if right.startswith("{") else "graph.yaml"
    text, done = fixed(tmp_path, right.replace("bfloat16", "bfloat"), name=name)
    assert text == right, done


def test_a_link_stays_and_the_mode_of_its_target_stays(tmp_path):
    """The target of a link is written."""
    target = tmp_path / "target.yaml"
    target.write_text(GRAPH.replace("replicas", "replcas"))
    target.chmod(0o640)
    link = tmp_path / "graph.yaml"
    link.symlink_to(target)
    assert console.run("check", "--fix", link).code == 0
    assert (link.is_symlink(), target.read_text(), target.stat().st_mode & 0o777) == (True, GRAPH, 0o640)


SHARED = OLDER.replace('resources: {limits: {gpu: "1"}}', "resources: *gpus").replace(
    "    Worker:",
    f"""\
    Other:
      componentType: worker
      resources: &gpus {{limits: {{gpu: 1}}}}
      extraPodSpec: {{mainContainer: {{image: "{IMAGE}"}}}}
    Worker:""",
)


def test_an_edit_of_an_anchor_that_others_use_needs_consent(tmp_path):
    """An alias has the value, too, so that the edit is not only that of its field."""
    text, done = fixed(tmp_path, SHARED)
    assert (text, done.code) == (SHARED, 1)
    assert "need --unsafe" in done.err
    text, done = fixed(tmp_path, SHARED, "--unsafe")
    assert text == SHARED.replace("gpu: 1", 'gpu: "1"'), done


def test_without_a_certain_fix_the_summary_says_so(tmp_path):
    """An image is missing, and only the author knows which one; a file without findings has nothing to repair."""
    file = tmp_path / "graph.yaml"
    file.write_text(GRAPH.replace(f', image: "{IMAGE}"', "", 1))
    done = console.run("check", "--fix", file)
    assert (done.code, "no edit, because none of the findings has a certain fix: repair them by hand" in done.err) == (1, True)
    file.write_text(GRAPH)
    assert "0 edits in 0 files" in console.run("check", "--fix", file).err


@cases("name", [("in this folder", "graph.yaml"), ("with a dot", "./graph.yaml"), ("with two", "./a/../graph.yaml")])
def test_a_patch_is_printed_and_nothing_is_written(tmp_path, monkeypatch, name):
    """`--diff` gives a patch that git applies; its exit code is that after the fix."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a").mkdir()
    wrong = GRAPH.replace("replicas", "replcas").replace("bfloat16", "bfloat")
    file = Path("graph.yaml")
    file.write_text(wrong)
    done = console.run("check", "--fix", "--diff", name)
    assert (done.code, file.read_text()) == (0, wrong)
    assert "2 edits in 1 file to be made" in done.err
    subprocess.run(["git", "apply", "-"], input=done.out.encode(), check=True, cwd=tmp_path)
    assert file.read_text() == GRAPH


def test_programs_get_the_edits(tmp_path):
    """JSON has the edits beside the findings that stay."""
    _, done = fixed(tmp_path, GRAPH.replace("replicas", "replcas").replace("nvidia.com/gpu:", "nvidia.com/gpus:"), "-o", "json")
    document = json.loads(done.out)
    assert [finding["code"] for finding in document["findings"]] == ["DYN154"]
    (edit,) = document["edits"]
    assert (edit["code"], edit["kind"], edit["old"], edit["new"], edit["safe"]) == ("DYN023", "key", "replcas", "replicas", True)
    assert (edit["line"], edit["field"]) == (10, "spec.components[0].replcas")


WRONG_USE = [
    ("a patch of nothing", ("--diff", "."), "--diff needs --fix"),
    ("consent to nothing", ("--unsafe", "."), "--unsafe needs --fix"),
    ("stdin", ("--fix", "-"), "cannot change stdin"),
    ("the output of a build", ("--fix", "--root", ".", "."), "cannot change the output of a build"),
]


@cases(("arguments", "message"), WRONG_USE)
def test_wrong_usage(arguments, message):
    """Each option that has no effect, and each input that is no file of an author, is wrong usage."""
    done = console.run("check", *arguments)
    assert (done.code, message in done.err) == (2, True), done


def test_a_file_that_changed_meanwhile_is_not_written(tmp_path, monkeypatch):
    """Another program saved the file while krm-fn checked it: its text stays, and the error names it."""
    file = tmp_path / "graph.yaml"
    file.write_text(GRAPH.replace("replicas", "replcas"))
    save = EditableFiles.save

    def late(files, texts):
        file.write_text("changed: true\n")
        save(files, texts)

    monkeypatch.setattr(EditableFiles, "save", late)
    done = console.run("check", "--fix", file)
    assert (done.code, file.read_text()) == (1, "changed: true\n")
    assert f"{file} changed while krm-fn read it" in done.err


def test_generated_objects_are_not_edited(tmp_path):
    """A file with generated objects is output: the next render writes it again."""
    (tmp_path / "graph.yaml").write_text(GRAPH)
    rendered = (
        console.run("render", tmp_path / "graph.yaml").out.replace("imagePullPolicy", "imagePulPolicy").replace("replicas", "replcas", 1)
    )
    file = tmp_path / "rendered.yaml"
    file.write_text(rendered)
    console.run("check", "--fix", "--unsafe", file)
    assert file.read_text() == rendered


def _put(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


PATCH = """\
apiVersion: nvidia.com/v1alpha1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: prod}
spec: {services: {Worker: {replicas: 2, extraPodSpec: {mainContainer: {args: [--model, m, --dtype=bfloat16]}}}}} # more
"""
OVERLAYS = {
    "base/kustomization.yaml": "resources: [graph.yaml]\n",
    "base/graph.yaml": OLDER,
    "prod/kustomization.yaml": "resources: [../base]\npatches: [{path: patch.yaml}]\n",
    "prod/patch.yaml": PATCH,
    "test/kustomization.yaml": "resources: [../base]\nnameSuffix: -test\n",
}


def test_the_file_of_an_overlay_that_has_the_mistake_is_edited(tmp_path, monkeypatch, kustomize_on_path):
    """A field of a base is edited in the base, once for all overlays, and a field of a patch in the patch."""
    monkeypatch.chdir(tmp_path)
    _put(tmp_path, OVERLAYS)
    _put(tmp_path, {"base/graph.yaml": OLDER.replace('gpu: "1"', "gpu: 1"), "prod/patch.yaml": PATCH.replace("--dtype=", "--dtpye=")})
    done = console.run("check", "--fix", ".")
    assert {name: (tmp_path / name).read_text() for name in OVERLAYS} == OVERLAYS, done
    assert (done.code, "2 edits in 2 files" in done.err) == (0, True)


def test_a_base_outside_of_the_paths_is_not_edited(tmp_path, monkeypatch, kustomize_on_path):
    """The command changes only files that its paths name."""
    monkeypatch.chdir(tmp_path)
    subprocess.run(["git", "init", "--quiet", "."], check=True)
    wrong = OLDER.replace('gpu: "1"', "gpu: 1")
    _put(tmp_path, {**OVERLAYS, "base/graph.yaml": wrong})
    done = console.run("check", "--fix", "prod")
    assert (done.code, (tmp_path / "base/graph.yaml").read_text()) == (1, wrong)


def test_a_mistake_without_one_answer_stays(tmp_path):
    """A key that the object has already is not written a second time, and a missing field is not guessed."""
    wrong = GRAPH.replace("    replicas: 2   # two\n", "    replicas: 2   # two\n    replcas: 3\n")
    text, done = fixed(tmp_path, wrong)
    assert (text, done.code) == (wrong, 1)


@pytest.mark.slow  # measures two sizes several times
def test_the_time_grows_linearly_with_the_number_of_edits(tmp_path):
    """All edits of a round are one pass over the text, which is parsed once."""
    graph = GRAPH.replace("replicas", "replcas").replace("bfloat16", "bfloat").replace('value: "5"', "value: 5")

    def fix(count):
        text = "---\n".join(graph.replace("name: chat", f"name: chat{number}") for number in range(count))
        _, done = fixed(tmp_path, text)
        assert (done.code, f"{3 * count} edits" in done.err) == (0, True)

    assert growth.is_linear(fix, 12)


def _broken(count, seed):
    """Yields texts with one mistake each, with the mistake and the right text, from the graphs of the examples without findings."""
    generator = random.Random(seed)  # noqa: S311 - it draws mistakes
    examples = sorted(Path(__file__).parents[2].glob("examples/*/graph.yaml"))
    texts = [file.read_text() for file in examples if "no findings" in console.run("check", file).err]
    made = 0
    for mutation in itertools.cycle(MUTATIONS):
        right = generator.choice(texts)
        wrong = mutation.change(right, generator)
        if wrong != right:
            made += 1
            yield mutation, right, wrong
        if made == count:
            return


_IN_COMPONENTS = 6
"""The least indentation of a field of a component in the examples; fields of the whole graph have less."""
_HASH = re.compile(r'(?<="DYN_NAMESPACE_WORKER_SUFFIX", "value": ")[0-9a-f]+|(?<=worker-hash": ")[0-9a-f]+')


def _comments(text):
    return [line.partition("#")[2] for line in text.splitlines() if "#" in line]


def _judged(tmp_path, count, seed):
    """Fixes broken graphs, holds the rules for each of them, and returns the numbers of wrong graphs and of those without findings.

    Only the comment in the line of a removed field goes.
    """
    wrong_graphs = without = 0
    for mutation, right, wrong in _broken(count, seed):
        file = tmp_path / "graph.yaml"
        file.write_text(wrong)
        before = json.loads(console.run("check", "-o", "json", file).out)["findings"]
        if not before:
            continue
        wrong_graphs += 1
        options = ("--unsafe",) if mutation.needs_consent else ()
        text, done = fixed(tmp_path, wrong, *options, "-o", "json")
        after, edits = (json.loads(done.out)[key] for key in ("findings", "edits"))
        assert len(after) <= len(before), (mutation.reason, wrong)
        assert (text == wrong) == (edits == []), mutation.reason
        removed = sum(edit["kind"] == "removal" for edit in edits)
        assert len(_comments(text)) >= len(_comments(wrong)) - removed, (mutation.reason, text)
        assert {*_comments(text)} <= {*_comments(wrong)}, (mutation.reason, text)
        split = sum(edit["kind"] in ("items", "move") for edit in edits)
        assert len(text.splitlines()) <= len(wrong.splitlines()) + 2 * split
        assert fixed(tmp_path, text, *options)[0] == text, (mutation.reason, text)
        without += not after
        if not after and _depth(right, wrong) >= _IN_COMPONENTS:
            templates = _templates(text), _templates(right)
            assert sum(templates[0][name] != templates[1].get(name) for name in templates[0]) <= 1, (mutation.reason, text)
    return wrong_graphs, without


def _depth(right, wrong):
    """The indentation of the line with the mistake."""
    lines = (line for line, other in zip(right.splitlines(), wrong.splitlines(), strict=False) if line != other)
    return next((len(line) - len(line.lstrip()) for line in lines), 0)


def _templates(text):
    """The pod templates of each component, without the hash of all workers."""
    resources = [value for value in yaml.safe_load_all(text) if value]
    by_component: dict[str, list[str]] = {}
    for entry in expand.expand(resources, Config()).resources:
        for template in workload_templates.templates(entry):
            component = template["metadata"]["labels"].get("nvidia.com/dynamo-component", "")
            by_component.setdefault(component, []).append(_HASH.sub("", json.dumps(template, sort_keys=True)))
    return by_component


def test_broken_graphs_get_better(tmp_path):
    """Most mistakes of a table are fixed, and none becomes worse."""
    wrong, without = _judged(tmp_path, 25, seed=3)
    assert without >= 0.6 * wrong


@pytest.mark.slow
def test_120_broken_graphs_get_better(tmp_path):
    """The same for 120 mistakes."""
    wrong, without = _judged(tmp_path, 120, seed=11)
    assert wrong >= 90
    assert without >= 0.6 * wrong
