#!/usr/bin/env bash
# Runs the MCP conformance suite against a server: conformance.sh URL 2025-11-25|2026-07-28 [OPTION...]
#
# Exits non-zero if a scenario that the revision requires fails. Options are passed to the suite. Most scenarios need
# tools and resources with fixed names. n8n-lens itself has none of them; run the other scenarios with
#     conformance.sh URL 2026-07-28 --expected-failures tests/clients/conformance-own.yml
# The suite cannot send an authorization header: run the server without a token.
set -euo pipefail
[ $# -ge 2 ] || { sed -n '2,7s/^# \?//p' "$0" >&2; exit 2; }
url=$1 revision=$2
shift 2
dir=$(realpath -m "${CLIENTS_DIR:-$(dirname "$0")/../../target/clients}")
export PATH="$dir/node_modules/.bin:$PATH"

# Runs against several servers may overlap.
mkdir -p "$dir"
results=$(mktemp -d "$dir/conformance-$revision-XXXXXX")
status=0
conformance server --url "$url" --requirements "$revision" --output-dir "$results" "$@" 2>&1 |
  sed 's/\x1b\[[0-9;]*m//g' >"$results/log" || status=$?
if grep -q '^=== SUMMARY' "$results/log"; then
  sed -n '/^=== SUMMARY/,$p' "$results/log"
else
  cat "$results/log"
fi
[ $status = 0 ] || { echo "The suite ended with $status; what each check saw is in $results." >&2; exit $status; }
rm -rf "$results"
