#!/usr/bin/env bash
# Drives n8n-lens with the MCP Inspector: every default tool, over stdio and HTTP, in both eras of the protocol.
#
#   N8N_LENS             the binary: the stdio half
#   N8N_LENS_MCP_URL     the endpoint of a running server: the HTTP half
#   N8N_LENS_MCP_TOKEN   its --auth-token, if it has one
#   N8N_URL N8N_API_KEY  n8n, for the stdio half
#   EXECUTION_ID         an execution that n8n has, and
#   NODE_NAME            one of its nodes
#   OTHER_EXECUTION_ID   another execution that n8n has
#   START_NODE           the node that it began with (default: Webhook)
#
# Prints a line for each call and exits with the Inspector's code at the first that fails:
# 4 unreachable, 5 a tool's error, 6 a schema that --strict does not accept.
set -euo pipefail
: "${EXECUTION_ID:?}" "${NODE_NAME:?}" "${OTHER_EXECUTION_ID:?}"
dir=$(realpath -m "${CLIENTS_DIR:-$(dirname "$0")/../../target/clients}")
export PATH="$dir/node_modules/.bin:$PATH"
files=$(mktemp -d)
created=()

# Runs the Inspector against the current transport, with a temporary home folder.
inspect() {
  HOME=$files mcp-inspector --cli "${transport[@]}" --protocol-era "$era" --format json --quiet "$@" 2>"$files/stderr"
}
run_tool() { inspect --method tools/call --tool-name "$1" --tool-args-json "$2"; }
passed() { printf 'ok   %-5s %-6s %s\n' "$where" "$era" "$1"; }
failed() { printf 'FAIL %-5s %-6s %s\n%s\n' "$where" "$era" "$1" "$2"; cat "$files/stderr"; exit "$3"; }

# call TOOL ARGUMENTS: stores the text of the answer in $text.
call() {
  local answer status=0
  called+=" $1 "
  answer=$(run_tool "$1" "$2") || status=$?
  [ $status = 0 ] || failed "$1 $2" "$answer" $status
  text=$(node -p 'JSON.parse(require("fs").readFileSync(0)).result.content[0].text' <<<"$answer")
  passed "$1"
}
id() { node -p 'JSON.parse(require("fs").readFileSync(0)).data.id' <<<"$text"; }
object() { node -p 'JSON.stringify(Object.fromEntries(process.argv.slice(1).map(pair => pair.split(/=(.*)/s))))' "$@"; }

clean_up() {
  for left in ${created[@]+"${created[@]}"}; do
    run_tool delete_workflow "$(object id="$left")" >/dev/null || true
  done
  rm -rf "$files"
}
trap clean_up EXIT

list_tools() {
  local answer status=0
  answer=$(inspect --method tools/list --strict) || status=$?
  [ $status = 0 ] || failed "tools/list --strict" "$answer" $status
  names=$(node -p 'JSON.parse(require("fs").readFileSync(0)).result.tools.map(t => t.name).join(" ")' <<<"$answer")
  [ -z "${tools:-}" ] || [ "$names" = "$tools" ] || failed "tools/list: not the tools of 'n8n-lens tools'" "$names" 1
  passed "tools/list --strict"
  # Warnings do not fail it.
  cat "$files/stderr"
}

refuse() {
  local answer status=0
  answer=$(run_tool "$1" "$2") || status=$?
  [[ $status = 5 && $answer == *"$3"* ]] || failed "$1 $2: not refused with $3" "exit $status: $answer" 1
  passed "$1 refuses"
}

every_tool() {
  called=
  list_tools
  call list_executions '{"limit":2}'
  call get_execution "$(object id="$EXECUTION_ID")"
  call describe_execution "$(object id="$EXECUTION_ID")"
  call get_execution_by_node "$(object id="$EXECUTION_ID" nodeName="$NODE_NAME")"
  call search_execution "$(object id="$EXECUTION_ID" text=stub)"
  call get_execution_fields "$(object id="$EXECUTION_ID" nodeName="$NODE_NAME")"
  call trace_execution_item "{\"id\":\"$EXECUTION_ID\",\"nodeName\":\"${START_NODE:-Webhook}\",\"item\":0}"
  call compare_executions "$(object id="$EXECUTION_ID" with="$OTHER_EXECUTION_ID")"
  call find_executions '{"text":"stub"}'
  call group_failures '{}'
  call list_workflows '{"limit":2}'

  call create_workflow "$workflow"
  local written
  written=$(id)
  created=("$written")
  call get_workflow "$(object id="$written")"
  call get_workflow_connections "$(object id="$written")"
  call update_workflow "$(object id="$written" name="n8n-lens inspector, renamed")"
  call edit_workflow "{\"workflowId\":\"$written\",\"operations\":[{\"type\":\"renameNode\",\"oldName\":\"Step\",\"newName\":\"Last\"}]}"
  call check_workflow "$(object workflowId="$written")"
  call set_workflow_active "{\"id\":\"$written\",\"active\":false}"
  call create_workflow_from_file "$(object filePath="$files/workflow.json")"
  local from_file
  from_file=$(id)
  created+=("$from_file")
  call replace_workflow_from_file "$(object id="$from_file" filePath="$files/workflow.json")"
  call delete_workflow "$(object id="$written")"
  created=("$from_file")
  call delete_workflow "$(object id="$from_file")"
  created=()
  refuse get_workflow '{"id":"nope"}' "Workflow 'nope' not found."
  local name
  for name in $names; do
    [[ $called == *" $name "* ]] || failed "$name" "no call of it: add one to every_tool in $0" 1
  done
}

# The tools of the binary, to compare with tools/list.
if [ "${N8N_LENS:-}" ]; then
  tools=$("$N8N_LENS" tools --markdown | sed -n 's/^| `\([a-z_]*\)` .*/\1/p' | xargs)
fi
workflow='{"name":"n8n-lens inspector","nodes":[
  {"id":"1","name":"Start","type":"n8n-nodes-base.manualTrigger","typeVersion":1,"position":[0,0],"parameters":{}},
  {"id":"2","name":"Step","type":"n8n-nodes-base.noOp","typeVersion":1,"position":[200,0],"parameters":{}}],
  "connections":{"Start":{"main":[[{"node":"Step","type":"main","index":0}]]}}}'
echo "$workflow" >"$files/workflow.json"

[ "${N8N_LENS:-}${N8N_LENS_MCP_URL:-}" ] || { echo "set N8N_LENS or N8N_LENS_MCP_URL" >&2; exit 2; }
for era in legacy modern; do
  if [ "${N8N_LENS:-}" ]; then
    # The Inspector passes its environment on only on request.
    where=stdio transport=(-e "N8N_URL=${N8N_URL:?}" -e "N8N_API_KEY=${N8N_API_KEY:?}" -e LOG_LEVEL=off -e N8N_LENS_FILES_ROOT=/ "$N8N_LENS")
    every_tool
  fi
  if [ "${N8N_LENS_MCP_URL:-}" ]; then
    # If a token is required, it would otherwise start an interactive login.
    where=http transport=(--server-url "$N8N_LENS_MCP_URL" --transport http --stored-auth-only)
    [ -z "${N8N_LENS_MCP_TOKEN:-}" ] || transport+=(--header "Authorization: Bearer $N8N_LENS_MCP_TOKEN")
    every_tool
  fi
done
echo "all calls passed"
