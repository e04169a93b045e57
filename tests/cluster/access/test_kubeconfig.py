"""A kubeconfig leads to the same cluster and the same user as with kubectl, and an error says what to correct.

The API server itself tells who we are (`SelfSubjectReview`).
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from krm_fn.cluster.access import ClusterError, exec_credentials, kubeconfig
from krm_fn.cluster.client import ApiError, Client, TransportError
from tests.support.cases import cases
from tests.syncer.loops import runs


def config(server="https://127.0.0.1:1", user=None, cluster=None, context=None):
    """A kubeconfig with one context."""
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "clusters": [{"name": "c", "cluster": {"server": server, **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", **(context or {})}}],
    }


@pytest.fixture
def write(tmp_path, fragile):
    """Writes a kubeconfig for the fragile control plane, with `user` as its user."""

    def write(user=None, cluster=None, **more):
        trusted = {"certificate-authority": str(fragile.certificate)} if cluster is None else cluster
        file = tmp_path / "config"
        file.write_text(json.dumps(config(f"https://127.0.0.1:{fragile.port}", user, trusted, **more)))
        return file

    return write


async def name_of(cluster):
    """The user's name, as the server sees it."""
    async with Client(cluster) as client:
        return await ask(client)


async def ask(client):
    review = await client.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", body={})
    return review["status"]["userInfo"]["username"]


def encoded(text):
    return base64.b64encode(text if isinstance(text, bytes) else text.encode()).decode()


@runs
async def test_the_kubeconfig_of_kubectl(fragile, monkeypatch):
    assert await name_of(kubeconfig.load(fragile.plane.kubeconfig)) == "tests"
    monkeypatch.setenv("KUBECONFIG", str(fragile.plane.kubeconfig))
    assert await name_of(kubeconfig.load()) == "tests"
    assert await name_of(kubeconfig.find()) == "tests"


@runs
async def test_certificates_from_files_and_from_data(fragile, write, tmp_path):
    """Paths start at the folder of the kubeconfig, and data wins over files."""
    one, two = fragile.authority.issue("one"), fragile.authority.issue("two")
    (tmp_path / "client.crt").write_text(one.certificate)
    (tmp_path / "client.key").write_text(one.key)
    files = {"client-certificate": "client.crt", "client-key": "client.key"}
    assert await name_of(kubeconfig.load(write(files))) == "one"
    data = {"client-certificate-data": encoded(two.certificate), "client-key-data": encoded(two.key)}
    authority = {"certificate-authority-data": encoded(fragile.certificate.read_bytes())}
    assert await name_of(kubeconfig.load(write(files | data, authority))) == "two"


@runs
async def test_a_certificate_that_is_renewed_on_disk_is_presented_by_the_next_request(fragile, write, tmp_path):
    files = {"client-certificate": "client.crt", "client-key": "client.key"}

    def renew(name, days=1):
        pair = fragile.authority.issue(name, days)
        for field, text in zip(files.values(), pair, strict=True):
            (tmp_path / f"{field}.new").write_text(text)
            (tmp_path / f"{field}.new").replace(tmp_path / field)

    renew("expired", days=-1)
    async with Client(kubeconfig.load(write(files))) as client:
        with pytest.raises(ApiError) as refused:
            await ask(client)
        assert refused.value.status == 401
        renew("first")
        assert await ask(client) == "first"
        renew("second")
        assert await ask(client) == "second"


@runs
async def test_a_token_file_is_read_again_when_it_changes(fragile, write, tmp_path):
    first, second = (fragile.account("kubeconfig", name) for name in ("first", "second"))
    (tmp_path / "token").write_text(first + "\n")
    async with Client(kubeconfig.load(write({"tokenFile": "token", "token": "overridden"}))) as client:
        assert await ask(client) == "system:serviceaccount:kubeconfig:first"
        (tmp_path / "token").write_text(second + "\n")
        assert await ask(client) == "system:serviceaccount:kubeconfig:second"
        (tmp_path / "token").unlink()
        assert await ask(client) == "system:serviceaccount:kubeconfig:second"


TRUST = [
    ("another name in the certificate", {"tls-server-name": "kubernetes.default.svc"}, ""),
    ("a name that the certificate lacks", {"tls-server-name": "example.com"}, "not valid for 'example.com'"),
    ("no check at all", {"insecure-skip-tls-verify": True, "certificate-authority": ""}, ""),
    ("the authorities of the system", {"certificate-authority": ""}, "certificate verify failed"),
]


@cases(("reason", "cluster", "said"), TRUST)
@runs
async def test_trust(reason, cluster, said, fragile, write):
    loaded = kubeconfig.load(write({"token": fragile.token}, {"certificate-authority": str(fragile.certificate)} | cluster))
    if said:
        with pytest.raises(TransportError, match=said):
            await name_of(loaded)
    else:
        assert await name_of(loaded) == "tests"


def written(folder, name, value):
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(json.dumps(value))
    return folder / name


@runs
async def test_of_several_files_the_first_wins(tmp_path, monkeypatch):
    """Entries are not mixed, files that do not exist are passed over, and paths start at the folder of their own file."""
    first = {"users": [{"name": "u", "user": {"tokenFile": "token"}}], "contexts": []}
    second = config("https://second", {"token": "second"}, context={"namespace": "team-a"})
    third = config("https://third") | {"current-context": "other"}
    third["contexts"].append({"name": "other", "context": {"cluster": "c"}})
    files = [written(tmp_path / name, "config", each) for name, each in (("1", first), ("2", second), ("3", third))]
    (tmp_path / "1" / "token").write_text("first")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join(["", str(tmp_path / "missing"), *map(str, files)]))
    cluster = kubeconfig.load()
    assert (cluster.server, cluster.namespace) == ("https://second", "team-a")
    assert (await cluster.access()).headers == {"Authorization": "Bearer first"}
    other = kubeconfig.load(context="other")
    assert (other.server, other.namespace) == ("https://second", "default")
    assert (await other.access()).headers == {}


@runs
async def test_user_and_password(tmp_path):
    cluster = kubeconfig.load(written(tmp_path, "config", config(user={"username": "me", "password": "secret"})))
    assert (await cluster.access()).headers == {"Authorization": f"Basic {encoded('me:secret')}"}


EXEC = {"apiVersion": "client.authentication.k8s.io/v1", "command": "plugin", "interactiveMode": "Never"}
WRONG = [
    ("a context that does not exist", config(), "nowhere", "no context 'nowhere'; it has here"),
    ("no current context", config() | {"current-context": ""}, None, "no current-context; pass --context with one of here"),
    ("a cluster that does not exist", config(context={"cluster": "x"}), None, "no cluster 'x'; it has c"),
    ("a user that does not exist", config(context={"user": "x"}), None, "no user 'x'; it has u"),
    ("an address that is no URL", config("localhost:8080"), None, "'localhost:8080'.*is not a URL"),
    ("a list instead of a mapping", [], None, "is not a kubeconfig"),
    ("an entry that is no mapping", config() | {"users": ["x"]}, None, "users has an entry without user"),
    ("a token that is a number", config(user={"token": 5}), None, "token in the kubeconfig must be text"),
    ("a certificate without its key", config(user={"client-certificate": "x"}), None, "but not both"),
    ("data that is not base64", config(cluster={"certificate-authority-data": "%"}), None, "not base64"),
    ("the old kind of plugins", config(user={"auth-provider": {"name": "gcp"}}), None, "auth-provider.*use an exec plugin"),
    ("impersonation", config(user={"as": "admin"}), None, "does not know as of a user"),
    ("a proxy", config(cluster={"proxy-url": "http://proxy"}), None, "does not know proxy-url"),
    ("a plugin of an unknown version", config(user={"exec": EXEC | {"apiVersion": "v0"}}), None, "exec.apiVersion 'v0' is not known"),
    (
        "a plugin of an unknown mode",
        config(user={"exec": EXEC | {"interactiveMode": "Often"}}),
        None,
        "interactiveMode 'Often' is not known",
    ),
]


@cases(("reason", "value", "context", "said"), WRONG)
def test_a_wrong_kubeconfig(reason, value, context, said, tmp_path):
    with pytest.raises(ClusterError, match=said):
        kubeconfig.load(written(tmp_path, "config", value), context)


def test_a_file_that_is_missing_or_not_yaml(tmp_path, monkeypatch):
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "missing"))
    with pytest.raises(ClusterError, match="missing does not exist; pass --kubeconfig FILE"):
        kubeconfig.load()
    with pytest.raises(ClusterError, match="missing cannot be read"):
        kubeconfig.load(tmp_path / "missing")
    (tmp_path / "broken").write_text("clusters: [\n")
    with pytest.raises(ClusterError, match="broken"):
        kubeconfig.load(tmp_path / "broken")


WRONG_LATER = [
    ("a token file that does not exist", {"tokenFile": "nowhere"}, "nowhere cannot be read"),
    ("a token with a space", {"token": "two words"}, "characters that no token has"),
    ("a key that does not fit", None, "do not fit together"),
]


@cases(("reason", "user", "said"), WRONG_LATER)
@runs
async def test_wrong_credentials(reason, user, said, fragile, write):
    if user is None:
        one, two = fragile.authority.issue("one"), fragile.authority.issue("two")
        user = {"client-certificate-data": encoded(one.certificate), "client-key-data": encoded(two.key)}
    with pytest.raises(ClusterError, match=said):
        await name_of(kubeconfig.load(write(user)))


@runs
async def test_the_certificate_of_the_server_itself_may_be_the_authority(fragile, write):
    """As with kubectl, the authority need not be a root."""
    own = fragile.certificate.read_text().split("-----END", maxsplit=1)[0] + "-----END CERTIFICATE-----\n"
    cluster = {"certificate-authority-data": encoded(own)}
    assert await name_of(kubeconfig.load(write({"token": fragile.token}, cluster))) == "tests"


@runs
async def test_an_authority_that_is_no_certificate(write):
    with pytest.raises(ClusterError, match="certificate authority of the cluster is not valid PEM"):
        await name_of(kubeconfig.load(write({}, {"certificate-authority-data": encoded("nonsense")})))


# A plugin: it appends what it was told to the file `told`, and prints the file `says`.
PLUGIN = f"""#!{sys.executable}
import os, pathlib, sys
folder = pathlib.Path(__file__).parent
with (folder / "told").open("a") as told:
    print(os.environ["KUBERNETES_EXEC_INFO"], os.environ.get("FLAVOUR"), sys.argv[1:], file=told)
print((folder / "says").read_text())
"""


class ExecCredentials:
    """A credential plugin in a folder."""

    def __init__(self, folder):
        self._folder = folder
        program = folder / "plugin"
        program.write_text(PLUGIN)
        program.chmod(0o755)

    def say(self, version="v1", **status):
        credential = {"apiVersion": f"client.authentication.k8s.io/{version}", "kind": "ExecCredential", "status": status}
        (self._folder / "says").write_text(json.dumps(credential))

    def say_text(self, text):
        (self._folder / "says").write_text(text)

    @property
    def told(self):
        return (self._folder / "told").read_text().splitlines()


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    monkeypatch.setattr(exec_credentials, "MIN_INTERVAL", 0.0)
    return ExecCredentials(tmp_path)


def exec_user(version="v1", **more):
    return {"exec": {"apiVersion": f"client.authentication.k8s.io/{version}", "command": "./plugin", **more}}


@runs
async def test_a_plugin_gives_certificates_and_tokens(fragile, write, plugin):
    """It runs again when the server refuses its credentials, and not before."""
    first, second = fragile.authority.issue("first"), fragile.authority.issue("expired", days=-1)
    plugin.say(clientCertificateData=first.certificate, clientKeyData=first.key)
    async with Client(kubeconfig.load(write(exec_user(interactiveMode="IfAvailable")))) as client:
        assert [await ask(client) for _ in range(3)] == ["first"] * 3
        assert len(plugin.told) == 1
    plugin.say(clientCertificateData=second.certificate, clientKeyData=second.key)
    async with Client(kubeconfig.load(write(exec_user()))) as client:
        with pytest.raises(ApiError, match="Unauthorized"):
            await ask(client)
        plugin.say(token=fragile.token)
        assert await ask(client) == "tests"
    assert len(plugin.told) == 4


@runs
async def test_a_plugin_is_told_what_it_asks(fragile, write, plugin):
    plugin.say("v1beta1", token=fragile.token)
    more = {"args": ["get-token", "--cluster=demo"], "env": [{"name": "FLAVOUR", "value": "vanilla"}], "provideClusterInfo": True}
    extension = {"name": "client.authentication.k8s.io/exec", "extension": {"audience": "demo"}}
    authority = encoded(fragile.certificate.read_bytes())
    cluster = {"certificate-authority": str(fragile.certificate), "extensions": [extension]}
    assert await name_of(kubeconfig.load(write(exec_user("v1beta1", **more), cluster))) == "tests"
    (line,) = plugin.told
    told, rest = json.JSONDecoder().raw_decode(line)
    assert line[rest:] == " vanilla ['get-token', '--cluster=demo']"
    server = {"server": f"https://127.0.0.1:{fragile.port}", "certificate-authority-data": authority, "config": {"audience": "demo"}}
    assert told == {
        "apiVersion": "client.authentication.k8s.io/v1beta1",
        "kind": "ExecCredential",
        "spec": {"interactive": False, "cluster": server},
    }


@runs
async def test_expired_credentials_of_a_plugin_are_not_used(fragile, write, plugin):
    """The next request runs the plugin again, without a refusal of the server."""
    soon = (datetime.now(UTC) + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    plugin.say(token=fragile.token, expirationTimestamp=soon)
    async with Client(kubeconfig.load(write(exec_user()))) as client:
        assert await ask(client) == "tests"
        time.sleep(1.1)  # noqa: ASYNC251 - nothing else runs
        plugin.say(token=fragile.account("kubeconfig-plugin", "later"), expirationTimestamp="2999-01-01T00:00:00Z")
        assert await ask(client) == "system:serviceaccount:kubeconfig-plugin:later"
        assert await ask(client) == "system:serviceaccount:kubeconfig-plugin:later"
    assert len(plugin.told) == 2


@runs
async def test_a_server_that_refuses_everything_does_not_start_a_plugin_for_each_request(write, plugin, monkeypatch):
    monkeypatch.setattr(exec_credentials, "MIN_INTERVAL", 60.0)
    plugin.say(token="wrong")  # noqa: S106
    async with Client(kubeconfig.load(write(exec_user()))) as client:
        for _ in range(3):
            with pytest.raises(ApiError, match="Unauthorized"):
                await ask(client)
    assert len(plugin.told) == 1


V1 = '{"apiVersion": "client.authentication.k8s.io/v1"'
WRONG_PLUGINS = [
    ("another version", V1.replace("/v1", "/v1beta1") + ', "status": {"token": "x"}}', {}, "printed .*v1beta1 instead of .*v1;"),
    ("no credentials", V1 + ', "status": {}}', {}, "neither a token nor a certificate"),
    ("no status", V1 + "}", {}, "did not print an ExecCredential"),
    ("no JSON", "please log in", {}, "did not print an ExecCredential"),
    ("an expiry that is no time", V1 + ', "status": {"token": "x", "expirationTimestamp": "soon"}}', {}, "did not print an ExecCredential"),
    ("a failure", None, {}, "failed with exit code 1; run it by hand"),
    ("no such program", "", {"command": "no-such-plugin", "installHint": "install it from example.com"}, "install it from example.com"),
    ("a plugin that needs a person", "", {"interactiveMode": "Always"}, "needs a terminal"),
]


@cases(("reason", "says", "more", "said"), WRONG_PLUGINS)
@runs
async def test_a_wrong_plugin(reason, says, more, said, write, plugin):
    if says is not None:
        plugin.say_text(says)
    with pytest.raises(ClusterError, match=said):
        await kubeconfig.load(write(exec_user(**more))).access()


@runs
async def test_a_plugin_that_hangs(write, plugin, tmp_path, monkeypatch):
    monkeypatch.setattr(exec_credentials, "TIMEOUT", 0.2)
    with pytest.raises(ClusterError, match="did not end within"):
        await kubeconfig.load(write(exec_user(command="sleep", args=["1000"]))).access()


@pytest.fixture
def pod(tmp_path, fragile):
    """The folder of a pod's service account, and the pod's environment."""
    folder = tmp_path / "serviceaccount"
    folder.mkdir()
    (folder / "ca.crt").write_bytes(fragile.certificate.read_bytes())
    (folder / "namespace").write_text("team-a")
    (folder / "token").write_text(fragile.account("incluster", "first"))
    return folder, {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(fragile.port)}


@runs
async def test_a_pod_uses_the_token_that_kubelet_renews(fragile, pod):
    """Kubelet exchanges the folder behind a symbolic link."""
    folder, environment = pod
    link = folder.with_name("link")
    link.symlink_to(folder)
    cluster = kubeconfig.in_cluster(link, environment)
    assert (cluster.namespace, cluster.in_cluster) == ("team-a", True)
    async with Client(cluster) as client:
        assert await ask(client) == "system:serviceaccount:incluster:first"
        renewed = folder.with_name("renewed")
        folder.rename(renewed)
        (renewed / "token").unlink()
        (renewed / "token").write_text(fragile.account("incluster", "second"))
        link.unlink()
        link.symlink_to(renewed)
        assert await ask(client) == "system:serviceaccount:incluster:second"


def test_find_prefers_arguments_then_kubeconfig_then_the_pod(pod, write, monkeypatch):
    folder, environment = pod
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setattr(kubeconfig.in_cluster, "__defaults__", (folder, os.environ))
    assert kubeconfig.find().in_cluster
    file = write({})
    assert not kubeconfig.find(file).in_cluster
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert not kubeconfig.find().in_cluster
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", "/nonexistent")
    with pytest.raises(ClusterError, match=r"~/\.kube/config does not exist"):
        kubeconfig.find(context="here")


POD_ERRORS = [
    ("no pod", {}, "outside a pod pass --kubeconfig"),
    ("no token", {"KUBERNETES_SERVICE_HOST": "::1", "KUBERNETES_SERVICE_PORT": "443"}, "mount a service account token"),
]


@cases(("reason", "environment", "said"), POD_ERRORS)
def test_a_pod_without_service_account(reason, environment, said):
    with pytest.raises(ClusterError, match=said):
        kubeconfig.in_cluster(Path("/nonexistent"), environment)


def test_an_address_of_ipv6_has_brackets(pod):
    folder, _ = pod
    environment = {"KUBERNETES_SERVICE_HOST": "fd00::1", "KUBERNETES_SERVICE_PORT": "443"}
    assert kubeconfig.in_cluster(folder, environment).server == "https://[fd00::1]:443"
