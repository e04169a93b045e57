"""Reads kubeconfig files as kubectl does, and the service account of a pod.

See "Organizing Cluster Access Using kubeconfig Files" in the Kubernetes documentation.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from krm_fn.base.yaml import reader
from krm_fn.cluster.access import Cluster, ClusterError, Content, Credentials, StaticCredentials, Trust
from krm_fn.cluster.access.exec_credentials import API_VERSIONS, MODES, ExecCredentials, PluginCommand

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
LISTS = {"clusters": "cluster", "users": "user", "contexts": "context"}
EXTENSION = "client.authentication.k8s.io/exec"
UNSUPPORTED_USER = {
    "auth-provider": "use an exec plugin",
    "as": "write a user with the rights that krm-fn needs",
    "as-groups": "write a user with the rights that krm-fn needs",
}


def find(path: Path | None = None, context: str | None = None) -> Cluster:
    """Finds the cluster of the arguments; without arguments that of KUBECONFIG, then that of the pod, then that of ~/.kube/config.

    Raises ClusterError.
    """
    if path is None and context is None and not os.environ.get("KUBECONFIG") and is_in_cluster():
        return in_cluster()
    return load(path, context)


def is_in_cluster(environment: Mapping[str, str] = os.environ) -> bool:
    """Returns True inside a pod."""
    return bool(environment.get("KUBERNETES_SERVICE_HOST") and environment.get("KUBERNETES_SERVICE_PORT"))


def in_cluster(folder: Path = SERVICE_ACCOUNT, environment: Mapping[str, str] = os.environ) -> Cluster:
    """Reads the cluster of the pod, with its service account (client-go: InClusterConfig). Raises ClusterError if the pod has no token.

    Kubelet replaces the token at 80 % of its life; each request looks for a new one.
    """
    host, port = environment.get("KUBERNETES_SERVICE_HOST", ""), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not (host and port):
        raise ClusterError("the environment has no KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT; outside a pod pass --kubeconfig")
    token = folder / "token"
    if not token.exists():
        raise ClusterError(f"{token} does not exist; mount a service account token into the pod")
    namespace = folder / "namespace"
    return Cluster(
        f"https://{f'[{host}]' if ':' in host else host}:{port}",
        Trust(Content(path=folder / "ca.crt")),
        StaticCredentials(Content(path=token)),
        namespace=namespace.read_text().strip() if namespace.exists() else "default",
        in_cluster=True,
    )


def load(path: Path | None = None, context: str | None = None) -> Cluster:
    """Reads the cluster of a context: of the file `path`, or of the files in KUBECONFIG, or of ~/.kube/config. Raises ClusterError.

    `context` is by default the current context. Of several files, the first that sets a value or a name wins.
    """
    config = _merge_files(_files(path))
    name = context or config["current-context"]
    if not name:
        raise ClusterError(f"the kubeconfig has no current-context; pass --context with one of {_names(config['contexts'])}")
    fields = _entry(config, "contexts", name)[0]
    cluster, folder = _entry(config, "clusters", _text(fields, "cluster"))
    user_name = _text(fields, "user")
    user, user_folder = _entry(config, "users", user_name) if user_name else ({}, folder)
    if cluster.get("proxy-url"):
        raise ClusterError("krm-fn does not know proxy-url; connect without a proxy, for example through `kubectl proxy`")
    server = _text(cluster, "server")
    if not server.startswith(("https://", "http://")):
        raise ClusterError(f"the server {server!r} of the context {name} is not a URL; write https://HOST:PORT")
    trust = Trust(
        _content(cluster, "certificate-authority", folder), not cluster.get("insecure-skip-tls-verify"), _text(cluster, "tls-server-name")
    )
    return Cluster(server, trust, _credentials(user, user_folder, cluster, trust), namespace=_text(fields, "namespace") or "default")


def _files(path: Path | None) -> list[Path]:
    if path is not None:
        return [path]
    paths = [Path(part) for part in os.environ.get("KUBECONFIG", "").split(os.pathsep) if part]
    files = [file for file in paths or [Path.home() / ".kube" / "config"] if file.exists()]
    if not files:
        names = ", ".join(map(str, paths)) or "~/.kube/config"
        raise ClusterError(f"{names} does not exist; pass --kubeconfig FILE, or set KUBECONFIG")
    return files


def _merge_files(files: list[Path]) -> dict[str, Any]:
    """Merges files to the current context, and to each list as a mapping from names to pairs of an entry and the folder of its file."""
    merged: dict[str, Any] = {"current-context": ""} | {list_name: {} for list_name in LISTS}
    for file in files:
        config = _read(file)
        merged["current-context"] = merged["current-context"] or _text(config, "current-context")
        for list_name, inner in LISTS.items():
            for entry in config.get(list_name) or []:
                if not isinstance(entry, dict) or not isinstance(entry.get(inner) or {}, dict):
                    raise ClusterError(f"{file}: {list_name} has an entry without {inner}; correct it")
                merged[list_name].setdefault(_text(entry, "name"), (entry.get(inner) or {}, file.absolute().parent))
    return merged


def _read(file: Path) -> dict[str, Any]:
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise ClusterError(f"{file} cannot be read: {error}; correct the path or the file's permissions") from error
    documents, findings = reader.read(text, str(file))
    if findings:
        raise ClusterError(f"{file}: {findings[0].message}")
    value = documents[0].value if documents else {}
    if not isinstance(value, dict):
        raise ClusterError(f"{file} is not a kubeconfig; pass another file")
    return value


def _entry(config: dict[str, Any], list_name: str, name: str) -> tuple[dict[str, Any], Path]:
    if name not in config[list_name]:
        raise ClusterError(f"the kubeconfig has no {LISTS[list_name]} {name!r}; it has {_names(config[list_name])}")
    entry: tuple[dict[str, Any], Path] = config[list_name][name]
    return entry


def _credentials(user: dict[str, Any], folder: Path, cluster: dict[str, Any], trust: Trust) -> Credentials:
    for field, fix in UNSUPPORTED_USER.items():
        if user.get(field):
            raise ClusterError(f"krm-fn does not know {field} of a user in a kubeconfig; {fix}")
    token_file = _text(user, "tokenFile")
    token = Content(path=folder / token_file) if token_file else Content(_text(user, "token").encode())
    login = f"{_text(user, 'username')}:{_text(user, 'password')}" if user.get("username") else ""
    if isinstance(user.get("exec"), dict) and not token and not login:
        return ExecCredentials(_command(user["exec"], folder, cluster, trust))
    chain, key = _content(user, "client-certificate", folder), _content(user, "client-key", folder)
    if bool(chain) != bool(key):
        raise ClusterError("the user of the kubeconfig has a client certificate or a client key, but not both; add the other one")
    return StaticCredentials(token, login, chain, key)


def _command(exec_: dict[str, Any], folder: Path, cluster: dict[str, Any], trust: Trust) -> PluginCommand:
    version, mode = _text(exec_, "apiVersion"), _text(exec_, "interactiveMode") or "IfAvailable"
    if version not in API_VERSIONS:
        raise ClusterError(f"exec.apiVersion {version!r} is not known; use {' or '.join(API_VERSIONS)}")
    if mode not in MODES:
        raise ClusterError(f"exec.interactiveMode {mode!r} is not known; use {', '.join(MODES)}")
    environment = {_text(entry, "name"): _text(entry, "value") for entry in exec_.get("env") or [] if isinstance(entry, dict)}
    arguments = tuple(str(entry) for entry in exec_.get("args") or [])
    cluster_info = _cluster_info(cluster, trust) if exec_.get("provideClusterInfo") else None
    return PluginCommand(version, _text(exec_, "command"), arguments, environment, mode, _text(exec_, "installHint"), folder, cluster_info)


def _cluster_info(cluster: dict[str, Any], trust: Trust) -> dict[str, Any]:
    """Returns the cluster for a plugin: the kind `Cluster` of its API."""
    extensions = {_text(entry, "name"): entry.get("extension") for entry in cluster.get("extensions") or [] if isinstance(entry, dict)}
    info = {
        "server": cluster["server"],
        "tls-server-name": trust.server_name,
        "insecure-skip-tls-verify": not trust.verify,
        "certificate-authority-data": base64.b64encode(trust.authority.read()).decode(),
        "config": extensions.get(EXTENSION),
    }
    return {field: value for field, value in info.items() if value}


def _content(entry: dict[str, Any], field: str, folder: Path) -> Content:
    """Reads a file that the kubeconfig names, or the data that overrides it."""
    if data := _text(entry, f"{field}-data"):
        try:
            return Content(base64.b64decode("".join(data.split()), validate=True))
        except binascii.Error as error:
            raise ClusterError(f"{field}-data in the kubeconfig is not base64; write it again") from error
    path = _text(entry, field)
    return Content(path=folder / path) if path else Content()


def _text(entry: dict[str, Any], field: str) -> str:
    value = entry.get(field)
    if value is not None and not isinstance(value, str):
        raise ClusterError(f"{field} in the kubeconfig must be text; put it in quotes")
    return value or ""


def _names(entries: dict[str, Any]) -> str:
    return ", ".join(sorted(entries)) or "none"
