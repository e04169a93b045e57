#!/usr/bin/env bash
# Renders a folder with a kustomization.yaml into one file, and refuses what must not be published.
#   render.sh SOURCE TARGET
set -euo pipefail
source=$1 target=$2

mkdir -p "$target"
manifests=$target/manifests.yaml
kustomize build --enable-alpha-plugins --enable-exec "$source" >"$manifests"
krm-fn check "$manifests"
if grep -q '^kind: DynamoGraphDeployment$' "$manifests" && ! grep -q 'dynamo.krm-fn.io/rendered-by:' "$manifests"; then
    echo "$source: krm-fn did not run; is it among the transformers?" >&2
    exit 1
fi
# With postBuild, Flux would replace this, or refuse all of it where the variable is unknown; older releases put nothing there.
if grep -n '\${' "$manifests" >&2; then
    echo "$source: a \${VARIABLE} must not reach Flux; write \$(VARIABLE) or \$VARIABLE" >&2
    exit 1
fi
