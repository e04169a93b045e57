#!/usr/bin/env bash
# Renders a folder and pushes it as an OCI artifact with the name of the commit.
#   publish-oci.sh SOURCE oci://registry.example.com/team/llm-agg
set -euo pipefail
source=$1 repository=$2
here=$(dirname "$0")
rendered=$(mktemp -d)
trap 'rm -rf "$rendered"' EXIT

"$here/render.sh" "$source" "$rendered"
commit=$(git -C "$source" rev-parse HEAD)
flux push artifact "$repository:${commit::12}" --path="$rendered" \
    --source="$(git -C "$source" config --get remote.origin.url)" --revision="$(git -C "$source" branch --show-current)@sha1:$commit"
flux tag artifact "$repository:${commit::12}" --tag=latest
