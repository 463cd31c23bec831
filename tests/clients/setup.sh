#!/usr/bin/env bash
# Installs the clients that the other scripts drive, under $CLIENTS_DIR (default: target/clients).
# Prints nothing, and returns at once if everything is installed.
set -euo pipefail
dir=$(realpath -m "${CLIENTS_DIR:-$(dirname "$0")/../../target/clients}")
python=(mcp==2.3.0 opentelemetry-proto==1.45.2)
# A collector of OpenTelemetry; there is no package of it for some versions of Python.
collector=rotel==0.0.1a15
node=(node@22 @modelcontextprotocol/inspector@2.12.0 @modelcontextprotocol/conformance@0.2.0-alpha.12
  @anthropic-ai/claude-code@2.1.330 @openai/codex@0.169.0 @google/gemini-cli@0.61.0)
# The parsers that n8n uses for expressions, and n8n-mcp for its 2,352 published workflows. Their programs are not run.
parsers=(@n8n/tournament@1.13.0 acorn@8.19.0 n8n-mcp@2.87.0)

wanted="${python[*]} $collector ${node[*]} ${parsers[*]}"
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
python3 -m venv --clear "$dir/python"
"$dir/python/bin/pip" install --quiet --disable-pip-version-check "${python[@]}"
"$dir/python/bin/pip" install --quiet --disable-pip-version-check --only-binary=:all: "$collector" || echo "no $collector for this Python" >&2
# npm warns about the Node that runs it; the tools run under the one that it installs here.
npm install --prefix "$dir" --save-exact --loglevel=error --no-audit --no-fund "${node[@]}" >/dev/null
npm install --prefix "$dir/parsers" --save-exact --loglevel=error --no-audit --no-fund --ignore-scripts \
  --omit=optional --omit=peer --legacy-peer-deps "${parsers[@]}" >/dev/null
"$dir/node_modules/.bin/node" -e 'process.exit(process.version.startsWith("v22.") ? 0 : 1)'
echo "$wanted" >"$dir/installed"
