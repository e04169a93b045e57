"""The user, the requirements and the contents of the image."""

from __future__ import annotations

import json
import re
import statistics
import subprocess
import time
from pathlib import PurePath

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

import krm_fn
from tests.containers import images
from tests.support import build_checks, builds, golden
from tests.testbed import programs

STRICT = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges")
NOTHING = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n"
GRAPH = NOTHING.replace(" []", "") + (
    "- apiVersion: nvidia.com/v1alpha1\n  kind: DynamoGraphDeployment\n  metadata: {name: llm, namespace: prod}\n"
    "  spec: {services: {Frontend: {componentType: frontend, extraPodSpec: {mainContainer: {image: example.com/dynamo:1.5.0}}}}}\n"
)
BILL = "usr/share/doc/dynamo-krm-fn/sbom.cdx.json"


@pytest.mark.parametrize("user", ["", "nobody", "65534", "999:999", "12345:0"])
def test_it_is_the_function_for_every_user_under_every_restriction(user, image):
    done = image.run(*STRICT, *([f"--user={user}"] if user else []), text=GRAPH)
    assert done.stderr == ""
    objects = build_checks.read(done.stdout)[0]["items"]
    assert builds.find(objects, "Deployment", "llm-frontend")


def test_without_arguments_nothing_changes(image):
    assert image.run(*STRICT, text=NOTHING).stdout == NOTHING


def test_an_error_is_said_and_loses_nothing(image):
    done = image.run(*STRICT, text=GRAPH.replace("componentType", "componentTipe"), check=False)
    assert done.returncode == 1
    assert "DYN023 spec.services.Frontend.componentTipe" in done.stderr
    assert build_checks.read(done.stdout)[0]["items"][0]["metadata"]["name"] == "llm"


@pytest.mark.parametrize("text", ["", "kind: {"])
def test_what_cannot_be_read_leaves_stdout_empty(text, image):
    done = image.run(*STRICT, text=text, check=False)
    assert (done.returncode, done.stdout) == (1, "")


def test_commands_are_arguments(image):
    graph = golden.EXAMPLES / "agg-vllm"
    assert image.run(*STRICT, arguments=["--version"]).stdout == f"krm-fn {krm_fn.__version__}\n"
    assert (
        image.run(*STRICT, arguments=["render", "-"], text=(graph / "graph.yaml").read_text()).stdout
        == (graph / "expected.yaml").read_text()
    )


def test_it_says_what_it_is(image):
    (said,) = json.loads(image.engine.run("image", "inspect", image.name).stdout)
    configured = said["Config"]
    assert (configured["User"], configured["Entrypoint"], configured.get("Cmd")) == ("65534:65534", ["/usr/local/bin/krm-fn"], None)
    labels = {key.removeprefix("org.opencontainers.image."): value for key, value in configured["Labels"].items()}
    assert labels["version"] == krm_fn.__version__
    assert re.fullmatch(r"[0-9a-f]{40}", labels["revision"])
    assert {"title", "description", "licenses"} <= labels.keys()


def test_nothing_is_compiled_when_it_runs(image):
    flags = ("--entrypoint=/usr/local/bin/python3", *STRICT)
    said = image.run(*flags, arguments=["-I", "-S", "-v", "-m", "krm_fn"], text=GRAPH).stderr
    assert "# code object from '" in said
    assert re.findall(r"# code object from (/.*)", said) == []


def test_nobody_but_root_owns_anything_and_nobody_writes(files):
    members = [member for member in files.getmembers() if PurePath(member.name).parts[:1] not in (("dev",), ("proc",), ("sys",), ("run",))]
    assert len(members) > 500
    assert [member.name for member in members if member.uid or member.gid] == []
    assert [member.name for member in members if member.mode & 0o6000] == []
    writable = [member for member in members if member.mode & 0o022 and not member.issym()]
    assert [(member.name, member.mode & 0o7777) for member in writable if member.name not in ("etc/hosts", "etc/mtab")] == [("tmp", 0o1777)]


def test_there_is_no_package_manager_and_no_second_python(files):
    names = {PurePath(name).name for name in files.getnames()}
    assert not {"apt", "apt-get", "dpkg", "pip", "pip3", "perl", "ensurepip", "setuptools"} & names
    (library,) = [PurePath(name).parent for name in files.getnames() if PurePath(name).name == "os.py"]
    assert library.match("usr/local/bin/krm-fn.d/lib/python3.*")


def test_every_module_is_compiled(files):
    names = {*files.getnames()}
    sources = [PurePath(name) for name in names if name.endswith(".py")]
    assert len(sources) > 400
    missing = [
        str(path) for path in sources if not any(name.startswith(f"{path.parent}/__pycache__/{path.stem}.cpython-") for name in names)
    ]
    assert missing == []


def test_the_bill_of_materials_is_valid_and_whole(files):
    text = files.extractfile(BILL).read().decode()
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    bill = json.loads(text)
    assert bill["metadata"]["component"]["purl"] == f"pkg:pypi/dynamo-krm-fn@{krm_fn.__version__}"
    listed = {component["purl"].partition("@")[0] for component in bill["components"]}
    folders = {PurePath(name).name.removesuffix(".dist-info") for name in files.getnames() if name.endswith(".dist-info")}
    installed = {re.sub(r"[-_.]+", "-", name.rpartition("-")[0]).lower() for name in folders} - {"dynamo-krm-fn"}
    assert {"pyyaml", "click", "pydantic"} <= installed
    assert {f"pkg:pypi/{name}" for name in installed} <= listed
    assert "pkg:generic/python" in listed


def test_every_file_of_debian_is_in_the_bill(files, image):
    """The bill lists the Debian package of every file."""
    system = [name for name in files.getnames() if ".so." in PurePath(name).name or name.startswith("usr/bin/")]
    assert any(PurePath(name).name.startswith("libssl.so") for name in system)
    patterns = " ".join(
        f"'*/{'bin' if 'bin' in name else 'lib*'}/{PurePath(name).name}'" for name in system if files.getmember(name).isfile()
    )
    asked = image.engine.run(
        "run", "--rm", image.engine.base, "sh", "-c", f"command -v dpkg-query >/dev/null && dpkg-query -S {patterns}", check=False
    )
    if not asked.stdout:
        pytest.skip("the base is not Debian")
    owners = {owner.partition(":")[0] for line in asked.stdout.splitlines() for owner in line.partition(": /")[0].split(", ")}
    bill = json.load(files.extractfile(BILL))
    listed = {component["name"] for component in bill["components"]}
    assert {owner for owner in owners if not owner.startswith("diversion")} <= listed
    copyrights = {PurePath(name).parts[3] for name in files.getnames() if name.endswith("/copyright")}
    assert {component["name"] for component in bill["components"] if component["purl"].startswith("pkg:deb/")} == copyrights


def test_make_sbom_writes_the_bill_of_the_image(files, image):
    written = programs.ROOT / "build" / "sbom.cdx.json"
    written.unlink(missing_ok=True)
    images.make(image.engine, "sbom", IMAGE=image.name)
    assert written.read_bytes() == files.extractfile(BILL).read()


def test_an_init_container_installs_what_then_runs_alone(image, tmp_path):
    """`install` works in Argo CD's repo server: with any user, a read-only root and one volume. The copy runs without a container."""
    for folder in (tmp_path.parent.parent, tmp_path.parent):
        folder.chmod(0o755)
    tmp_path.chmod(0o777)
    image.run(*STRICT, "--user=999:999", f"--volume={tmp_path}:/opt/krm-fn", arguments=["install", "/opt/krm-fn"])
    here = subprocess.run([tmp_path / "krm-fn"], input=GRAPH, env={}, capture_output=True, text=True, check=True, timeout=300)
    assert here.stdout == image.run(text=GRAPH).stdout


def test_the_variant_with_kustomize_builds_overlays(with_kustomize, clone):
    command = "cd /examples/layout-a-overlays && kustomize build --enable-alpha-plugins --enable-exec prod"
    flags = (*STRICT, "--user=999:999", f"--volume={clone / 'examples'}:/examples:ro", "--entrypoint=sh")
    built = with_kustomize.run(*flags, arguments=["-c", command])
    assert built.stdout == (golden.EXAMPLES / "layout-a-overlays" / "expected-prod.yaml").read_text()


@pytest.mark.parametrize("folder", ["llm-agg", "llm-agg-kustomize"])
def test_the_plugin_of_argo_cd_runs_in_the_variant_with_kustomize(folder, with_kustomize, clone):
    """The script of examples/argocd needs only the programs in the image."""
    flags = (
        *STRICT,
        "--user=999:999",
        "--tmpfs=/tmp",
        f"--volume={clone / 'examples'}:/examples:ro",
        f"--workdir=/examples/argocd/{folder}",
    )
    found = with_kustomize.run(*flags, "--entrypoint=bash", arguments=["../plugin/discover.sh"])
    assert found.stdout
    rendered = with_kustomize.run(*flags, "--entrypoint=bash", arguments=["../plugin/generate.sh"])
    assert any(each["kind"] == "Deployment" for each in build_checks.read(rendered.stdout))


def test_size_and_cold_start(image, measured):
    """The baseline is `true` in the same image and run."""
    size = json.loads(image.engine.run("image", "inspect", image.name).stdout)[0]["Size"] / 1e6
    nothing, function = [], []
    for _ in range(7):
        nothing.append(seconds(lambda: image.run("--entrypoint=true")))
        function.append(seconds(lambda: image.run(text=GRAPH)))
    first, second = statistics.median(nothing), statistics.median(function)
    measured.append(
        f"image: {size:.1f} MB; {image.engine.name} run … true {first:.2f} s, the function on one graph {second:.2f} s (medians of 7)"
    )
    assert size < 75
    assert second < 4 * first


def seconds(action):
    started = time.monotonic()
    action()
    return time.monotonic() - started
