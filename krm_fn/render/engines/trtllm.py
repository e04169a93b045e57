"""TensorRT-LLM: on several nodes, one MPI job over ssh. Follows the operator's `internal/dynamo/backend_trtllm.go`."""

from __future__ import annotations

from shlex import quote

from krm_fn.base import codes, results
from krm_fn.kubernetes import env, values
from krm_fn.render.engines import Engine, ParallelFlags, _command_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from krm_fn.base.results import Result
    from krm_fn.kubernetes.native_types import Container, PodSpec, Probe, Volume, VolumeMount
    from krm_fn.kubernetes.types import WordsField
    from krm_fn.render.engines import NewWorker
    from krm_fn.render.kinds.releases import MPI
    from krm_fn.render.plan import ComponentPlan, RolePlan

_SSH_PORT = 2222
"""The port of sshd.

Rule trtllm.ssh-port: sshd listens on port 2222 in the pods of an MPI job. (operator: internal/dynamo/backend_trtllm.go)
"""
_KEY_DIR = "/ssh-pk"
"""The folder of the ssh keys in the containers.

Rule trtllm.key-folder: The Secret with the ssh keys is mounted at `/ssh-pk`. (operator: internal/dynamo/backend_trtllm.go)
"""
_ROOT_HOME = "/root"
_KEY_TYPES = ("rsa", "ecdsa", "ed25519")
"""The types of the host keys of sshd.

Rule trtllm.host-keys: sshd gets one host key of each type in a fixed list. (operator: internal/dynamo/backend_trtllm.go)
"""
_HANDED_ON = (
    *("CUDA_VISIBLE_DEVICES", "HF_DATASETS_CACHE", "HF_ENDPOINT", "HF_HOME", "HF_TOKEN", "HOME", "HUGGING_FACE_HUB_TOKEN"),
    *("LD_LIBRARY_PATH", "MODEL_PATH", "NCCL_DEBUG", "NCCL_IB_DISABLE", "NCCL_P2P_DISABLE", "PATH", "PYTHONPATH"),
    *("TENSORRT_LLM_CACHE_DIR", "TOKENIZERS_PARALLELISM", "TRANSFORMERS_CACHE", "TRTLLM_USE_UCX_KVCACHE", "USER"),
)
"""The variables that all nodes get from the leader.

Rule trtllm.variables: An MPI job passes a fixed list of variables, and those of the container, to all nodes. (operator:
internal/dynamo/backend_trtllm.go)
"""
_SSHD_READY: Probe = {
    "tcpSocket": {"port": _SSH_PORT},
    "initialDelaySeconds": 20,
    "periodSeconds": 20,
    "timeoutSeconds": 5,
    "failureThreshold": 10,
}
"""The readiness probe of a follower.

Rule trtllm.sshd-ready: A follower of an MPI job is ready when its sshd answers. (operator: internal/dynamo/backend_trtllm.go)
"""


class TensorRTLLM(Engine):
    """TensorRT-LLM workers on several nodes: followers run sshd, and the leader starts the engine on all nodes."""

    name = "trtllm"
    leader_starts_last = True
    counts_gpus = True
    own_images = ("tensorrt-llm", "tritonserver")
    own_servers = ("trtllm-serve",)
    runtime_image = "tensorrtllm-runtime"
    prefill_names = (("prefill", (0, 0, 0)), ("TRTLLMPrefillWorker", (0, 0, 0)))
    default_model = "TinyLlama/TinyLlama-1.1B-Chat-v1.0"  # dynamo/trtllm/backend_args.py, before 1.0 utils/trtllm_utils.py
    reads_mode_variable_since = (1, 0, 0)
    decodes_without_mode = False  # dynamo/trtllm/workers
    other_names = ("tensorrtllm", "tensorrt-llm", "tensorrt", "trt-llm", "trt")
    parallel_flags = ParallelFlags(
        (("--tensor-parallel-size",), ("--pipeline-parallel-size",)),
        silent=("--extra-engine-args", "--gpus-per-node", "--modality"),
        document="--override-engine-args",
    )
    """The sizes of TensorRT-LLM's `LlmArgs`. `dynamo/trtllm` merges the document over the flags."""

    def container(self, container: Container, role: RolePlan) -> Container:
        """Returns the main container of a leader or a follower.

        Rule trtllm.container: On several nodes, the leader of TensorRT-LLM starts an MPI job and each follower runs sshd. (operator:
        internal/dynamo/backend_trtllm.go)
        """
        plan = role.component
        if plan.placement.nodes == 1:
            return container
        ready = _with_keys(container, plan)
        if role.role == "leader":
            return _command_lines.shell(ready, _leader(ready, role))
        return _with_sshd_probe(_command_lines.shell(ready, _follower(plan.release.engines.mpi)))

    def launched_container(self, container: Container, role: RolePlan) -> Container:
        """Returns the main container of a role with a pod template of its own.

        Rule roles.trtllm: A role with a pod template of its own mounts the ssh keys, and its followers have the probe of sshd. (operator:
        internal/dynamo/backend_trtllm.go)
        """
        ready = _with_keys(container, role.component)
        return ready if role.role == "leader" else _with_sshd_probe(ready)

    def pod(self, pod: PodSpec, role: RolePlan) -> PodSpec:
        """Adds the volume with the ssh keys to a pod.

        Rule trtllm.pod: The pods of an MPI job mount the ssh keys from a Secret that the platform provides. (operator:
        internal/dynamo/backend_trtllm.go)
        """
        if role.component.placement.nodes == 1:
            return pod
        secret = role.component.config.mpi_secret_name
        keys: Volume = {"name": secret, "secret": {"secretName": secret, "defaultMode": 0o644}}
        return {**pod, "volumes": [*(pod.get("volumes") or ()), keys]}

    def _transfer(self, worker: NewWorker) -> list[str]:
        """Returns the mode of a worker, and the settings of its engine for the transfer of the key-value cache.

        Both workers need a transceiver of caches, and a prefill worker cannot overlap its scheduler (TensorRT-LLM's page about
        disaggregated serving; `test_trtllm_override_merge.py` of Dynamo 1.6.1 has both settings in a prefill worker). Dynamo passes
        flags that begin with `--trtllm.` to the engine (`dynamo/trtllm/dynamic_flags.py` since 1.0.0).
        """
        alone = ["--trtllm.disable_overlap_scheduler", "true"] if worker.mode == "prefill" else []
        return [*super()._transfer(worker), "--trtllm.cache_transceiver_config.backend", "DEFAULT", *alone]

    def check(self, container: Container, role: RolePlan) -> Iterator[Result]:
        """Checks the leader's plain command, which a shell reads on every node, and the folder of the ssh keys for root."""
        if role.component.placement.nodes > 1 and role.role == "leader":
            yield from _command_lines.check_words(container, role, _words_in_line(container))
            if role.component.release.engines.mpi.home == "~":
                yield from _check_home(container, role)


def _with_keys(container: Container, plan: ComponentPlan) -> Container:
    """Adds the mount of the ssh keys to a container.

    Rule trtllm.main: The main container of an MPI job mounts the ssh keys, and MPI keeps the whole names of hosts. (operator:
    internal/dynamo/backend_trtllm.go)
    """
    keys: VolumeMount = {"name": plan.config.mpi_secret_name, "mountPath": _KEY_DIR, "readOnly": True}
    return {
        **container,
        "env": [*container["env"], env.value("OMPI_MCA_orte_keep_fqdn_hostnames", "1")],
        "volumeMounts": [*(container.get("volumeMounts") or ()), keys],
    }


def _with_sshd_probe(container: Container) -> Container:
    """Replaces the probes of a follower.

    Rule trtllm.follower-probes: A follower of an MPI job has no other probe than that of sshd. (operator:
    internal/dynamo/backend_trtllm.go)
    """
    return {**_command_lines.without_probes(container), "readinessProbe": _SSHD_READY}


def _check_home(container: Container, role: RolePlan) -> Iterator[Result]:
    """Checks HOME for root: the shell writes the keys to `~`, which is HOME, but ssh and sshd read `~` from /etc/passwd, which is /root."""
    plan = role.component
    of_pod, of_main = plan.pod.spec.get("securityContext") or {}, container.get("securityContext") or {}
    field = "pod" if of_main.get("runAsUser") is None else "main"
    user = (of_pod if field == "pod" else of_main).get("runAsUser")
    home = next((entry for entry in container.get("env") or () if entry.get("name") == "HOME"), None)
    if user == 0 and (home is None or home.get("value", _ROOT_HOME) != _ROOT_HOME):
        message = (
            "sshd of user 0 reads its keys from /root/.ssh, but the keys are written to the .ssh folder in HOME, which the image sets to "
            f"another folder; remove runAsUser, or set the environment variable HOME to {_ROOT_HOME}"
        )
        yield results.warning(codes.SSH_KEYS_NOT_FOUND, message, plan.ref, plan.at(field, "securityContext", "runAsUser"))


def _leader(container: Container, role: RolePlan) -> str:
    """Returns the shell line of the leader.

    Rule trtllm.leader: The leader of an MPI job copies the ssh keys, waits for the followers if it must, and starts the job. (operator:
    internal/dynamo/backend_trtllm.go)
    """
    job = role.component.release.engines.mpi
    wait = [_dns_wait(role.addressing.workers)] if role.addressing.waits_for_dns else []
    return " && ".join([f"mkdir -p {job.home}/.ssh", *_keys(job), *wait, _mpirun(container, role, job)])


def _follower(job: MPI) -> str:
    """Returns the shell line of a follower.

    Rule trtllm.follower: A follower of an MPI job copies the ssh keys, writes its host keys and runs sshd. (operator:
    internal/dynamo/backend_trtllm.go)
    """
    folder, quoted = f"{job.home}/.ssh", f"{job.quoted_home}/.ssh"
    makes = [f"ssh-keygen -t {kind} -f {folder}/host_keys/ssh_host_{kind}_key -N ''" for kind in _KEY_TYPES]
    config = (
        f"Port {_SSH_PORT}",
        *(f"HostKey {quoted}/host_keys/ssh_host_{kind}_key" for kind in _KEY_TYPES),
        f"PidFile {quoted}/run/sshd.pid",
        *job.sshd,
        *("PermitRootLogin yes", "PasswordAuthentication no", "PubkeyAuthentication yes"),
        f"AuthorizedKeysFile {quoted}/authorized_keys",
    )
    write = _printf(config, f"{folder}/sshd_config")
    make_folders = f"mkdir -p {folder} {folder}/host_keys {folder}/run"
    return " && ".join([make_folders, *_keys(job), *makes, write, f"/usr/sbin/sshd -D -f {folder}/sshd_config"])


def _keys(job: MPI) -> tuple[str, ...]:
    """Returns the commands that copy the ssh keys.

    Rule trtllm.keys: A shell line copies the ssh keys and writes the configuration of ssh clients. (operator:
    internal/dynamo/backend_trtllm.go)
    """
    folder = f"{job.home}/.ssh"
    client = ("Host *", f"IdentityFile {job.quoted_home}/.ssh/id_rsa", "StrictHostKeyChecking no", f"Port {_SSH_PORT}")
    return (
        f"ls -la {_KEY_DIR}/",
        f"cp {_KEY_DIR}/private.key {folder}/id_rsa",
        f"cp {_KEY_DIR}/private.key.pub {folder}/id_rsa.pub",
        f"cp {_KEY_DIR}/private.key.pub {folder}/authorized_keys",
        f"chmod 600 {folder}/id_rsa {folder}/authorized_keys",
        f"chmod 644 {' '.join(f'{folder}/{name}' for name in job.readable)}",
        _printf(client, f"{folder}/config"),
    )


def _printf(lines: Iterable[str], file: str) -> str:
    """Returns the command that writes a configuration file.

    The lines stand in single quotes.

    Rule trtllm.config-files: A shell line writes the lines of a configuration with `printf`. (operator: internal/dynamo/backend_trtllm.go)
    """
    text = "".join(rf"{line}\n" for line in lines)
    return f"printf '{text}' > {file}"


def _mpirun(container: Container, role: RolePlan, job: MPI) -> str:
    """Returns the command that starts the MPI job.

    Rule trtllm.mpirun: An MPI job starts one process for each GPU of each node. (operator: internal/dynamo/backend_trtllm.go)
    """
    plan, addressing = role.component, role.addressing
    names = sorted({*_HANDED_ON, *job.exports, *(variable.get("name", "") for variable in container["env"])})
    hosts = ",".join([addressing.leader, *addressing.workers])
    launch = f"trtllm-llmapi-launch {_original(container, quoted=plan.release.engines.quotes_words)}"
    return " ".join(
        [
            f"mpirun {job.root} --oversubscribe -n {plan.placement.nodes * _gpus(plan)} -H {hosts}",
            "--mca pml ob1",
            f'--mca plm_rsh_args "-p {_SSH_PORT} -o StrictHostKeyChecking=no -i {job.home}/.ssh/id_rsa"',
            *(f"-x {name}" for name in names),
            f"bash -c {quote(launch)}",
        ]
    )


def _gpus(plan: ComponentPlan) -> int:
    """Returns the number of GPUs of a node; 0 if it is unknown.

    Rule trtllm.gpus: The number of GPUs of a node is the request if it is a whole number, and otherwise the limit. (operator:
    internal/dynamo/backend_trtllm.go getGPUsPerNode)
    """
    numbers = (values.int64(text) for text in (plan.pod.gpus.request, plan.pod.gpus.limit))
    return next((number for number in numbers if number is not None), 0)


def _original(container: Container, *, quoted: bool) -> str:
    """Returns the user's command as a line for `bash -c`. With arguments, a command other than Python is dropped, as in the operator."""
    if fields := _words_in_line(container):
        return _command_lines.shell_line((word for field in fields for word in container.get(field) or ()), quoted=quoted)
    return " ".join(container.get("args") or ())


def _words_in_line(container: Container) -> tuple[WordsField, ...]:
    """Returns the fields of the user's command whose words become a line; empty if the arguments already are a shell line."""
    if _command_lines.is_python(container) or not container.get("args"):
        return _command_lines.FIELDS
    return () if _command_lines.is_shell(container) else ("args",)


def _dns_wait(workers: Iterable[str]) -> str:
    """Returns the command that waits for the names of the followers.

    Rule trtllm.dns: With LeaderWorkerSets, the leader waits at most five minutes until the names of all followers resolve. (operator:
    internal/dynamo/backend_trtllm.go)
    """
    return (
        f"TIMEOUT=300; START_TIME=$(date +%s); for worker in {' '.join(workers)}; do "
        'echo "Waiting for DNS: $worker"; until getent hosts $worker >/dev/null 2>&1; do CURRENT_TIME=$(date +%s); '
        'if [ $((CURRENT_TIME - START_TIME)) -gt $TIMEOUT ]; then echo "ERROR: Timeout waiting for DNS: $worker"; exit 1; fi; '
        'echo "DNS not ready for $worker, retrying..."; sleep 2; done; echo "✓ DNS resolved: $worker"; done; '
        'echo "All workers DNS ready"'
    )


ENGINE = TensorRTLLM()
