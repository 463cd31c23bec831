#!/usr/bin/env bash
# Installs the servers for the gateway's tests, and the peer for its benchmark,
# under $PEERS_DIR (default: target/peers). Prints nothing, and returns at once if everything is installed.
set -euo pipefail
dir=$(realpath -m "${PEERS_DIR:-$(dirname "$0")/../../target/peers}")
# mcpo does not start with mcp 2, which the time server requires, so each has its own Python environment.
mcpo=(mcpo==0.0.20 mcp==1.30.0 fastapi==0.121.3 starlette==0.50.0 uvicorn==0.54.0 pydantic==2.14.3)
time=(mcp-server-time==2026.10.19 mcp==2.3.0)
servers=()
for server in everything filesystem memory; do
  servers+=("@modelcontextprotocol/server-$server@2026.8.31")
done
node=(node@22 "${servers[@]}")

wanted="${mcpo[*]} ${time[*]} ${node[*]}"
[ "$(cat "$dir/installed" 2>/dev/null)" != "$wanted" ] || exit 0

missing=()
python3 -c 'import ensurepip' 2>/dev/null || missing+=(python3 python3-venv)
command -v node >/dev/null || missing+=(nodejs)
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends "${missing[@]}" >/dev/null
fi

mkdir -p "$dir"
for python in mcpo time; do
  declare -n packages=$python
  python3 -m venv --clear "$dir/$python"
  "$dir/$python/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"
done
# npm warns about the Node that runs it; the servers run under the one that it installs here.
npm install --prefix "$dir" --save-exact --loglevel=error --no-audit --no-fund "${node[@]}" >/dev/null
"$dir/node_modules/.bin/node" -e 'process.exit(process.version.startsWith("v22.") ? 0 : 1)'
"$dir/mcpo/bin/mcpo" --help >/dev/null
echo "$wanted" >"$dir/installed"
