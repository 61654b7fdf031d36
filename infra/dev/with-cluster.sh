#!/usr/bin/env bash
# with-cluster.sh COMMAND…: runs a command with a throw-away PostgreSQL cluster, and passes on its exit code.
# TOMBOLO_DATABASE_URL is the owner's; TOMBOLO_GATEWAY_DATABASE_URL, TOMBOLO_ADMIN_DATABASE_URL and
# TOMBOLO_TICKETS_DATABASE_URL are the servers'. The cluster lies in a temporary folder and is deleted afterwards, so that
# it never touches the data of `make up`.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CLUSTER="$DEV_SCRIPTS/cluster.sh"
# Ports and binaries of the lasting cluster may be set; this one has no port.
unset TOMBOLO_PG_PORT
PREFIX="${TMPDIR:-/tmp}/tombolo-throwaway"

# A run that was killed leaves its cluster: take it away now.
for left in "$PREFIX".*; do
    if [ -d "$left" ] && [ -O "$left" ] && [ ! -L "$left" ]; then
        owner="${left#"$PREFIX".}"
        owner="${owner%%.*}"
        case "$owner" in '' | *[!0-9]*) continue ;; esac
        if ! kill -0 "$owner" 2>/dev/null; then TOMBOLO_DEV_DIR="$left" "$CLUSTER" remove || true; fi
    fi
done

TOMBOLO_DEV_DIR="$(mktemp -d "$PREFIX.$$.XXXXXX")"
export TOMBOLO_DEV_DIR
# What the command started and did not end, as when it was killed: whatever has this very cluster in its environment.
# shellcheck disable=SC2317  # the trap below calls it
end_strays() {
    local process
    for process in /proc/[0-9]*; do
        [ -O "$process" ] || continue
        if grep -qzxF "TOMBOLO_THROWAWAY=$TOMBOLO_DEV_DIR" "$process/environ" 2>/dev/null; then
            kill -TERM "${process#/proc/}" 2>/dev/null || true
        fi
    done
}
# shellcheck disable=SC2317  # the trap below calls it
remove_cluster() {
    trap '' INT TERM HUP
    end_strays
    "$CLUSTER" remove || note "could not remove $TOMBOLO_DEV_DIR"
}
trap remove_cluster EXIT
# With a trap, a signal waits for the start to end, so that the removal does not race with it.
trap 'exit 130' INT
trap 'exit 143' TERM HUP
"$CLUSTER" start
TOMBOLO_DATABASE_URL="$("$CLUSTER" url)"
TOMBOLO_GATEWAY_DATABASE_URL="$("$CLUSTER" url tombolo_gateway)"
TOMBOLO_ADMIN_DATABASE_URL="$("$CLUSTER" url tombolo_admin)"
TOMBOLO_TICKETS_DATABASE_URL="$("$CLUSTER" url tombolo_tickets)"
export TOMBOLO_DATABASE_URL TOMBOLO_GATEWAY_DATABASE_URL TOMBOLO_ADMIN_DATABASE_URL TOMBOLO_TICKETS_DATABASE_URL
# Marks what the command starts; not the server of the cluster itself, which is running by now.
export TOMBOLO_THROWAWAY="$TOMBOLO_DEV_DIR"

run_child "$@"
if [ "$CHILD_STOPPED" = 1 ] && [ "$CHILD_STATUS" -eq 0 ]; then exit 130; fi
exit "$CHILD_STATUS"
