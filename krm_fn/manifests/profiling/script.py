"""The scripts of the two containers that frame the profiler, for a POSIX shell with kubectl and the tools of busybox.

`CHECK` runs before the profiler, `COPY` after it. Both read their parameters from variables, so that their text is the same in every Job.
They hold no dollar sign before a brace, because Flux would replace such text.
"""

from __future__ import annotations

from krm_fn.kube import labels

OUTPUT = "config_with_planner.yaml"
MOCKER_OUTPUT = "mocker_config_with_planner.yaml"
LIMIT = 1024 * 1024  # bytes in the values of a ConfigMap
FIELD_MANAGER = "krm-fn-profiling"

NOT_SUSPENDED = 81
NOT_OURS = 82
NOT_REMOVED = 83
MISSING = 84
UNREADABLE = 85
TOO_LARGE = 86
NOT_WRITTEN = 87
NO_PROGRAM = 88
FINAL = (NOT_SUSPENDED, NOT_OURS, NOT_REMOVED, MISSING, UNREADABLE, TOO_LARGE, NOT_WRITTEN, NO_PROGRAM)
"""The exit codes after which another run of the profiler would be in vain, so that the Job fails at once."""


def _jsonpath(kind: str, key: str) -> str:
    r"""The JSONPath of a label or annotation for kubectl.

    >>> print(_jsonpath("labels", "a.b/c"))
    {.metadata.labels.a\.b/c}
    """
    return "{.metadata." + kind + "." + key.replace(".", "\\.") + "}"


_MARKS = f"{_jsonpath('labels', labels.REQUEST_NAME)} {_jsonpath('annotations', labels.PROFILE_HASH)}"

_COMMON = f"""\
set -eu
output="$OUTPUT_FOLDER/{OUTPUT}"
mocker="$OUTPUT_FOLDER/{MOCKER_OUTPUT}"

fail() {{
  code=$1
  shift
  echo "$*" >&2
  exit "$code"
}}

# Runs a command until it succeeds, because the API server can be away for a moment. Gives up after the last pause.
try() {{
  for pause in $RETRY_PAUSES; do
    if "$@"; then
      return 0
    fi
    sleep "$pause"
  done
  "$@"
}}

# Reads which request and which profiling the ConfigMap is the output of. Nothing is found if there is no such ConfigMap.
read_marks() {{
  found=$(try kubectl get configmap "$OUTPUT_CONFIG_MAP" --namespace "$DGDR_NAMESPACE" --ignore-not-found \\
    --output 'jsonpath={_MARKS}') ||
    fail 1 "ConfigMap $OUTPUT_CONFIG_MAP cannot be read."
  case $found in
    "" | "$DGDR_NAME "*) ;;
    *) fail {NOT_OURS} "ConfigMap $OUTPUT_CONFIG_MAP is not the output of request $DGDR_NAME, because it has no label" \\
      "{labels.REQUEST_NAME}: $DGDR_NAME. Delete it or rename the request, then delete Job $JOB_NAME so that it is created again." ;;
  esac
}}
"""

CHECK = f"""\
{_COMMON}
# What the last container needs is checked now, before the profiler uses any GPU.
for program in kubectl sha256sum mktemp grep wc cut; do
  command -v "$program" >/dev/null || fail {NO_PROGRAM} "The image has no $program. Set profiling.copierImage to another image."
done
for verb in create patch; do
  try kubectl auth can-i "$verb" configmaps --namespace "$DGDR_NAMESPACE" --quiet ||
    fail {NOT_WRITTEN} "The service account may not $verb ConfigMaps in namespace $DGDR_NAMESPACE. Bind the profiling role to it."
done

read_marks
if [ "$found" = "$DGDR_NAME $PROFILE_HASH" ]; then
  trap 'exit 143' TERM
  try kubectl patch job "$JOB_NAME" --namespace "$DGDR_NAMESPACE" --type merge --patch '{{"spec":{{"suspend":true}}}}' ||
    fail {NOT_SUSPENDED} "ConfigMap $OUTPUT_CONFIG_MAP already holds the output of this profiling, but Job $JOB_NAME" \\
      "cannot be suspended. Let the service account patch Jobs."
  echo "ConfigMap $OUTPUT_CONFIG_MAP already holds the output of this profiling, so Job $JOB_NAME is suspended and nothing is profiled."
  # A return would start the profiler. The pod waits until the Job's controller deletes it.
  while :; do
    sleep 3600 &
    wait $!
  done
fi
rm -f "$output" "$mocker" || fail {NOT_REMOVED} "The output of an earlier run in $OUTPUT_FOLDER cannot be removed."
echo "The profiler starts. ConfigMap $OUTPUT_CONFIG_MAP does not hold the output of this profiling yet."
"""

COPY = f"""\
{_COMMON}
[ -e "$output" ] || fail {MISSING} "The profiler ended without an error, but it wrote no $output. Its log may say why."
set -- "$output"
if [ -e "$mocker" ]; then
  set -- "$output" "$mocker"
fi

folder=$(mktemp -d /tmp/output.XXXXXX)
trap 'rm -rf "$folder"' EXIT
size=0
for file in "$@"; do
  [ -f "$file" ] && [ -r "$file" ] || fail {UNREADABLE} "The profiler's output $file is no file that can be read."
  size=$((size + $(wc -c <"$file")))
done
[ "$size" -le {LIMIT} ] ||
  fail {TOO_LARGE} "The profiler's output has $size bytes, but a ConfigMap holds at most {LIMIT} bytes. Let the profiler write less."
cat "$@" >"$folder/output"
hash=$(sha256sum <"$folder/output" | cut -d ' ' -f 1)

if [ -e "$mocker" ]; then
  set -- --from-file="$output" --from-file="$mocker"
else
  set -- --from-file="$output"
fi
kubectl create configmap "$OUTPUT_CONFIG_MAP" --namespace "$DGDR_NAMESPACE" "$@" --dry-run=client --output json >"$folder/data.json"
if grep -q '^    "binaryData"' "$folder/data.json"; then
  fail {UNREADABLE} "The profiler's output is not UTF-8 text."
fi

# The ConfigMap is deleted with the request. A request that is not in the cluster has no UID.
owners='[]'
uid=$(try kubectl get dynamographdeploymentrequests.nvidia.com "$DGDR_NAME" --namespace "$DGDR_NAMESPACE" --ignore-not-found \\
  --output 'jsonpath={{.metadata.uid}}') || echo "Request $DGDR_NAME cannot be read. Its deletion will not delete the ConfigMap." >&2
if [ -n "$uid" ]; then
  owners=$(printf '[{{"apiVersion":"%s","kind":"%s","name":"%s","uid":"%s","controller":false}}]' \\
    nvidia.com/v1alpha1 DynamoGraphDeploymentRequest "$DGDR_NAME" "$uid")
fi
marks=$(printf '{{"metadata":{{"labels":{{"%s":"%s","%s":"%s"}},"annotations":{{"%s":"%s","%s":"%s"}},"ownerReferences":%s}}}}' \\
  {labels.REQUEST_NAME} "$DGDR_NAME" {labels.MODEL_MANAGED_BY} {labels.OPERATOR} \\
  {labels.PROFILE_HASH} "$PROFILE_HASH" {labels.OUTPUT_HASH} "$hash" "$owners")
kubectl patch --local --filename "$folder/data.json" --type merge --patch "$marks" --output json >"$folder/configmap.json"

read_marks
if [ -n "$found" ] && [ ! -e "$mocker" ]; then # another writer's file would stay
  try kubectl patch configmap "$OUTPUT_CONFIG_MAP" --namespace "$DGDR_NAMESPACE" --type merge \\
    --patch '{{"data":{{"{MOCKER_OUTPUT}":null}}}}' || fail {NOT_WRITTEN} "ConfigMap $OUTPUT_CONFIG_MAP cannot be changed."
fi
try kubectl apply --server-side --force-conflicts --field-manager {FIELD_MANAGER} --filename "$folder/configmap.json" ||
  fail {NOT_WRITTEN} "ConfigMap $OUTPUT_CONFIG_MAP cannot be written."
echo "ConfigMap $OUTPUT_CONFIG_MAP holds the output of the profiler: $size bytes."
"""
