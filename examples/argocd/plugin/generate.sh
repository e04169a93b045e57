#!/usr/bin/env bash
# Prints the objects that Argo CD shall apply. If anything is wrong, prints nothing on stdout: with automatic pruning, half an output deletes the rest.
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
built=$work/built.yaml rendered=$work/rendered.yaml settings=$work/settings.json said=$work/said

# The checkout: the folder that holds this one and everything that it may read. Argo CD can leave out the first parts of the path.
top='' path=${ARGOCD_APP_SOURCE_PATH:-}
while [ -n "$path" ] && [ -z "$top" ]; do
    [ "$path" = . ] && top=$PWD
    [[ $PWD == */"$path" ]] && top=${PWD%"/$path"}
    [[ $path == */* ]] && path=${path#*/} || path=''
done

# The parameters of the Application as a configuration: a file of the folder, or a ConfigMap with the settings.
config=$(python3 - "$settings" "${top:-$PWD}" <<'PYTHON'
import json
import os
import sys

# Without parameters, Argo CD sets the variable to null if the Application names the plugin, and does not set it otherwise.
parameters = json.loads(os.environ.get("ARGOCD_APP_PARAMETERS") or "null") or []
given = {parameter["name"]: parameter for parameter in parameters}
if unknown := given.keys() - {"config", "settings"}:
    sys.exit(f"unknown parameters: {', '.join(sorted(unknown))}; known are config and settings")
file, settings = given.get("config", {}).get("string", ""), given.get("settings", {}).get("map") or {}
if file and settings:
    sys.exit("the parameters config and settings exclude each other; write the settings into the file")
if file and not os.path.realpath(file).startswith(f"{os.path.realpath(sys.argv[2])}/"):
    sys.exit("the parameter config names a file outside of the repository")
if not file:
    data = {"namespace": os.environ.get("ARGOCD_APP_NAMESPACE", ""), **settings}
    with open(sys.argv[1], "w") as opened:
        json.dump({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}, "data": data}, opened, indent=1)
    file = sys.argv[1] if settings else ""
print(file)
PYTHON
)

# Without parameters, a DynamoRender among the inputs is the configuration; without that, only the namespace of the Application is set.
# Findings about the settings name the parameter in place of the temporary file.
render() {
    [ -z "$config" ] && ! grep -rqs --include='*.yaml' --include='*.yml' '^kind: *DynamoRender' "$1" && config=$settings
    local code=0
    krm-fn render ${config:+--config "$config"} "$1" >"$rendered" 2>"$said" || code=$?
    sed -E "s#^$settings(:[0-9]+)*#parameter settings#" "$said" >&2
    return "$code"
}

if [ -e kustomization.yaml ] || [ -e kustomization.yml ] || [ -e Kustomization ]; then
    # The only function that runs is krm-fn: whoever can commit here must not run programs in Argo CD. Remote bases are checked, too.
    krm-fn build --fetch ${top:+--top "$top"} . >"$built"
    if grep -q 'dynamo.krm-fn.io/rendered-by:' "$built"; then # the function is among the transformers
        krm-fn check "$built" >&2
        mv "$built" "$rendered"
    else
        render "$built"
    fi
else
    render .
fi

if [ ! -s "$rendered" ]; then
    echo "nothing was rendered; an empty output would delete everything" >&2
    exit 1
fi
cat "$rendered"

