#!/usr/bin/env bash
# Installs the browser driver under the first argument, and Node.js and Chromium if they are missing.
# Prints nothing, and returns at once if everything is installed.
set -euo pipefail
dir=$1
here=$(dirname "$(realpath "$0")")
cmp -s "$here/package-lock.json" "$dir/installed" && exit 0

missing=()
command -v chromium >/dev/null || missing+=(chromium)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

mkdir -p "$dir"
cp "$here/package.json" "$here/package-lock.json" "$dir"
npm ci --prefix "$dir" --loglevel=error --no-audit --no-fund >/dev/null
cp "$here/package-lock.json" "$dir/installed"
