#!/usr/bin/env bash
# Tests infra/dev/cluster.sh with real servers in temporary folders, and how `make up` watches its programs.
# Needs PostgreSQL. Ends with the counts.
# shellcheck source-path=SCRIPTDIR/../../infra/dev source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../infra/dev/lib.sh"

CLUSTER="$DEV_SCRIPTS/cluster.sh"
# cluster.sh reads these; a developer's own settings must not influence the tests.
unset TOMBOLO_PG_PORT TOMBOLO_PG_BIN TOMBOLO_PG_USER TOMBOLO_DEV_DIR
WORK="$(mktemp -d "${TMPDIR:-/tmp}/tombolo-test.XXXXXX")"
chmod 0711 "$WORK"
cd "$WORK"
MADE=()
passed=0
failed=0

finish() {
    local dir
    for dir in ${MADE[@]+"${MADE[@]}"}; do TOMBOLO_DEV_DIR="$dir" "$CLUSTER" remove >/dev/null 2>&1 || true; done
    rm -rf "$WORK"
}
trap finish EXIT

# use FOLDER: the following commands use the cluster there.
use() {
    export TOMBOLO_DEV_DIR="$WORK/$1"
    MADE+=("$TOMBOLO_DEV_DIR")
}
pass() {
    passed=$((passed + 1))
    printf 'ok    %s\n' "$1"
}
# Not named `fail`, since lib.sh's `fail` ends the script.
flunk() {
    failed=$((failed + 1))
    printf 'FAIL  %s\n' "$1"
    sed 's/^/      /' "$WORK/out"
}
# claim TEXT COMMAND…: the command succeeds.
claim() {
    local text="$1"
    shift
    if "$@" >"$WORK/out" 2>&1 </dev/null; then pass "$text"; else flunk "$text"; fi
}
# refuses TEXT PATTERN COMMAND…: the command fails, and its output matches.
refuses() {
    local text="$1" pattern="$2"
    shift 2
    if "$@" >"$WORK/out" 2>&1 </dev/null; then flunk "$text (it succeeded)"; return; fi
    if grep -Eq -- "$pattern" "$WORK/out"; then pass "$text"; else flunk "$text (not said: $pattern)"; fi
}
# says TEXT PATTERN: the last command's output matches.
says() { if grep -Eq -- "$2" "$WORK/out"; then pass "$1"; else flunk "$1 (not said: $2)"; fi; }
start() { "$CLUSTER" start; }
sql() { "$CLUSTER" psql -X -At -v ON_ERROR_STOP=1 -c "$1"; }
answers() { [ "$(sql "$1")" = "$2" ]; }
status_is() {
    local code=0
    "$CLUSTER" status || code=$?
    [ "$code" = "$1" ]
}
server() { head -n 1 "$TOMBOLO_DEV_DIR/pg/data/postmaster.pid"; }
# Returns once the server is gone, since a start that still finds it would take it for a running one.
kill_server() {
    local pid
    pid="$(server)"
    kill -KILL "$pid"
    while [ -e "/proc/$pid/cwd" ]; do sleep 0.05; done
}
# Avoids the ports that the system assigns to connections: from 32768 on Linux.
free_port() {
    local port
    while port=$((20000 + RANDOM % 12000)) && port_is_taken "$port"; do :; done
    printf '%s\n' "$port"
}
as_owner_of() { # FILE COMMAND…: runs the command as the file's owner, the user that the server runs as
    local owner
    owner="$(stat -c %U "$1")"
    shift
    if is_root; then setpriv --reuid="$owner" --regid="$(id -g "$owner")" --init-groups "$@"; else "$@"; fi
}

# ------------------------------------------------------------------------------------------------- a first start
use first
refuses "url says that there is no cluster yet" "no cluster" "$CLUSTER" url
claim "status is 3 before the first start" status_is 3
claim "the first start makes a cluster" start
claim "status is 0 while it runs" status_is 0
claim "the server does not run as root" test "$(stat -c %u "/proc/$(server)")" -ne 0
claim "the URL leads to the database" psql -X -At "$("$CLUSTER" url)" -c "SELECT 1"
claim "the URL holds no secret" test "$("$CLUSTER" url | grep -c -F "$(head -n 1 "$TOMBOLO_DEV_DIR/pgpass" | cut -d : -f 5)")" = 0
claim "only its owner may read the passwords" test "$(stat -c %a "$TOMBOLO_DEV_DIR/pgpass")" = 600
claim "tombolo owns the database and is no superuser" \
    answers "SELECT d.datdba::regrole, r.rolsuper FROM pg_database d JOIN pg_roles r ON r.oid = d.datdba
             WHERE d.datname = current_database()" "tombolo|f"
refuses "a service's role cannot make tables" "permission denied" "$CLUSTER" psql --as-service -c "CREATE TABLE x (i int)"
claim "psql opens as the role that is named" "$CLUSTER" psql --as-service tombolo_app -At -c "SELECT current_user"
says "and that role is tombolo_app" '^tombolo_app$'
refuses "a wrong password is refused" "authentication failed" env PGPASSWORD=wrong psql -X \
    "$("$CLUSTER" url | sed 's/&passfile=.*//')" -c "SELECT 1"
refuses "an unknown role is refused with the known ones" "there are passwords for: tombolo tombolo_app tombolo_gateway tombolo_admin tombolo_tickets" "$CLUSTER" psql --as-service root
claim "there is no TCP port unless one is asked for" answers "SHOW listen_addresses" ""
claim "data can be written" sql "CREATE TABLE kept AS SELECT 7 AS n"

# ------------------------------------------------------------------------------------------------- starting again
claim "a start while it runs does nothing" start
says "and says so" "running already"
claim "it stops" "$CLUSTER" stop
claim "a second stop does no harm" "$CLUSTER" stop
refuses "psql says that the server isn't running" "isn't running" "$CLUSTER" psql -c "SELECT 1"
claim "it starts again, whatever the PG variables say" env PGDATA=/nowhere PGPORT=1 PGHOST=nowhere PGUSER=x "$CLUSTER" start
claim "and keeps the data" answers "SELECT n FROM kept" 7

kill_server
claim "it starts after kill -9 of the server" start
says "and says that the last stop was no proper one" "not stopped properly"
claim "and keeps the data after kill -9" answers "SELECT n FROM kept" 7

kill_server
# shellcheck disable=SC2016  # the inner shell's own pid
(as_owner_of "$TOMBOLO_DEV_DIR/pg/data" sh -c 'echo $$; exec sleep 600' >"$WORK/stranger" || true) 2>/dev/null &
disown
while [ ! -s "$WORK/stranger" ]; do sleep 0.05; done
stranger="$(cat "$WORK/stranger")"
as_owner_of "$TOMBOLO_DEV_DIR/pg/data" sed -i "1s/.*/$stranger/" "$TOMBOLO_DEV_DIR/pg/data/postmaster.pid"
claim "it starts when the stale lock file names a process that is somebody else's" start
claim "and keeps the data with a stale lock file" answers "SELECT n FROM kept" 7
claim "and leaves that process alone" kill -0 "$stranger"
kill "$stranger"

sed -i.kept '/tombolo_gateway/d' "$TOMBOLO_DEV_DIR/pgpass"
claim "a cluster from before the servers had roles gets them" start
claim "and a server's role can log in" "$CLUSTER" psql --as-service tombolo_gateway -At -c "SELECT current_user"
says "as itself" '^tombolo_gateway$'
rm "$TOMBOLO_DEV_DIR/pgpass"
claim "a lost password file is made anew" start
claim "and its passwords are right" answers "SELECT n FROM kept" 7
"$CLUSTER" stop 2>/dev/null

# ------------------------------------------------------------------------------------------------- broken clusters
echo 9 | as_owner_of "$TOMBOLO_DEV_DIR/pg/data" tee "$TOMBOLO_DEV_DIR/pg/data/PG_VERSION" >/dev/null
refuses "data of another PostgreSQL version are refused" "created by PostgreSQL 9;" start
says "with what to install" "postgresql-9"
rm "$TOMBOLO_DEV_DIR/pg/data/PG_VERSION"
claim "a cluster without PG_VERSION is replaced" start
says "and the message names where it was put" "moved to .*/data\.broken-[0-9-]+"
claim "nothing of it was deleted" test -d "$(echo "$TOMBOLO_DEV_DIR"/pg/data.broken-*/base)"
rm "$TOMBOLO_DEV_DIR/pg/data/tombolo.ready"
claim "a cluster whose setting up was interrupted is replaced, even while it runs" start
says "and the message says why" "setting up was interrupted"
claim "the new one works" answers "SELECT 1" 1

use interrupted
start >"$WORK/out" 2>&1 &
starter=$!
while [ ! -e "$TOMBOLO_DEV_DIR/pg/data" ] && kill -0 "$starter" 2>/dev/null; do sleep 0.01; done
for process in /proc/[0-9]*; do
    # shellcheck disable=SC2002  # the process may be gone, and a redirection would print an error
    if cat "$process/cmdline" 2>/dev/null | tr '\0' ' ' | grep -q -F "initdb -D $TOMBOLO_DEV_DIR/pg/data"; then
        kill -KILL "${process#/proc/}" 2>/dev/null || true
    fi
done
wait "$starter" 2>/dev/null || true
claim "it starts after initdb was killed" start
claim "and that cluster works" answers "SELECT 1" 1

# ------------------------------------------------------------------------------------------------- ports and folders
port="$(free_port)"
use tcp
claim "it listens on the TCP port that is asked for" env TOMBOLO_PG_PORT="$port" "$CLUSTER" start
claim "the URL works in a shell that does not set the port" answers "SHOW port" "$port"
holder="$(server)"
use second
refuses "a taken port is refused with the process that has it" "in use by postgres \(pid $holder\)" \
    env TOMBOLO_PG_PORT="$port" "$CLUSTER" start
says "and with the variable to set" "TOMBOLO_PG_PORT="
claim "after that it starts without a port" start
refuses "a port that is no number is refused" "isn't a port number" env TOMBOLO_PG_PORT=http "$CLUSTER" start
refuses "a running server on another port is not taken for the right one" "not on TCP port" \
    env TOMBOLO_PG_PORT="$(free_port)" "$CLUSTER" start

use "a folder with 'quotes' & spaces"
claim "a folder's name may hold spaces and quotes" start
claim "and the URL is right" answers "SELECT 1" 1

use "$(printf 'd%.0s' {1..60})/$(printf 'e%.0s' {1..60})"
claim "a path too long for a socket does no harm" start
claim "and the URL leads to the short one" answers "SELECT 1" 1

use together
start >"$WORK/one" 2>&1 & one=$!
start >"$WORK/two" 2>&1 & two=$!
claim "of two starts at once the first succeeds" wait "$one"
claim "of two starts at once the second succeeds" wait "$two"
claim "and there is one cluster" answers "SELECT 1" 1

mkdir "$WORK/precious" && touch "$WORK/precious/file"
export TOMBOLO_DEV_DIR="$WORK/precious"
refuses "a folder with other files in it is not used" "has other files" start
refuses "and not removed" "left alone" "$CLUSTER" remove
claim "and its files are there" test -e "$WORK/precious/file"

use first
claim "remove stops the server and deletes the folder" "$CLUSTER" remove
claim "and nothing is left" test ! -e "$TOMBOLO_DEV_DIR"

# ------------------------------------------------------------------------------------------------- watched programs
# run_two COMMAND: starts a lasting program, and one that runs the command once the first is up. Call it in a subshell.
run_two() {
    trap 'SERVICES_STOPPED=yes' INT TERM HUP
    SERVICE_LOG_PATIENCE=600
    rm -f "$WORK/pid"
    # shellcheck disable=SC2016  # they belong to the inner shells
    start_service steady "$WORK/steady.log" bash -c 'echo $$ >"$1" && exec sleep 3600' _ "$WORK/pid"
    # shellcheck disable=SC2016
    start_service broken "$WORK/broken.log" bash -c 'while [ ! -s "$1" ]; do sleep 0.05; done
        echo "out of ink" >&2; eval "$2"' _ "$WORK/pid" "$1"
    watch_services
}
platform() (run_two "$1")
steady_runs() { kill -0 "$(cat "$WORK/pid")"; }
refuses "of two programs one that fails is named with its status" '^error: broken ended by itself \(exit status 3\)' \
    platform 'exit 3'
says "with what it said last" '^    out of ink$'
says "and where the rest is" "The whole output is in $WORK/broken.log"
refuses "and the other is stopped" 'No such process' steady_runs
# shellcheck disable=SC2016
refuses "one that is killed is named with the signal" 'broken ended by itself \(killed by SIGKILL' platform 'kill -KILL $$'
if grep -q 'Killed ' "$WORK/out"; then flunk "and in no other words"; else pass "and in no other words"; fi
refuses "one that ends without a fault fails too" 'broken ended by itself \(exit status 0\)' platform 'exit 0'

daemon() (
    watch_daemon PostgreSQL "$1" "$WORK/broken.log"
    start_service steady "$WORK/steady.log" sleep 3600
    watch_services
)
sleep 0 & gone=$!
wait "$gone"
refuses "a daemon that ends is named" '^error: PostgreSQL ended by itself\.' daemon "$gone"

stopped() {
    run_child run_two 'kill -TERM 0; exec sleep 3600'
    [ "$CHILD_STATUS" = 0 ]
}
claim "a signal to all of them is no fault" stopped
if grep -q 'ended by itself' "$WORK/out"; then flunk "and nothing is said of one"; else pass "and nothing is said of one"; fi

printf '%s passed, %s failed\n' "$passed" "$failed"
[ "$failed" -eq 0 ]
