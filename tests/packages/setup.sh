#!/usr/bin/env bash
# Installs uv, twine and shellcheck into a Python environment, which is the first argument, and anything that packaging/pack and
# install.sh need and that is missing.
# Prints nothing, and returns at once if everything is installed.
set -euo pipefail
dir=$1
checks=$(dirname "$0")/../../packaging/checks.txt
! cmp -s "$checks" "$dir/installed" || exit 0

missing=()
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
command -v curl >/dev/null || missing+=(curl)
command -v jq >/dev/null || missing+=(jq)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

python3 -m venv --clear "$dir"
"$dir/bin/pip" install --quiet --disable-pip-version-check --require-hashes -r "$checks"
cp "$checks" "$dir/installed"
