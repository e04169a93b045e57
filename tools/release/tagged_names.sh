#!/usr/bin/env bash
# Prints the version and the names of what a release publishes as KEY=VALUE lines, for a later job of the workflow.
# Fails if the tag is not `v` and the version of the clone, or if the changelog has no dated section for it: tools/release/tagged_names.sh v0.2.0
set -euo pipefail
cd "$(dirname "$0")/../.."
version=$(sed -n 's/^__version__ = "\(.*\)"/\1/p' krm_fn/__init__.py)
if [ "$1" != "v$version" ]; then
    echo "the tag is $1, and krm_fn/__init__.py has the version $version" >&2
    exit 1
fi
if ! grep -qE "^## \[$version\] - [0-9]{4}-[0-9]{2}-[0-9]{2}$" CHANGELOG.md; then
    echo "CHANGELOG.md has no section of $version with a date" >&2
    exit 1
fi
echo "version=$version"
for key in image manifests chart; do
    echo "$key=$(make --silent name KEY=$key)"
done
