#!/usr/bin/env bash
# Prints the path of a folder below the root of its repository; nothing for the root. publish-branch.sh and publish-oci.sh publish a source
# under this path, so two sources never have one name. Fails for a path through a link, because the folder behind it has its own path.
#   source-path.sh SOURCE
set -euo pipefail
case $1 in /*) folder=$1 ;; *) folder=$PWD/$1 ;; esac

path=$(git -C "$folder" rev-parse --show-prefix)
path=${path%/}
written=$(realpath --no-symlinks -- "$folder")
if [[ "$1$path" == *[[:cntrl:]]* ]]; then
    printf '%q: the name has a control character; rename the folder\n' "$1" >&2
    exit 1
fi
if [[ "$written" != *"${path:+/$path}" || "$(realpath -- "${written%"${path:+/$path}"}")" != "$(git -C "$folder" rev-parse --show-toplevel)" ]]; then
    printf '%s: the path leads through a link; name the folder by its own path: %s\n' "$1" "${path:-.}" >&2
    exit 1
fi
printf '%s\n' "$path"
