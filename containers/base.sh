#!/usr/bin/env bash
# Make a Debian base image where no registry can be reached: containers/base.sh trixie codethinker-eval-base:trixie
set -euo pipefail
release=$1 name=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase "$release" "$root" >&2
tar -C "$root" -c . | "${DOCKER:-docker}" import - "$name" >&2
echo "$name"
