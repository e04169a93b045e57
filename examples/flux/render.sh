#!/usr/bin/env bash
# Renders a folder with a kustomization.yaml into TARGET/manifests.yaml. If anything is wrong, an older file there stays as it is.
#   render.sh SOURCE TARGET
set -euo pipefail
case $1 in /*) source=$1 ;; *) source=$PWD/$1 ;; esac
case $2 in /*) target=$2 ;; *) target=$PWD/$2 ;; esac

mkdir -p "$target"
manifests=$(mktemp "$target/.manifests.XXXXXX")
built=$(mktemp "$target/.built.XXXXXX")
trap 'rm -f "$manifests" "$built"' EXIT
kustomize build --enable-alpha-plugins --enable-exec "$source" >"$built"
krm-fn check "$built"
# With postBuild, Flux replaces ${VARIABLE} in all objects that have not disabled this, or refuses all objects if it does not know the variable.
# Objects with no variable but those that LeaderWorkerSet and Grove set in pods get the annotation, for example for the container that waits for
# a leader. kustomize writes each field on its own line, with two spaces for each level. Problems show no text of an object: it may be secret.
awk '
    function finish(object) {
        object = kind " " name ": "
        if (kind ~ /^DynamoGraphDeployment(Request)?$/ && !rendered)
            problem(object "krm-fn did not run; list it under transformers and build with --enable-exec")
        if (of_pods && !annotations && !variable) variable = of_pods
        if (variable && !disabled)
            problem(object "a ${VARIABLE} in line " variable " must not reach Flux; write $(VARIABLE) or $VARIABLE, " \
                "or annotate the graph with " key ": disabled")
        for (i = 1; i <= count; i++) {
            print lines[i]
            if (i == annotations && of_pods && !disabled) print "    " key ": disabled"
        }
        count = annotations = rendered = disabled = variable = of_pods = 0
        kind = name = top = field = ""
    }
    function problem(text) { print text >"/dev/stderr"; failed = 1 }
    BEGIN { key = "kustomize.toolkit.fluxcd.io/substitute" }
    $0 == "---" { finish() }
    { lines[++count] = $0 }
    /^[^ ]/ { top = $1 }
    /^kind: / { kind = $2 }
    top == "metadata:" && /^  [^ ]/ { field = $1 }
    top == "metadata:" && /^  name: / { name = $2 }
    top == "metadata:" && $0 == "  annotations:" { annotations = count }
    top == "metadata:" && field == "annotations:" && /^    dynamo.krm-fn.io\/rendered-by: / { rendered = 1 }
    top == "metadata:" && field ~ /^(annotations|labels):$/ && $0 == "    " key ": disabled" { disabled = 1 }
    gsub(/\$\{(LWS|GROVE)_[A-Z_]+\}/, "") && !of_pods { of_pods = NR }
    /\$\{/ && !variable { variable = NR }
    END { finish(); exit failed }
' "$built" >"$manifests"
chmod 644 "$manifests"
mv "$manifests" "$target/manifests.yaml"
