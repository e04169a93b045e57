#!/usr/bin/env bash
# Renders a folder and pushes it as an OCI artifact with the name of the commit. The name of the repository must end with the path of the
# folder: of two sources with one repository, each would replace the objects of the other.
#   publish-oci.sh SOURCE oci://registry.example.com/team/SOURCE
set -euo pipefail
case $1 in /*) source=$1 ;; *) source=$PWD/$1 ;; esac
repository=$2
here=$(realpath -- "$(dirname -- "$0")")
rendered=$(mktemp -d)
trap 'rm -rf "$rendered"' EXIT

path=$("$here/source-path.sh" "$source")
if [[ "$repository" != oci://*"${path:+/$path}" ]]; then
    printf 'nothing is published: %s does not end with /%s, the path of the source\n' "$repository" "$path" >&2
    exit 1
fi
"$here/render.sh" "$source" "$rendered"
cd "$source"
commit=$(git rev-parse HEAD)
flux push artifact "$repository:${commit::12}" --path="$rendered" \
    --source="$(git config --get remote.origin.url)" --revision="$(git branch --show-current)@sha1:$commit"
flux tag artifact "$repository:${commit::12}" --tag=latest
