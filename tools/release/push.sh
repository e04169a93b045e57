#!/usr/bin/env bash
# Joins the images of both architectures to one, and pushes the manifests and the chart of a release: tools/release/push.sh FOLDER
# Reads VERSION, IMAGE, MANIFESTS and CHART, which are names without a tag. PLAIN_HTTP=1 is for a registry without TLS.
# Prints the digest of each as KEY=DIGEST lines.
set -euo pipefail
folder=$1
programs=$("$(dirname "$0")/../../.venv/bin/python" "$(dirname "$0")/../install.py" --where 2>/dev/null || true)
crane=$(sed -n 's/^crane=//p' <<<"$programs")
helm=$(sed -n 's/^helm=//p' <<<"$programs")
for variant in function: sync:-sync kustomize:-kustomize; do
    name=$IMAGE:$VERSION${variant#*:}
    "$crane" index append --docker-empty-base=false --manifest "$name-amd64" --manifest "$name-arm64" --tag "$name" >&2
    echo "${variant%%:*}=$("$crane" digest "$name")"
done
layout=$(mktemp -d)
trap 'rm -rf "$layout"' EXIT
tar --extract --file "$folder/krm-fn-manifests-$VERSION.oci.tar" --directory "$layout"
"$crane" push "$layout" "$MANIFESTS:$VERSION" >&2
echo "manifests=$("$crane" digest "$MANIFESTS:$VERSION")"
"$helm" push "$folder/${CHART##*/}-$VERSION.tgz" "oci://${CHART%/*}" ${PLAIN_HTTP:+--plain-http} >&2
echo "chart=$("$crane" digest "$CHART:$VERSION")"
