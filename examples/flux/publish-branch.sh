#!/usr/bin/env bash
# Renders a folder and commits the result to a branch, below the name of the folder. Makes no commit if nothing has changed.
#   publish-branch.sh SOURCE BRANCH
set -euo pipefail
source=$(realpath "$1") branch=$2
here=$(realpath "$(dirname "$0")")
tree=$(mktemp -d)
trap 'rm -rf "$tree"' EXIT

"$here/render.sh" "$source" "$tree/rendered"
commit=$(git -C "$source" rev-parse HEAD)
remote=$(git -C "$source" config --get remote.origin.url)
git clone --quiet --branch "$branch" --depth 1 "$remote" "$tree/clone" 2>/dev/null ||
    { git init --quiet "$tree/clone" && git -C "$tree/clone" checkout --quiet --orphan "$branch"; }

folder=$tree/clone/$(basename "$source")
rm -rf "$folder"
mv "$tree/rendered" "$folder"
git -C "$tree/clone" add --all
git -C "$tree/clone" diff --cached --quiet && exit 0
git -C "$tree/clone" -c user.name=render -c user.email=render@localhost commit --quiet --message "Render $(basename "$source") at $commit"
git -C "$tree/clone" push --quiet "$remote" "$branch"
