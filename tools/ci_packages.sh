#!/usr/bin/env bash
# Installs Debian's packages that tests need, such as graphviz, on a machine of a workflow: sudo tools/ci_packages.sh PACKAGE...
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update --quiet
apt-get install --quiet --yes --no-install-recommends "$@"
