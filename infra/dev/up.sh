#!/usr/bin/env bash
# Runs the whole platform for development (`make up`): installs missing packages, builds, starts the project's own
# PostgreSQL cluster, migrates it, loads sample data the first time, and runs gateway and admin server in one process,
# with the conference's ticket API beside it, until Ctrl-C.
#
# That process runs in development mode, in which it creates tables, so it connects as their owner; the ticket API
# connects as tombolo_tickets. If others can reach the servers, development mode is off. Gateway and admin server are
# then separate processes, which connect as tombolo_gateway and tombolo_admin.
#
#   TOMBOLO_GATEWAY_PORT (8080)  TOMBOLO_ADMIN_PORT (8081)  TOMBOLO_TICKETS_PORT (8082)
#   TOMBOLO_CONFIGURATION        debug or release
#   TOMBOLO_DEV_DIR, TOMBOLO_PG_PORT and others: see cluster.sh

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

CLUSTER="$DEV_SCRIPTS/cluster.sh"
export TOMBOLO_GATEWAY_PORT="${TOMBOLO_GATEWAY_PORT:-8080}"
export TOMBOLO_ADMIN_PORT="${TOMBOLO_ADMIN_PORT:-8081}"
export TOMBOLO_TICKETS_PORT="${TOMBOLO_TICKETS_PORT:-8082}"

check_ports() {
    require_port_free TOMBOLO_GATEWAY_PORT "$TOMBOLO_GATEWAY_PORT" "sync gateway"
    require_port_free TOMBOLO_ADMIN_PORT "$TOMBOLO_ADMIN_PORT" "admin server"
    require_port_free TOMBOLO_TICKETS_PORT "$TOMBOLO_TICKETS_PORT" "ticket API"
    if [ "$TOMBOLO_GATEWAY_PORT" = "$TOMBOLO_ADMIN_PORT" ] || [ "$TOMBOLO_ADMIN_PORT" = "$TOMBOLO_TICKETS_PORT" ] ||
        [ "$TOMBOLO_GATEWAY_PORT" = "$TOMBOLO_TICKETS_PORT" ]; then
        fail "TOMBOLO_GATEWAY_PORT, TOMBOLO_ADMIN_PORT and TOMBOLO_TICKETS_PORT must be three different ports."
    fi
}

WE_STARTED=no
# shellcheck disable=SC2317  # the trap below calls it
stop_cluster() {
    trap '' INT TERM HUP
    if [ "$WE_STARTED" = yes ]; then "$CLUSTER" stop; fi
}

# Works from any folder; the path of the sample data is relative to the clone.
cd "$TOMBOLO_ROOT"
if [ -n "${TOMBOLO_DATABASE_URL:-}" ]; then
    note "TOMBOLO_DATABASE_URL is set, but 'make up' uses a cluster of its own; the variable is left out"
fi
"$DEV_SCRIPTS/install.sh"
check_ports
build_products
bin="$(products_folder)"
for product in admin-server conference migration-tool sync-gateway ticket-api tombolo; do require_product "$product" >/dev/null; done
check_ports

say "Starting PostgreSQL"
trap stop_cluster EXIT
# With a trap, a signal is handled only after the start has ended, so the stop doesn't race with it.
trap 'exit 130' INT
trap 'exit 143' TERM HUP
"$CLUSTER" status >/dev/null || WE_STARTED=yes
"$CLUSTER" start
DIR="$("$CLUSTER" dir)"
TOMBOLO_DATABASE_URL="$("$CLUSTER" url)"
export TOMBOLO_DATABASE_URL

# The secret that signs tokens is created once, so that logins survive a restart.
SECRET_FILE="$DIR/jwt-secret"
if [ ! -s "$SECRET_FILE" ]; then
    rm -f "$SECRET_FILE.new"
    (umask 077 && random_hex 32 >"$SECRET_FILE.new")
    mv -f "$SECRET_FILE.new" "$SECRET_FILE"
fi
TOMBOLO_JWT_SECRET="$(cat "$SECRET_FILE")"
export TOMBOLO_JWT_SECRET
# The folder for mails to users, such as those that confirm an address.
export TOMBOLO_MAIL="${TOMBOLO_MAIL:-folder:$DIR/mail}"
# The names of the platform's classes in other languages.
export TOMBOLO_TRANSLATIONS="${TOMBOLO_TRANSLATIONS:-$TOMBOLO_ROOT/Apps/Conference/Translations}"

say "Migrating the database"
EXAMPLE=Apps/Examples/Listings
if ! "$bin/conference" setup >&2 ||
    ! "$bin/migration-tool" apply --models "$EXAMPLE/listings.models.json" --rules "$EXAMPLE/listings.rules.yaml" >&2; then
    fail "the migration failed; its messages are above." "The data is in $DIR"
fi

# Keeps the output of the loading; the demo users in it are shown at every start. cluster.sh removes this file when it
# creates a new cluster.
if [ ! -e "$DIR/sample-loaded" ]; then
    say "Loading sample data, once"
    (umask 077 && "$bin/conference" sample >"$DIR/sample-loaded.new" &&
        "$CLUSTER" psql -q -v ON_ERROR_STOP=1 -f "$EXAMPLE/sample.sql" >&2) ||
        fail "couldn't load the sample data; the messages are above."
    mv -f "$DIR/sample-loaded.new" "$DIR/sample-loaded"
    sed 's/^/    /' "$DIR/sample-loaded" >&2
fi
NOTES_FILE="$DIR/notes"
{
    printf 'ticket API     http://%s:%s   public page of an event: /events/ID\n\n' \
        "${TOMBOLO_HOST:-127.0.0.1}" "$TOMBOLO_TICKETS_PORT"
    sed -n '/^Accounts:/,$p' "$DIR/sample-loaded" | sed '1s/.*/demo logins/'
} >"$NOTES_FILE"

# Serves any app that connects, but only on this machine.
DEVELOPMENT=no
case "${TOMBOLO_HOST:-127.0.0.1}" in
    127.* | localhost | ::1) DEVELOPMENT=yes ;;
    *) note "others can reach ${TOMBOLO_HOST:-}, so that development mode is off" ;;
esac
TICKETS_URL="$("$CLUSTER" url tombolo_tickets)"
ADMIN_URL="$("$CLUSTER" url tombolo_admin)"
GATEWAY_URL="$("$CLUSTER" url tombolo_gateway)"

DATABASE_STATUS="$("$CLUSTER" status)"
DATABASE_PID="$(sed -n 's/^state .* pid \([0-9]*\),.*/\1/p' <<<"$DATABASE_STATUS")"
DATABASE_LOG="$(sed -n 's/^log *//p' <<<"$DATABASE_STATUS")"
LOGS="$DIR/logs"
mkdir -p "$LOGS"

# Runs all programs until the whole process group gets a signal, or one of them ends by itself.
# shellcheck disable=SC2317  # run_child calls it
platform() {
    trap 'SERVICES_STOPPED=yes' INT TERM HUP
    watch_daemon PostgreSQL "$DATABASE_PID" "$DATABASE_LOG"
    start_service ticket-api "$LOGS/ticket-api.log" env TOMBOLO_DATABASE_URL="$TICKETS_URL" \
        TOMBOLO_LOG_LEVEL="${TOMBOLO_LOG_LEVEL:-notice}" "$bin/ticket-api"
    if [ "$DEVELOPMENT" = yes ]; then
        start_service tombolo "$LOGS/tombolo.log" "$bin/tombolo" --notes "$NOTES_FILE" --development
    else
        start_service admin-server "$LOGS/admin-server.log" env TOMBOLO_DATABASE_URL="$ADMIN_URL" "$bin/admin-server"
        cat "$NOTES_FILE"
        start_service sync-gateway "$LOGS/sync-gateway.log" env TOMBOLO_DATABASE_URL="$GATEWAY_URL" "$bin/sync-gateway"
    fi
    watch_services
}

say "Running; press Ctrl-C to stop"
note "data      $DIR"
note "logs      $LOGS"
note "database  $DEV_SCRIPTS/cluster.sh psql   (in another terminal; or: make psql)"
run_child platform
if [ "$CHILD_STOPPED" = 1 ]; then
    say "Stopped"
    # Being stopped is the normal end; 137 means that it had to be killed.
    if [ "$CHILD_STATUS" -ne 137 ]; then exit 0; fi
fi
exit "$CHILD_STATUS"
