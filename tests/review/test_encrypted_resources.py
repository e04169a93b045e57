"""What SOPS, Sealed Secrets and the External Secrets operator keep in Git passes every command unchanged, and is never judged.

The key is in the cluster or with the user, so krm-fn can read no value of these resources. It must not report them, change them or print
a value beside the encrypted ones.
"""

from __future__ import annotations

import json
import re
import subprocess

import pytest
import yaml

from tests.cli import console
from tests.support import golden
from tests.support.cases import cases

PLAIN = "plain-user-name"
MARKS = """\
sops:
  age:
  - recipient: age1qyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqszqgpqyqs3290gq
    enc: |
      -----BEGIN AGE ENCRYPTED FILE-----
      YWdlLWVuY3J5cHRpb24ub3JnL3YxCg==
      -----END AGE ENCRYPTED FILE-----
  lastmodified: "2026-01-01T00:00:00Z"
  mac: ENC[AES256_GCM,data:p673w==,iv:YY=,tag:BB==,type:str]
  encrypted_regex: ^(data|stringData)$
  version: 3.9.0
"""
ENC, NUMBER = "ENC[AES256_GCM,data:Tr7o=,iv:1=,tag:k=,type:str]", "ENC[AES256_GCM,data:CwE=,iv:1=,tag:k=,type:int]"
SECRET = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: token, namespace: team}}
stringData:
  HF_TOKEN: {ENC}
  user: {PLAIN}
{MARKS}"""
DATA = f"apiVersion: v1\nkind: Secret\nmetadata: {{name: data, namespace: team}}\ndata:\n  key: {ENC}\n{MARKS}"
PULL = f"""\
apiVersion: v1
kind: Secret
metadata: {{name: pull, namespace: team}}
type: kubernetes.io/dockerconfigjson
data:
  .dockerconfigjson: {ENC}
{MARKS}"""
SETTINGS = f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: settings, namespace: team}}\ndata:\n  limit: {ENC}\n{MARKS}"
PROXY = f"""\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: proxy, namespace: team}}
spec:
  replicas: {NUMBER}
  selector: {{matchLabels: {{app: proxy}}}}
  template:
    metadata: {{labels: {{app: proxy}}}}
    spec:
      containers:
      - name: proxy
        image: {ENC}
        ports: [{{containerPort: "{NUMBER}"}}]
{MARKS}"""
SEALED = """\
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: sealed, namespace: team}
spec:
  encryptedData: {password: AgBy3i4OJSWK+PiTySYZZA9rO43cGDEq}
  template: {metadata: {name: sealed-password, namespace: team}, type: Opaque}
"""
EXTERNAL = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: external, namespace: team}
spec:
  refreshInterval: 1h
  secretStoreRef: {name: vault, kind: ClusterSecretStore}
  data: [{secretKey: password, remoteRef: {key: ngc, property: password}}]
"""
RESOURCES = {"secret": SECRET, "data": DATA, "pull": PULL, "settings": SETTINGS, "proxy": PROXY, "sealed": SEALED, "external": EXTERNAL}
OTHERS = {
    "values of a chart": f"password: {ENC}\n{MARKS}",
    "a document without a readable kind": f"apiVersion: {ENC}\nkind: {ENC}\nmetadata: {{name: '{ENC}'}}\n{MARKS}",
}
GRAPH = """\
apiVersion: nvidia.com/v1beta1
kind: DynamoGraphDeployment
metadata: {name: chat, namespace: team}
spec:
  backendFramework: vllm
  components:
  - name: Frontend
    type: frontend
    podTemplate:
      spec:
        imagePullSecrets: [{name: pull}]
        containers:
        - name: main
          image: nvcr.io/nvidia/ai-dynamo/vllm-runtime:1.6.1
          envFrom: [{secretRef: {name: token}}]
          env:
          - {name: A, valueFrom: {secretKeyRef: {name: sealed-password, key: password}}}
          - {name: B, valueFrom: {secretKeyRef: {name: external, key: password}}}
"""
RENDER = """\
apiVersion: dynamo.krm-fn.io/v1alpha1
kind: DynamoRender
metadata: {name: render, annotations: {config.kubernetes.io/function: "exec: {path: krm-fn}"}}
spec: {imagePullSecrets: [{registry: nvcr.io, name: pull}]}
"""


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A folder with a graph and all of these resources, as the current one."""
    monkeypatch.chdir(tmp_path)
    for name, text in {**RESOURCES, "graph": GRAPH, "render": RENDER}.items():
        (tmp_path / f"{name}.yaml").write_text(text)
    return tmp_path


def test_no_command_reports_them(repository):
    for name, text in OTHERS.items():
        (repository / f"{name}.yaml").write_text(text)
    for command in (["check", "."], ["render", "."], ["images", "."], ["graph", "."], ["explain", "."]):
        done = console.run(*command)
        assert done.code == 0, done
        assert not re.search(r"\bDYN[0-9]{3}\b", done.err + done.out), (command, done)


def test_each_alone_passes_the_check(repository):
    """A command that names one file has no other resource."""
    for name in RESOURCES:
        done = console.run("check", "--config", "render.yaml", f"{name}.yaml")
        assert (done.code, re.findall(r"\bDYN[0-9]{3}\b", done.out + done.err)) == (0, []), done


def test_a_render_writes_them_as_they_are(repository):
    done = console.run("render", ".", "--output-dir", "out")
    assert done.code == 0, done
    for name, text in RESOURCES.items():
        value = yaml.safe_load(text)
        assert yaml.safe_load((repository / "out" / f"{value['kind'].lower()}_{value['metadata']['name']}.yaml").read_text()) == value, name


def test_the_function_returns_the_same_bytes(repository, kustomize):
    """SOPS finds a changed value by its code. The text around the values is also the same."""
    fields = {"resources": [f"{name}.yaml" for name in (*RESOURCES, "graph")]}

    def built(**more):
        (repository / "kustomization.yaml").write_text(yaml.safe_dump({**fields, **more}))
        command = [kustomize, "build", "--enable-alpha-plugins", "--enable-exec", "."]
        done = subprocess.run(command, cwd=repository, env=golden.environment(), capture_output=True, text=True, check=True, timeout=300)
        return re.split(r"^---\n", done.stdout, flags=re.MULTILINE)

    before, after = built(), built(transformers=["render.yaml"])
    passed = [document for document in before if "kind: DynamoGraphDeployment" not in document]
    assert len(passed) == len(RESOURCES)
    assert [document for document in after if document in passed] == sorted(passed, key=after.index)


def test_needs_counts_the_secrets_that_controllers_make(repository):
    done = console.run("needs", ".")
    assert done.code == 0, done
    assert "Secret" not in done.out
    (repository / "sealed.yaml").unlink()
    assert "team/sealed-password" in console.run("needs", ".").out


def test_a_comparison_shows_no_value(repository):
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@example.com"]
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "a"]):
        subprocess.run([*git, *command], cwd=repository, check=True, capture_output=True)
    (repository / "secret.yaml").write_text(SECRET.replace(PLAIN, f"{PLAIN}-2").replace("data:Tr7o", "data:Uu8p"))
    for style in ("text", "markdown", "json"):
        done = console.run("diff", "--old", "HEAD", "--format", style, ".")
        assert (done.code, PLAIN in done.out + done.err) == (0, False), done
    assert "Secret team/token: updated" in console.run("diff", "--old", "HEAD", ".").out


ENCRYPTED = [
    ("a graph", GRAPH + MARKS, "DynamoGraphDeployment"),
    ("a graph of v1alpha1", console.GRAPH + MARKS, "DynamoGraphDeployment"),
    ("a model", "apiVersion: nvidia.com/v1alpha1\nkind: DynamoModel\nmetadata: {name: m}\nspec: {}\n" + MARKS, "DynamoModel"),
]


@cases(("text", "kind"), ENCRYPTED)
def test_an_encrypted_dynamo_resource_is_an_error(text, kind, tmp_path):
    """The render comes before the decryption, so pods would get encrypted values. Further findings would only be about these."""
    (tmp_path / "graph.yaml").write_text(text)
    done = console.run("check", str(tmp_path / "graph.yaml"), "--format", "json")
    assert done.code == 1
    assert [(finding["code"], finding["resource"]["kind"]) for finding in json.loads(done.out)["findings"]] == [("DYN720", kind)]


PULLED = [
    ("no setting names it", "", [("info", "DYN050")]),
    ("a setting names it", "spec: {imagePullSecrets: [{registry: nvcr.io, name: pull}]}", []),
]


@cases(("spec", "expected"), PULLED)
def test_the_registry_of_an_encrypted_secret_is_not_known(spec, expected, tmp_path):
    """A readable pull Secret among the items is used for the images of its registries. That of an encrypted one must be named."""
    config = RENDER.partition("spec:")[0] + spec
    for name, text in (("pull", PULL), ("render", config), ("graph", GRAPH)):
        (tmp_path / f"{name}.yaml").write_text(text)
    findings = json.loads(console.run("check", str(tmp_path), "--format", "json", notes=True).out)["findings"]
    assert [(finding["severity"], finding["code"]) for finding in findings] == expected
