#!/usr/bin/env bash
# Runs PostgreSQL in the folder $1, on port $2 of the loopback interface, until standard input is closed; then removes the folder.
# Further arguments are settings, such as fsync=off.
# Prints "ready" when it accepts connections; exits with 3 if PostgreSQL is not installed.
# The request "kill" stops it without a shutdown (and prints "away"), "start" starts it again (and prints "ready").
set -euo pipefail
folder=$1 port=$2
shift 2
trap 'rm -rf "$folder"' EXIT
found=$(command -v initdb || ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null | tail -1 || true)
[ -n "$found" ] || exit 3
bin=$(dirname "$(readlink -f "$found")")
as=()
if [ "$(id -u)" = 0 ]; then
    # The server refuses to run as root.
    owner=$(id -u postgres >/dev/null 2>&1 && echo postgres || echo nobody)
    chown "$owner" "$folder"
    as=(setpriv "--reuid=$owner" "--regid=$(id -g "$owner")" --clear-groups)
fi
cd "$folder"
"${as[@]}" "$bin/initdb" --pgdata=data --username=lens --auth=trust --encoding=UTF8 --locale=C >initdb.log
settings=(-c max_connections=200 "${@/#/-c}")
start() {
    "${as[@]}" "$bin/postgres" -D data -p "$port" -h 127.0.0.1 -k "$folder" "${settings[@]}" >server.log 2>&1 &
    server=$!
    # After a crash it checks every file of every database first.
    for _ in $(seq 1800); do
        "$bin/pg_isready" -q -h 127.0.0.1 -p "$port" && break
        kill -0 "$server"
        sleep 0.1
    done
    echo ready
}
trap 'kill -INT "$server" 2>/dev/null || true; wait "$server" || true; rm -rf "$folder"' EXIT
server=
start
while read -r request; do
    case $request in
        kill)
            kill -QUIT "$server"
            wait "$server" || true
            echo away
            ;;
        start) start ;;
    esac
done
