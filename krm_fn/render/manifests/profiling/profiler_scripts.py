"""The scripts of the two containers beside the profiler, for a POSIX shell with kubectl and the tools of busybox.

`CHECK` runs before the profiler, `copy` after it. Both get their parameters as environment variables, so their text is the same in every
Job for requests of one version. No dollar sign stands before a brace, because Flux would replace such text.
"""

from __future__ import annotations

from krm_fn.render import labels, names

CODES = {
    "not_suspended": 81,
    "not_ours": 82,
    "not_removed": 83,
    "missing": 84,
    "unreadable": 85,
    "too_large": 86,
    "not_written": 87,
    "no_program": 88,
}
"""The exit codes after which the Job fails at once, because another run of the profiler would not help.

Rule profiling.exit-codes: The scripts of a profiling Job end with exit codes from 81 to 88. (krm-fn)
"""


def _jsonpath(kind: str, key: str) -> str:
    r"""Returns the JSONPath of a label or an annotation.

    >>> print(_jsonpath("labels", "a.b/c"))
    {.metadata.labels.a\.b/c}

    Rule profiling.script-constants: see `krm_fn.render.manifests.profiling.profiler_scripts`.
    """
    return "{.metadata." + kind + "." + key.replace(".", "\\.") + "}"


_CONSTANTS = {
    **CODES,
    "limit": names.CONFIG_MAP_LIMIT,
    "file": names.PROFILED,
    "mocker_file": names.PROFILED_MOCKER,
    "name_label": labels.REQUEST_NAME,
    "manager_label": labels.MODEL_MANAGED_BY,
    "manager": labels.OPERATOR,
    "profile_hash": labels.PROFILE_HASH,
    "output_hash": labels.OUTPUT_HASH,
    "marks": f"'{_jsonpath('labels', labels.REQUEST_NAME)} {_jsonpath('annotations', labels.PROFILE_HASH)}'",
}
"""The constants of both scripts, by their names in a shell.

Rule profiling.script-constants: Both scripts of a profiling Job begin with constants, such as the JSONPath of a label. (krm-fn)
"""

_COMMON = (
    "set -eu\n"
    + "".join(f"{name}={value}\n" for name, value in _CONSTANTS.items())
    + r"""output="$OUTPUT_FOLDER/$file"
mocker="$OUTPUT_FOLDER/$mocker_file"

fail() {
  code=$1
  shift
  echo "$*" >&2
  exit "$code"
}

# Runs a command until it succeeds, because the API server can be away for a moment. Gives up after the last pause.
try() {
  for pause in $RETRY_PAUSES; do
    if "$@"; then
      return 0
    fi
    sleep "$pause"
  done
  "$@"
}

# Reads which request and which profiling the ConfigMap is the output of. Nothing is found if there is no such ConfigMap.
read_marks() {
  found=$(try kubectl get configmap "$OUTPUT_CONFIG_MAP" --namespace "$DGDR_NAMESPACE" --ignore-not-found --output "jsonpath=$marks") ||
    fail 1 "ConfigMap $OUTPUT_CONFIG_MAP cannot be read."
  case $found in
    "" | "$DGDR_NAME "*) ;;
    *) fail $not_ours "ConfigMap $OUTPUT_CONFIG_MAP is not the output of request $DGDR_NAME, because it has no label" \
      "$name_label: $DGDR_NAME. Delete it or rename the request, then delete Job $JOB_NAME so that it is created again." ;;
  esac
}

"""
)
"""The first lines of both scripts.

Rule profiling.script-functions: Both scripts of a profiling Job begin with the same functions. (krm-fn)
"""

CHECK = (
    _COMMON
    + r"""# What the last container needs is checked now, before the profiler uses any GPU.
for program in kubectl sha256sum mktemp grep wc cut; do
  command -v "$program" >/dev/null || fail $no_program "The image has no $program. Set profiling.copierImage to another image."
done
for verb in create patch; do
  try kubectl auth can-i "$verb" configmaps --namespace "$DGDR_NAMESPACE" --quiet ||
    fail $not_written "The service account may not $verb ConfigMaps in namespace $DGDR_NAMESPACE. Bind the profiling role to it."
done

read_marks
if [ "$found" = "$DGDR_NAME $PROFILE_HASH" ]; then
  echo "ConfigMap $OUTPUT_CONFIG_MAP already holds the output of this profiling. Job $JOB_NAME is suspended, and nothing is profiled."
  trap 'exit 143' TERM
  try kubectl patch job "$JOB_NAME" --namespace "$DGDR_NAMESPACE" --type merge --patch '{"spec":{"suspend":true}}' ||
    fail $not_suspended "Job $JOB_NAME cannot be suspended. Let the service account patch Jobs."
  # A return would start the profiler. The pod waits until the Job's controller deletes it.
  while :; do
    sleep 3600 &
    wait $!
  done
fi
rm -f "$output" "$mocker" || fail $not_removed "The output of an earlier run in $OUTPUT_FOLDER cannot be removed."
echo "The profiler starts. ConfigMap $OUTPUT_CONFIG_MAP does not hold the output of this profiling yet."
"""
)
"""The script that runs before the profiler.

Rule profiling.check-script: A script checks before the profiling if its output can be published, and if it already is. (krm-fn)
"""

_COPY = (
    _COMMON
    + r"""[ -e "$output" ] || fail $missing "The profiler ended without an error, but it wrote no $output. Its log may say why."
set -- "$output"
if [ -e "$mocker" ]; then
  set -- "$output" "$mocker"
fi

folder=$(mktemp -d /tmp/output.XXXXXX)
trap 'rm -rf "$folder"' EXIT
size=0
for each in "$@"; do
  [ -f "$each" ] && [ -r "$each" ] || fail $unreadable "The profiler's output $each is no file that can be read."
  size=$((size + $(wc -c <"$each")))
done
[ "$size" -le $limit ] ||
  fail $too_large "The profiler's output has $size bytes, but a ConfigMap holds at most $limit bytes. Let the profiler write less."
cat "$@" >"$folder/output"
hash=$(sha256sum <"$folder/output" | cut -d ' ' -f 1)

if [ -e "$mocker" ]; then
  set -- --from-file="$output" --from-file="$mocker"
else
  set -- --from-file="$output"
fi
kubectl create configmap "$OUTPUT_CONFIG_MAP" --namespace "$DGDR_NAMESPACE" "$@" --dry-run=client --output json >"$folder/data.json"
if grep -q '^    "binaryData"' "$folder/data.json"; then
  fail $unreadable "The profiler's output is not UTF-8 text."
fi

# The ConfigMap is deleted with the request. A request that is not in the cluster has no UID.
owners='[]'
uid=$(try kubectl get dynamographdeploymentrequests.nvidia.com "$DGDR_NAME" --namespace "$DGDR_NAMESPACE" --ignore-not-found \
  --output 'jsonpath={.metadata.uid}') || echo "Request $DGDR_NAME cannot be read. Its deletion will not delete the ConfigMap." >&2
if [ -n "$uid" ]; then
  owners=$(printf '[{"apiVersion":"%s","kind":"%s","name":"%s","uid":"%s","controller":false}]' \
    @api_version@ DynamoGraphDeploymentRequest "$DGDR_NAME" "$uid")
fi
metadata=$(printf '{"labels":{"%s":"%s","%s":"%s"},"annotations":{"%s":"%s","%s":"%s"},"ownerReferences":%s}' \
  $name_label "$DGDR_NAME" $manager_label $manager $profile_hash "$PROFILE_HASH" $output_hash "$hash" "$owners")
kubectl patch --local --filename "$folder/data.json" --type merge --patch "{\"metadata\":$metadata}" --output json >"$folder/configmap.json"

read_marks
if [ -n "$found" ] && [ ! -e "$mocker" ]; then # another writer's file would stay
  try kubectl patch configmap "$OUTPUT_CONFIG_MAP" --namespace "$DGDR_NAMESPACE" --type merge \
    --patch "{\"data\":{\"$mocker_file\":null}}" ||
    fail $not_written "ConfigMap $OUTPUT_CONFIG_MAP cannot be changed."
fi
try kubectl apply --server-side --force-conflicts --field-manager krm-fn-profiling --filename "$folder/configmap.json" ||
  fail $not_written "ConfigMap $OUTPUT_CONFIG_MAP cannot be written."
echo "ConfigMap $OUTPUT_CONFIG_MAP holds the output of the profiler: $size bytes."
"""
)
"""The script that runs after the profiler, with a placeholder for an API version.

Rule profiling.copy-script: see `krm_fn.render.manifests.profiling.profiler_scripts`.
"""


def copy(api_version: str) -> str:
    """Returns the script that runs after the profiler.

    `api_version` is that of the request in the cluster: Kubernetes ignores an owner reference with another API version.

    Rule profiling.copy-script: The script after the profiler publishes the output as a ConfigMap that belongs to the request. (krm-fn)
    """
    return _COPY.replace("@api_version@", api_version)
