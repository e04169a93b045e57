#!/usr/bin/env bash
# Renders a folder and commits the result to a branch of origin, at the path of the folder: clusters/eu becomes clusters/eu/manifests.yaml.
# Makes no commit if nothing has changed. Fails if the branch has other objects there, or a source above, because Flux would apply both.
#   publish-branch.sh SOURCE BRANCH
set -euo pipefail
case $1 in /*) source=$1 ;; *) source=$PWD/$1 ;; esac
branch=$2
here=$(realpath -- "$(dirname -- "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    printf 'nothing is published: %s\n' "$1" >&2
    exit 1
}

path=$("$here/source-path.sh" "$source")
folder=${path:+$path/}
git check-ref-format --branch "$branch" >/dev/null || fail "$branch is not a name of a branch"
"$here/render.sh" "$source" "$work/rendered"
cd "$source"
cd "$(git rev-parse --show-toplevel)"

# The commit is made without a working tree: no file of the branch is checked out, and no link in it is followed.
export GIT_INDEX_FILE=$work/index
parent='' status=0
git ls-remote --exit-code origin "refs/heads/$branch" >/dev/null || status=$?
if [ "$status" = 0 ]; then
    git fetch --quiet --no-tags origin "refs/heads/$branch"
    parent=$(git rev-parse FETCH_HEAD)
    git read-tree "$parent"
elif [ "$status" != 2 ]; then # 2: origin has no such branch
    exit "$status"
fi

while IFS= read -r -d '' file; do
    case $file in
    "${folder}manifests.yaml") continue ;;
    "$folder"*.yaml | "$folder"*.yml | "$folder"*Kustomization)
        fail "the branch $branch has $file, which is not from ${path:-the root}; publish only one of the two, or remove the file" ;;
    manifests.yaml | */manifests.yaml)
        source_of_file=${file%manifests.yaml}
        [[ "$folder" != "$source_of_file"* ]] || fail "the branch $branch has $file, whose folder is above $path; publish only one of the two"
        [ -d "./$source_of_file" ] || echo "the branch $branch has $file, but the repository has no such source; remove the file" >&2 ;;
    esac
done < <(git ls-files -z)

blob=$(git hash-object -w --no-filters -- "$work/rendered/manifests.yaml")
git update-index --add --cacheinfo "100644,$blob,${folder}manifests.yaml"
tree=$(git write-tree)
[ -z "$parent" ] || [ "$tree" != "$(git rev-parse "$parent^{tree}")" ] || exit 0
message="Render ${path:-the root} at $(git rev-parse HEAD)"
commit=$(git -c user.name=render -c user.email=render@localhost commit-tree ${parent:+-p "$parent"} -m "$message" "$tree")
git push --quiet origin "$commit:refs/heads/$branch"
