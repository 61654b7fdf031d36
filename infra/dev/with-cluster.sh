#!/usr/bin/env bash
# with-cluster.sh COMMAND…: runs a command with a temporary PostgreSQL cluster, and passes on its exit code.
# TOMBOLO_DATABASE_URL is the owner's; TOMBOLO_GATEWAY_DATABASE_URL, TOMBOLO_ADMIN_DATABASE_URL and
# TOMBOLO_TICKETS_DATABASE_URL are the servers'. The cluster is in a temporary folder and is deleted afterwards, so the
# data of `make up` are never touched.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CLUSTER="$DEV_SCRIPTS/cluster.sh"
# The variables for the permanent cluster may be set. This cluster has no port.
unset TOMBOLO_PG_PORT
PREFIX="${TMPDIR:-/tmp}/tombolo-throwaway"

# Remove the clusters of runs that were killed.
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
# Ends processes that the command started and left behind, for instance because it was killed. They have this cluster in
# their environment.
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
# With a trap, a signal is handled only after the start has ended, so the removal doesn't race with it.
trap 'exit 130' INT
trap 'exit 143' TERM HUP
"$CLUSTER" start
TOMBOLO_DATABASE_URL="$("$CLUSTER" url)"
TOMBOLO_GATEWAY_DATABASE_URL="$("$CLUSTER" url tombolo_gateway)"
TOMBOLO_ADMIN_DATABASE_URL="$("$CLUSTER" url tombolo_admin)"
TOMBOLO_TICKETS_DATABASE_URL="$("$CLUSTER" url tombolo_tickets)"
export TOMBOLO_DATABASE_URL TOMBOLO_GATEWAY_DATABASE_URL TOMBOLO_ADMIN_DATABASE_URL TOMBOLO_TICKETS_DATABASE_URL
# Marks the processes that the command starts, but not the cluster's server, which is already running.
export TOMBOLO_THROWAWAY="$TOMBOLO_DEV_DIR"

run_child "$@"
if [ "$CHILD_STOPPED" = 1 ] && [ "$CHILD_STATUS" -eq 0 ]; then exit 130; fi
exit "$CHILD_STATUS"
