#!/usr/bin/env bash
# Renders a folder with a kustomization.yaml into TARGET/manifests.yaml. If anything is wrong, an older file there stays as it is.
#   render.sh SOURCE TARGET
set -euo pipefail
source=$1 target=$2

mkdir -p "$target"
manifests=$(mktemp "$target/.manifests.XXXXXX")
trap 'rm -f "$manifests"' EXIT
kustomize build --enable-alpha-plugins --enable-exec "$source" >"$manifests"
krm-fn check "$manifests"
if grep -qE '^kind: DynamoGraphDeployment(Request)?$' "$manifests" && ! grep -q 'dynamo.krm-fn.io/rendered-by:' "$manifests"; then
    echo "$source: krm-fn did not run; list it under transformers and build with --enable-exec" >&2
    exit 1
fi
# With postBuild, Flux replaces ${VARIABLE}, or refuses all objects if it does not know the variable. Older releases replace it by nothing.
if grep -n '\${' "$manifests" >&2; then
    echo "$source: a \${VARIABLE} must not reach Flux; write \$(VARIABLE) or \$VARIABLE" >&2
    exit 1
fi
chmod 644 "$manifests"
mv "$manifests" "$target/manifests.yaml"
