"""`krm-fn lsp` as a server of a real client: findings at their ranges, fixes, wrong requests, and texts that are no graphs."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from lsprotocol import types

from tests.cli import console
from tests.cli.language_server import editor
from tests.repository.clones import FUNCTION
from tests.support.cases import cases
from tests.testbed import programs

pytestmark = pytest.mark.xdist_group("lsp")

HEAD = "apiVersion: nvidia.com/v1alpha1\nkind: DynamoGraphDeployment\n"
LARGE = "# " + "x" * 5_000_000


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return tmp_path_factory.mktemp("root")


@pytest.fixture(scope="module")
def connected(root):
    with editor.connected(root) as opened:
        yield opened


def marked(text, diagnostics, severity=types.DiagnosticSeverity.Error):
    """The codes of findings, and the texts that they mark."""
    lines = text.splitlines()
    return [
        (item.code, lines[item.range.start.line][item.range.start.character : item.range.end.character])
        for item in diagnostics
        if item.severity == severity
    ]


def test_findings_follow_the_text(connected, root):
    """The file on disk has another text. Each finding marks the key that it is about."""
    path = root / "graph.yaml"
    path.write_text(console.GRAPH)
    assert marked(console.GRAPH, connected.open(path, console.GRAPH)) == []
    connected.change(path, console.MISSPELT, 2)
    findings = connected.findings(path, 2)
    assert marked(console.MISSPELT, findings) == [("DYN023", "replica")]
    assert findings[-1].source == "krm-fn"
    connected.close(path)
    assert connected.findings(path) == []


def test_a_fix_is_an_edit_of_the_lines_that_differ(connected, root):
    """The title says what is written. The edit repairs the text that the editor has, not that of the file."""
    path = root / "fixed.yaml"
    (error,) = (item for item in connected.open(path, console.MISSPELT) if item.severity == types.DiagnosticSeverity.Error)
    document = types.TextDocumentIdentifier(path.as_uri())
    (action,) = connected.ask("text_document_code_action", types.CodeActionParams(document, error.range, types.CodeActionContext([error])))
    assert action.title == "Rename replica to replicas (DYN023)"
    (edit,) = action.edit.changes[path.as_uri()]
    lines = console.MISSPELT.splitlines(keepends=True)
    lines[edit.range.start.line : edit.range.end.line] = [edit.new_text]
    assert "".join(lines) == console.GRAPH
    only = types.CodeActionContext([], only=[types.CodeActionKind.SourceFixAll])
    (every,) = connected.ask("text_document_code_action", types.CodeActionParams(document, error.range, only))
    assert every.edit.changes == action.edit.changes
    connected.close(path)


def test_a_fix_that_can_change_what_runs_says_so(connected, root):
    """`--unsafe` of `krm-fn check` is a word in the title here."""
    path, text = root / "unsafe.yaml", console.GRAPH.replace("replicas: 2", "replicas: 2\n      unknownThing: 1")
    (error,) = (item for item in connected.open(path, text) if item.code == "DYN023")
    params = types.CodeActionParams(types.TextDocumentIdentifier(path.as_uri()), error.range, types.CodeActionContext([error]))
    (action,) = connected.ask("text_document_code_action", params)
    assert action.title == "Remove unknownThing (DYN023, unsafe: can change what runs)"
    assert not action.is_preferred
    connected.close(path)


def test_the_open_text_of_the_configuration_counts(connected, root):
    """The configuration on disk has no mistake, and the open one has. Its own findings come, too, without one about missing resources."""
    folder = root / "configured"
    folder.mkdir()
    render = "apiVersion: dynamo.krm-fn.io/v1alpha1\nkind: DynamoRender\nmetadata: {name: render}\nspec: {natsAddress: nats://nats:4222}\n"
    (folder / "render.yaml").write_text(render)
    connected.open(folder / "graph.yaml", console.GRAPH)
    changed = render.replace("natsAddress", "natsAdress")
    assert marked(changed, connected.open(folder / "render.yaml", changed)) == [("DYN023", "natsAdress")]
    assert connected.findings(folder / "graph.yaml") is not None  # judged again
    for name in ("render.yaml", "graph.yaml"):
        connected.close(folder / name)


TEXTS: tuple[tuple[str, str, list[str]], ...] = (
    ("too large", LARGE, ["DYN075"]),
    ("invalid YAML", console.GRAPH + "  a: b: c\n", ["DYN004"]),
    ("half a line", console.GRAPH[: console.GRAPH.index("replicas") + 4] + "\n", ["DYN004"]),
    ("a tab", console.GRAPH.replace("  services", "\tservices"), ["DYN004"]),
    ("a forbidden character", console.GRAPH + "# \x07\n", ["DYN003"]),
    ("another break of lines", console.GRAPH + "# \u2028# x\u0085\n", []),
    ("one graph that is not unique", f"{console.GRAPH}---\n{console.GRAPH}", ["DYN016"]),
)


@cases(("name", "text", "codes"), TEXTS)
def test_a_text_that_is_no_graph_has_a_finding(connected, root, name, text, codes):
    path = root / f"{name.replace(' ', '-')}.yaml"
    whole = text if text is not LARGE else f"kind: DynamoGraphDeployment\n{LARGE}"
    found = connected.open(path, whole)
    assert sorted({item.code for item in found if item.severity == types.DiagnosticSeverity.Error}) == codes
    connected.close(path)


def test_each_of_three_documents_has_its_findings(connected, root):
    """An error in one document does not hide those of the next, whose lines count from the top of the file."""
    names = [console.MISSPELT.replace("name: chat", f"name: chat-{number}") for number in range(3)]
    text = "---\n".join(names)
    assert marked(text, connected.open(root / "three.yaml", text)) == [("DYN023", "replica")] * 3
    connected.close(root / "three.yaml")


def test_files_of_other_programs_have_no_findings(connected, root):
    """An editor attaches the server to all YAML. The next answer is about the graph."""
    item = types.TextDocumentItem((root / "ci.yaml").as_uri(), "yaml", 1, "on: push\njobs: {}\n")
    connected.notify("text_document_did_open", types.DidOpenTextDocumentParams(item))
    connected.open(root / "after.yaml", console.GRAPH)
    connected.close(root / "after.yaml")


def test_requests_about_unknown_documents_have_empty_answers(connected, root):
    """Changes and closes without an open, and positions that no text has."""
    unknown = root / "unknown.yaml"
    connected.change(unknown, "a: b\n", 7)
    connected.close(unknown)
    beyond = types.Range(types.Position(900, 900), types.Position(901, 0))
    context = types.CodeActionContext([])
    assert not connected.ask(
        "text_document_code_action", types.CodeActionParams(types.TextDocumentIdentifier(unknown.as_uri()), beyond, context)
    )
    connected.open(root / "known.yaml", console.GRAPH)
    assert not connected.ask(
        "text_document_code_action", types.CodeActionParams(types.TextDocumentIdentifier((root / "known.yaml").as_uri()), beyond, context)
    )
    connected.close(root / "known.yaml")


@pytest.mark.slow
def test_a_patch_of_kustomize_has_the_findings_of_its_build(root, monkeypatch):
    """The open text of the patch counts. `check` of the folder says the same after a save."""
    folder = root / "overlay"
    folder.mkdir()
    monkeypatch.setenv("PATH", programs.search_path(programs.path("kustomize").parent))
    (folder / "graph.yaml").write_text(console.GRAPH)
    (folder / "kustomization.yaml").write_text("resources: [graph.yaml]\npatches: [{path: patch.yaml}]\n")
    patch = f"{HEAD}metadata: {{name: chat, namespace: team}}\nspec: {{services: {{Worker: {{replicas: 3}}}}}}\n"
    (folder / "patch.yaml").write_text(patch)
    broken = patch.replace("replicas", "replica")
    with editor.connected(folder) as connected:
        found = connected.open(folder / "patch.yaml", broken)
    assert marked(broken, found) == [("DYN023", "replica")]
    (folder / "patch.yaml").write_text(broken)
    done = json.loads(console.program("check", "-o", "json", folder).out)
    assert [finding["code"] for finding in done["findings"] if finding["file"].endswith("patch.yaml")] == [item.code for item in found]


@pytest.mark.slow
def test_an_edit_of_a_base_judges_the_patches_of_its_overlays(root, monkeypatch):
    """The patch of an overlay has a flag of the program that the open text of the base starts."""
    base, overlay = root / "layers" / "base", root / "layers" / "prod"
    monkeypatch.setenv("PATH", programs.search_path(programs.path("kustomize").parent))
    flags = "services: {Worker: {extraPodSpec: {mainContainer: {args: [--modle=m]}}}}"
    patch = f"{HEAD}metadata: {{name: chat, namespace: team}}\nspec: {{{flags}}}\n"
    started = console.GRAPH.replace('dynamo:1.5.0"', 'dynamo:1.5.0", command: [python3, -m, dynamo.vllm]')
    for path, text in (
        (base / "graph.yaml", console.GRAPH),
        (base / "kustomization.yaml", "resources: [graph.yaml]\n"),
        (overlay / "patch.yaml", patch),
        (overlay / "kustomization.yaml", "resources: [../base]\npatches: [{path: patch.yaml}]\n"),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    subprocess.run(["git", "init", "-q", root / "layers"], check=True, timeout=60)
    with editor.connected(root) as connected:
        assert "DYN623" in [item.code for item in connected.open(overlay / "patch.yaml", patch)]
        connected.open(base / "graph.yaml", console.GRAPH)
        connected.change(base / "graph.yaml", started, 2)
        while "DYN600" not in [item.code for item in connected.findings(overlay / "patch.yaml")]:
            pass


def message(text):
    return f"Content-Length: {len(text)}\r\n\r\n{text}".encode()


INITIALIZE = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{}}}'
EARLY = json.dumps(
    {
        "jsonrpc": "2.0",
        "id": 2,
        "method": "textDocument/hover",
        "params": {"textDocument": {"uri": "file:///a"}, "position": {"line": 0, "character": 0}},
    },
    separators=(",", ":"),
)
STRANGE = {"uri": "file:///a%00b.yaml", "languageId": "yaml", "version": 1, "text": "kind: DynamoRender\ud800"}
OPEN = json.dumps({"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": STRANGE}})
STREAMS = (
    ("no message", b""),
    ("no protocol", b"hello\r\n\r\n\xff\x00\r\n"),
    ("no JSON", message("{") + message("[1, 2]") + message("null") + message('{"jsonrpc": "1.0"}')),
    ("before initialize", message(EARLY) + message(OPEN) + message(INITIALIZE)),
    ("wrong parameters", message(INITIALIZE) + message(EARLY.replace('"file:///a"', "5")) + message(EARLY.replace("hover", "dance"))),
    ("a zero byte and half a character", message(INITIALIZE) + message(OPEN)),
    ("an end in the middle", message(INITIALIZE)[:-5]),
    ("exit without shutdown", message(INITIALIZE) + message('{"jsonrpc":"2.0","method":"exit"}')),
)


@pytest.mark.slow  # a process for each
@cases(("name", "sent"), STREAMS)
def test_no_stream_ends_the_server_with_a_traceback(tmp_path, name, sent):
    """The server ends with its stdin, and stderr stays empty."""
    command = [sys.executable, "-m", "krm_fn", "lsp", "--stdio"]
    done = subprocess.run(
        command, input=sent, capture_output=True, check=False, timeout=120, cwd=tmp_path, env={"PYTHONPATH": str(programs.ROOT)}
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if message(INITIALIZE) in sent:
        assert b'"capabilities"' in done.stdout


def test_the_packages_of_the_extra_are_missing(tmp_path):
    """The message names the extra."""
    (tmp_path / "pygls.py").write_text("raise ModuleNotFoundError(name='pygls')\n")
    command = [sys.executable, "-m", "krm_fn", "lsp"]
    paths = f"{tmp_path}:{programs.ROOT}"
    done = subprocess.run(command, input="", capture_output=True, check=False, timeout=120, text=True, env={"PYTHONPATH": paths})
    assert (done.returncode, done.stderr) == (2, "error: krm-fn lsp needs more packages; run: pip install 'dynamo-krm-fn[lsp]'\n")


def place(path, text, words):
    """The parameters of a request about the position behind some words."""
    before = text[: text.index(words) + len(words)]
    position = types.Position(before.count("\n"), len(before) - before.rfind("\n") - 1)
    return {"text_document": types.TextDocumentIdentifier(path.as_uri()), "position": position}


def test_answers_about_a_position(connected, root):
    """Completion in half a line replaces its word, help names the effect, and a render leads to the graph."""
    path = root / "asked.yaml"
    path.write_text(console.GRAPH)
    connected.open(path, console.GRAPH)
    help_text = connected.ask("text_document_hover", types.HoverParams(**place(path, console.GRAPH, "  repli"))).contents.value
    assert "Deployment/chat-worker `spec.replicas`: `2`" in help_text
    half = console.GRAPH.replace("replicas: 2", "repl")
    connected.change(path, half, 2)
    listed = connected.ask("text_document_completion", types.CompletionParams(**place(path, half, "      repl"))).items
    (replicas,) = (item for item in listed if item.label == "replicas")
    assert replicas.text_edit.new_text == "replicas: "
    assert replicas.text_edit.range.start.character == 6
    connected.change(path, console.GRAPH, 3)
    rendered = console.run("render", path).out
    connected.open(root / "render-of-asked.yaml", rendered)
    params = types.DefinitionParams(**place(root / "render-of-asked.yaml", rendered, "replicas: 2"))
    (location,) = connected.ask("text_document_definition", params)
    assert location.uri == path.as_uri()
    assert console.GRAPH.split("\n")[location.range.start.line].strip() == "replicas: 2"
    for name in ("asked.yaml", "render-of-asked.yaml"):
        connected.close(root / name)


HOVERED = """\
resources: [graph.yaml]
transformers: [render.yaml]
patches:
- target: {kind: DynamoGraphDeployment}
  patch: |
    - op: add
      path: /spec/services/Worker/envs
      value:
      - name: LEVEL
        value: "high"
- path: patch.yaml
"""


def test_help_in_patches_names_what_their_build_makes(root, monkeypatch):
    """An operation has no field of its own, so it has the effects alone. A line has them when the build of its text is known."""
    monkeypatch.setenv("PATH", programs.search_path(programs.path("kustomize").parent))
    folder = root / "hovered"
    patch = HEAD + "metadata: {name: chat, namespace: team}\nspec:\n  services:\n    Worker:\n      replicas: 3\n"
    texts = {"graph.yaml": console.GRAPH, "render.yaml": FUNCTION, "patch.yaml": patch, "kustomization.yaml": HOVERED}
    folder.mkdir()
    for name, text in texts.items():
        (folder / name).write_text(text)
    with editor.connected(root) as opened:
        opened.open(folder / "patch.yaml", patch)
        in_file = types.HoverParams(**place(folder / "patch.yaml", patch, "      repli"))
        text = opened.ask("text_document_hover", in_file).contents.value
        assert text.startswith("`spec.services.Worker.replicas`: integer")
        assert "Deployment/chat-worker `spec.replicas`: `3`" in text
        opened.open(folder / "kustomization.yaml", HOVERED)
        inline = types.HoverParams(**place(folder / "kustomization.yaml", HOVERED, 'value: "hi'))
        assert "Deployment/chat-worker `spec.template.spec.containers[0].env" in opened.ask("text_document_hover", inline).contents.value
        opened.change(folder / "patch.yaml", patch.replace("3", "4"), 2)
        assert "It makes:" not in opened.ask("text_document_hover", in_file).contents.value
        opened.findings(folder / "patch.yaml", 2)
        assert "`spec.replicas`: `4`" in opened.ask("text_document_hover", in_file).contents.value


def test_positions_that_no_text_has(connected, root):
    """An editor can be a text behind."""
    path, beyond = root / "short.yaml", types.Position(900, 900)
    connected.open(path, console.GRAPH)
    for document in (types.TextDocumentIdentifier(path.as_uri()), types.TextDocumentIdentifier("untitled:Untitled-1")):
        assert not connected.ask("text_document_hover", types.HoverParams(document, beyond))
        assert connected.ask("text_document_completion", types.CompletionParams(document, beyond)) is None or document.uri == path.as_uri()
        assert not connected.ask("text_document_definition", types.DefinitionParams(document, beyond))
    connected.close(path)
