#!/usr/bin/env bash
# The project's own PostgreSQL cluster, for development.
#
#   cluster.sh start              creates the cluster if there is none, and starts it
#   cluster.sh stop               stops it; does nothing if it isn't running
#   cluster.sh status             shows the state; exit code 0 if it runs, 3 if not
#   cluster.sh url [ROLE]         prints the connection URL of ROLE (default: tombolo)
#   cluster.sh psql [--as-service ROLE] [ARGUMENT…]
#                                 opens psql as tombolo, the owner, or as another role: tombolo_app is an ordinary
#                                 service's role; tombolo_gateway, tombolo_admin and tombolo_tickets are the servers'
#   cluster.sh dir                prints the cluster's folder
#   cluster.sh remove             stops it and deletes that folder
#
# Where: .dev/ in the clone. PostgreSQL refuses to run as root, so when root starts it, the server runs as the user
# `postgres`, in /var/lib/tombolo-dev-<hash of the clone's path>, because that user may not be able to enter the clone.
#
#   TOMBOLO_DEV_DIR   another folder
#   TOMBOLO_PG_PORT   also listen on this TCP port of 127.0.0.1; without it, the server has only a Unix socket
#   TOMBOLO_PG_BIN    the folder of initdb, pg_ctl, postgres and psql, if the newest version found isn't the right one
#   TOMBOLO_PG_USER   the user that the server runs as if root starts it (default: postgres)
#
# Access: the owner and the roles of services and servers log in with random passwords. These are in `pgpass` in that
# folder, which only the user who started the cluster can read; URLs refer to that file and contain no secret. The
# superuser can log in only through the socket, and only as the system user that owns the cluster's files. The owner
# can't create roles. The roles are created here, and the migration gives them their rights.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

# Settings for another PostgreSQL server must not affect this one.
for name in "${!PG@}"; do unset "$name"; done
umask 022

DATABASE=tombolo
OWNER=tombolo
SERVICE=tombolo_app
# The roles that can log in, the owner first.
ROLES=("$OWNER" "$SERVICE" tombolo_gateway tombolo_admin tombolo_tickets)
SOCKET_PATH_LIMIT=107
START_TIMEOUT=60
STOP_TIMEOUT=60
LOG_LIMIT=10000000

path_hash() { printf '%s' "$1" | { sha256sum 2>/dev/null || shasum -a 256; } | cut -c 1-10; }

if [ -n "${TOMBOLO_DEV_DIR:-}" ]; then
    DIR="$TOMBOLO_DEV_DIR"
    case "$DIR" in /*) ;; *) DIR="$PWD/$DIR" ;; esac
elif is_root; then
    DIR="/var/lib/tombolo-dev-$(path_hash "$TOMBOLO_ROOT")"
else
    DIR="$TOMBOLO_ROOT/.dev"
fi
DIR="${DIR%/}"

if is_root; then CLUSTER_USER="${TOMBOLO_PG_USER:-postgres}"; else CLUSTER_USER="$(id -un)"; fi

HOME_DIR="$DIR/pg"      # belongs to the cluster's user
DATA="$HOME_DIR/data"
LOG="$HOME_DIR/server.log"
READY="$DATA/tombolo.ready" # written last; a cluster without it is incomplete
MARKER="$DIR/.tombolo-dev"  # marks a folder created by this script, so that `remove` may delete it
PASSFILE="$DIR/pgpass"
PORT="${TOMBOLO_PG_PORT:-5432}" # without TCP, it's only part of the socket's name

SOCKET_DIR="$HOME_DIR/run"
if [ "$(printf '%s/.s.PGSQL.%s' "$SOCKET_DIR" "$PORT" | wc -c)" -gt "$SOCKET_PATH_LIMIT" ]; then
    # The clone's path is too long for a socket, so use a short one.
    SOCKET_DIR="/tmp/tombolo-$(id -u "$CLUSTER_USER" 2>/dev/null || echo x)-$(path_hash "$DIR")"
fi

# Runs a command as the user that owns the cluster, in a folder that this user can enter.
# The server must not inherit descriptor 9, the lock, or it would hold the lock for as long as it runs.
as_cluster_user() {
    if is_root; then
        (cd / && exec setpriv --reuid="$CLUSTER_USER" --regid="$(id -g "$CLUSTER_USER")" --init-groups \
            env -u SUDO_USER HOME="$HOME_DIR" LC_ALL=C "$@" 9>&-)
    else
        (cd / && exec env LC_ALL=C "$@" 9>&-)
    fi
}

# superuser_sql DATABASE: runs the SQL on stdin.
superuser_sql() {
    as_cluster_user "$PSQL" -X -q -At -v ON_ERROR_STOP=1 -h "$SOCKET_DIR" -p "$PORT" -U postgres -d "$1" -f -
}

exists() { as_cluster_user test -e "$1"; }

url_encode() {
    local LC_ALL=C text="$1" out='' character index
    for ((index = 0; index < ${#text}; index++)); do
        character="${text:index:1}"
        case "$character" in
            [A-Za-z0-9._~-]) out+="$character" ;;
            *) out+="$(printf '%%%02X' "'$character" | sed 's/%F*\(..\)$/%\1/')" ;;
        esac
    done
    printf '%s\n' "$out"
}

# ---------------------------------------------------------------------------------------------------------- folders

check_user() {
    is_root || return 0
    id "$CLUSTER_USER" >/dev/null 2>&1 ||
        fail "there's no system user '$CLUSTER_USER', and PostgreSQL doesn't run as root." \
            "Run 'make install' (Debian's postgresql package creates that user), or name another in TOMBOLO_PG_USER."
    [ "$(id -u "$CLUSTER_USER")" -ne 0 ] ||
        fail "TOMBOLO_PG_USER is '$CLUSTER_USER', which is root; PostgreSQL doesn't run as root."
}

make_folders() {
    local parent
    if [ -n "${TOMBOLO_DEV_DIR:-}" ] && [ -d "$DIR" ] && [ ! -e "$MARKER" ] && [ -n "$(ls -A "$DIR")" ]; then
        fail "TOMBOLO_DEV_DIR is $DIR, which has other files." "Name an empty folder, or one that doesn't exist yet."
    fi
    mkdir -p "$DIR" 2>/dev/null ||
        fail "can't create the folder $DIR." "Name one that you can write to: TOMBOLO_DEV_DIR=… make up"
    [ -w "$DIR" ] ||
        fail "you can't write to the folder $DIR." "Name one that you can write to: TOMBOLO_DEV_DIR=… make up"
    if is_root; then
        chmod 0711 "$DIR"
        if ! as_cluster_user test -x "$DIR" 2>/dev/null; then
            parent="$DIR"
            while [ "$parent" != / ] && ! as_cluster_user test -x "$parent" 2>/dev/null; do
                BLOCKED="$parent"
                parent="$(dirname "$parent")"
            done
            fail "the server runs as the user $CLUSTER_USER, who can't enter ${BLOCKED:-$DIR}." \
                "Name a folder that everybody can enter: TOMBOLO_DEV_DIR=/var/lib/… (or TMPDIR=/tmp for the demo)"
        fi
        install -d -m 0700 -o "$CLUSTER_USER" -g "$(id -g "$CLUSTER_USER")" "$HOME_DIR"
    else
        chmod 0700 "$DIR"
        [ ! -e "$HOME_DIR" ] || [ -O "$HOME_DIR" ] ||
            fail "$HOME_DIR belongs to another user: someone else's 'make up' made it." \
                "Run it as that user, or name another folder: TOMBOLO_DEV_DIR=… make up"
        install -d -m 0700 "$HOME_DIR"
    fi
    [ -e "$MARKER" ] || echo "A development cluster of $TOMBOLO_ROOT; see infra/dev/cluster.sh there." >"$MARKER"
}

make_socket_folder() {
    as_cluster_user mkdir -m 0700 "$SOCKET_DIR" 2>/dev/null || true
    # Under /tmp, another user might have created it first.
    as_cluster_user test -d "$SOCKET_DIR" -a -O "$SOCKET_DIR" -a ! -L "$SOCKET_DIR" ||
        fail "the socket's folder $SOCKET_DIR can't be created, or belongs to another user." \
            "Name a development folder with a shorter path: TOMBOLO_DEV_DIR=…"
    as_cluster_user chmod 0700 "$SOCKET_DIR"
}

# ---------------------------------------------------------------------------------------------------------- binaries

# Chooses BIN: the binaries of the data's version, or the newest for a new cluster.
choose_binaries() {
    local found wanted major dir
    found="$(postgres_bindirs)"
    [ -n "$found" ] ||
        fail "there's no PostgreSQL server${TOMBOLO_PG_BIN:+ in $TOMBOLO_PG_BIN} (initdb, pg_ctl and postgres)." \
            "Run 'make install', or name the folder of its programs in TOMBOLO_PG_BIN."
    BIN=''
    if [ -d "$HOME_DIR" ] && exists "$READY" && exists "$DATA/PG_VERSION"; then
        wanted="$(as_cluster_user cat "$DATA/PG_VERSION")"
        while read -r major dir; do
            if [ "$major" = "$wanted" ]; then BIN="$dir"; break; fi
        done <<<"$found"
        [ -n "$BIN" ] ||
            fail "the data in $DATA was created by PostgreSQL $wanted;" \
                "installed is $(awk '{print $1}' <<<"$found" | paste -sd ' ' -), which cannot read them." \
                "Either install PostgreSQL $wanted again (apt-get install postgresql-$wanted)," \
                "or put the data aside and start empty: mv $DATA $DATA.$wanted"
    else
        read -r major BIN <<<"$found"
        [ "$major" -ge "$POSTGRES_MINIMUM" ] ||
            fail "the newest PostgreSQL here is $major; Tombolo needs $POSTGRES_MINIMUM or later."
    fi
    PSQL="$BIN/psql"
    [ -x "$PSQL" ] || PSQL="$(command -v psql)" || fail "there's no psql; run 'make install'."
}

# ---------------------------------------------------------------------------------------------------------- processes

# The pid in postmaster.pid, if that process is alive and is this cluster's server.
server_pid() {
    local pid
    [ -d "$HOME_DIR" ] || return 1
    pid="$(as_cluster_user head -n 1 "$DATA/postmaster.pid" 2>/dev/null)" || return 1
    case "$pid" in '' | *[!0-9]*) return 1 ;; esac
    if [ -d /proc/self ]; then
        is_ours "$pid" || return 1
    else
        kill -0 "$pid" 2>/dev/null || return 1
    fi
    printf '%s\n' "$pid"
}

# Every process of a cluster has the data folder as its working directory.
is_ours() { [ "/proc/$1/cwd" -ef "$DATA" ]; }

processes_of_cluster() {
    local process
    for process in /proc/[0-9]*; do
        if is_ours "${process#/proc/}"; then printf '%s\n' "${process#/proc/}"; fi
    done
}

# Cleans up after the server was killed with -9. Its children exit by themselves. Its lock files may name a pid that
# another process has now, or a zombie, which PostgreSQL mistakes for a running server.
clear_leftovers() {
    local began=$SECONDS left locks=("$DATA/postmaster.pid" "$SOCKET_DIR/.s.PGSQL.$PORT.lock")
    exists "${locks[0]}" || exists "${locks[1]}" || return 0
    [ -d /proc/self ] || return 0
    while left="$(processes_of_cluster | paste -sd ' ' -)" && [ -n "$left" ]; do
        if [ $((SECONDS - began)) -ge 15 ]; then
            fail "the server was killed, but some of its processes are still running: $left" \
                "End them (kill -QUIT $left), then try again."
        fi
        sleep 0.1
    done
    note "the server was not stopped properly last time; PostgreSQL recovers by itself"
    # No process uses the data, and nothing else uses the socket's folder. So the files are stale, whatever they name.
    as_cluster_user rm -f "${locks[@]}"
}

stop_server() { # MODE
    as_cluster_user "$BIN/pg_ctl" stop -D "$DATA" -m "$1" -w -t "$STOP_TIMEOUT" >/dev/null
}

# ---------------------------------------------------------------------------------------------------------- making it

write_file() { as_cluster_user tee "$1" >/dev/null; }

# Written at every start, since the folder and the port may have changed.
write_settings() {
    local listen=''
    if [ -n "${TOMBOLO_PG_PORT:-}" ]; then listen=127.0.0.1; fi
    write_file "$DATA/tombolo.conf" <<SETTINGS
# Written by infra/dev/cluster.sh at every start.
listen_addresses = '$listen'
port = $PORT
unix_socket_directories = '${SOCKET_DIR//"'"/"''"}'
unix_socket_permissions = 0700
max_connections = 200
password_encryption = 'scram-sha-256'
log_line_prefix = '%m [%p] %q%u@%d '
cluster_name = 'tombolo-dev'
SETTINGS
    write_file "$DATA/pg_hba.conf" <<RULES
# Written by infra/dev/cluster.sh at every start.
# type  database  user      address       method
local   all       postgres                peer map=tombolo
local   all       all                     scram-sha-256
host    all       postgres  all           reject
host    all       all       127.0.0.1/32  scram-sha-256
RULES
    write_file "$DATA/pg_ident.conf" <<MAP
# Written by infra/dev/cluster.sh at every start.
tombolo  "$CLUSTER_USER"  postgres
MAP
}

# Creates roles, passwords and the database. Can be repeated, which replaces a lost password file.
make_roles() {
    local role password new="$PASSFILE.new"
    rm -f "$new"
    (umask 077 && for role in "${ROLES[@]}"; do
        password="$(random_hex 24)"
        printf '*:*:*:%s:%s\n' "$role" "$password"
    done >"$new")
    {
        echo "SET log_statement = 'none'; SET log_min_error_statement = 'panic'; SET client_min_messages = 'warning';"
        while IFS=: read -r _ _ _ role password; do
            printf "SELECT 'CREATE ROLE %s' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '%s') \\gexec\n" \
                "$role" "$role"
            printf "ALTER ROLE %s LOGIN NOSUPERUSER PASSWORD '%s';\n" "$role" "$password"
        done <"$new"
        cat <<SQL
-- Otherwise a table that the owner makes without naming a schema would be in the schema of its own name: ours.
ALTER ROLE $OWNER SET search_path = public;
SELECT 'CREATE DATABASE $DATABASE OWNER $OWNER'
    WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = '$DATABASE') \\gexec
SQL
    } | superuser_sql postgres
    superuser_sql "$DATABASE" <<SQL
ALTER SCHEMA public OWNER TO $OWNER;
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SQL
    mv -f "$new" "$PASSFILE"
}

# Whether the password file has all roles. One from an earlier version lacks some.
has_all_passwords() {
    local role
    [ -s "$PASSFILE" ] || return 1
    for role in "${ROLES[@]}"; do
        cut -d : -f 4 "$PASSFILE" | grep -qxF -- "$role" || return 1
    done
}

put_aside_unfinished() {
    local aside why
    if [ ! -d "$HOME_DIR" ] || ! exists "$DATA"; then return 0; fi
    if ! exists "$DATA/PG_VERSION"; then
        why="it has no PG_VERSION"
    elif ! exists "$READY"; then
        why="its setting up was interrupted"
    else
        return 0
    fi
    if server_pid >/dev/null; then stop_server immediate || true; fi
    aside="$DATA.broken-$(date +%Y%m%d-%H%M%S)"
    while exists "$aside"; do aside="${aside}x"; done
    as_cluster_user mv "$DATA" "$aside"
    say "The cluster in $DATA is incomplete or damaged ($why)."
    note "It was moved to $aside"
    note "and a new one is made. Delete that folder when you do not need it."
}

initialise() {
    local began=$SECONDS output locale=C
    say "Creating a PostgreSQL $("$BIN/postgres" --version | sed 's/[^0-9]*\([0-9.]*\).*/\1/') cluster in $DATA"
    if locale -a 2>/dev/null | grep -qix 'C\.utf-\{0,1\}8'; then locale=C.UTF-8; fi
    rm -f "$DIR/sample-loaded" "$PASSFILE"
    output="$(as_cluster_user "$BIN/initdb" -D "$DATA" --username=postgres --encoding=UTF8 --locale="$locale" \
        --auth=reject --data-checksums 2>&1)" || {
        printf '%s\n' "$output" >&2
        fail "initdb failed; its message is above."
    }
    echo "include 'tombolo.conf'" | as_cluster_user tee -a "$DATA/postgresql.conf" >/dev/null
    boot
    make_roles
    as_cluster_user touch "$READY"
    note "made in $((SECONDS - began)) s"
}

# Starts the server, and explains common failures.
boot() {
    local from=0
    if [ -n "${TOMBOLO_PG_PORT:-}" ]; then
        require_port_free TOMBOLO_PG_PORT "$TOMBOLO_PG_PORT" "development PostgreSQL"
    fi
    make_socket_folder
    write_settings
    from="$(as_cluster_user stat -c %s "$LOG" 2>/dev/null || echo 0)"
    if [ "$from" -gt "$LOG_LIMIT" ]; then
        as_cluster_user mv -f "$LOG" "$LOG.1"
        from=0
    fi
    if ! as_cluster_user "$BIN/pg_ctl" start -D "$DATA" -l "$LOG" -w -t "$START_TIMEOUT" >/dev/null 2>&1; then
        printf '%s\n' "The server's log says:" >&2
        as_cluster_user tail -c "+$((from + 1))" "$LOG" 2>/dev/null | tail -n 15 | sed 's/^/    /' >&2 || true
        fail "PostgreSQL didn't start." "The whole log is in $LOG"
    fi
}

# ---------------------------------------------------------------------------------------------------------- commands

start() {
    check_user
    if [ -n "${TOMBOLO_PG_PORT:-}" ]; then require_port_number TOMBOLO_PG_PORT "$TOMBOLO_PG_PORT"; fi
    make_folders
    exec 9>"$DIR/lock"
    if command -v flock >/dev/null; then
        flock -w 120 9 || fail "another start or stop of this cluster has been running for two minutes." \
            "Look for it with: ps aux | grep cluster.sh"
    fi
    choose_binaries
    put_aside_unfinished
    if [ -n "$(server_pid || true)" ]; then
        look_up_running
        if [ -n "${TOMBOLO_PG_PORT:-}" ] && { [ "$TOMBOLO_PG_PORT" != "$PORT" ] || ! port_is_taken "$PORT"; }; then
            fail "the cluster is running already, but not on TCP port $TOMBOLO_PG_PORT." \
                "Stop it first: make stop"
        fi
        note "PostgreSQL is running already"
    elif exists "$DATA"; then
        clear_leftovers
        boot
        note "PostgreSQL started"
    else
        initialise
    fi
    if ! has_all_passwords; then
        note "the password file was missing or lacks a role; giving all roles new passwords"
        make_roles
    fi
    exec 9>&-
}

stop() {
    if [ ! -d "$HOME_DIR" ]; then
        note "there is no cluster in $DIR"
        return 0
    fi
    check_user
    if [ -z "$(server_pid || true)" ]; then
        note "PostgreSQL is not running"
        return 0
    fi
    choose_binaries
    exec 9>"$DIR/lock"
    if command -v flock >/dev/null; then flock -w 120 9 || true; fi
    stop_server fast ||
        fail "PostgreSQL didn't stop within $STOP_TIMEOUT s." \
            "Its log is in $LOG; as a last resort: kill -QUIT $(server_pid)"
    exec 9>&-
    note "PostgreSQL stopped"
}

status() {
    local pid listening
    printf 'folder   %s\n' "$DIR"
    if [ ! -d "$HOME_DIR" ] || ! exists "$READY"; then
        printf 'state    no cluster yet\n'
        return 3
    fi
    printf 'version  %s\n' "$(as_cluster_user cat "$DATA/PG_VERSION" 2>/dev/null || echo '?')"
    printf 'log      %s\n' "$LOG"
    if pid="$(server_pid)"; then
        printf 'state    running, pid %s, user %s\n' "$pid" "$CLUSTER_USER"
        look_up_running
        printf 'socket   %s/.s.PGSQL.%s\n' "$SOCKET_DIR" "$PORT"
        listening="$(as_cluster_user sed -n "s/^listen_addresses = '\(..*\)'/\1:$PORT/p" "$DATA/tombolo.conf")"
        printf 'tcp      %s\n' "${listening:-no}"
        return 0
    fi
    printf 'state    stopped\n'
    return 3
}

require_role() {
    [ -s "$PASSFILE" ] || fail "there's no cluster in $DIR yet." "Create it with: infra/dev/cluster.sh start"
    cut -d : -f 4 "$PASSFILE" | grep -qxF -- "$1" ||
        fail "there's no password for the role '$1'; there are passwords for: $(cut -d : -f 4 "$PASSFILE" | paste -sd ' ' -)" \
            "For a role of your own, add a line to $PASSFILE:" "*:*:*:ROLE:PASSWORD"
}

# A running server may have been started with another port than this shell's.
look_up_running() {
    local place
    server_pid >/dev/null || return 1
    place="$(as_cluster_user sed -n '4p;5p' "$DATA/postmaster.pid")"
    PORT="$(head -n 1 <<<"$place")"
    SOCKET_DIR="$(tail -n 1 <<<"$place")"
}

url() {
    require_role "$1"
    look_up_running || true
    printf 'postgresql://%s@/%s?host=%s&port=%s&passfile=%s\n' \
        "$(url_encode "$1")" "$DATABASE" "$(url_encode "$SOCKET_DIR")" "$PORT" "$(url_encode "$PASSFILE")"
}

open_psql() {
    local role="$OWNER" address
    if [ "${1:-}" = --as-service ]; then
        role="$SERVICE"
        shift
        if [ $# -gt 0 ] && [ "${1#-}" = "$1" ]; then
            role="$1"
            shift
        fi
    fi
    require_role "$role"
    [ -n "$(server_pid || true)" ] || fail "PostgreSQL isn't running." \
        "Start everything with 'make up', or only the database with: infra/dev/cluster.sh start"
    choose_binaries
    address="$(url "$role")"
    exec "$PSQL" "$address" "$@"
}

remove() {
    [ -e "$DIR" ] || return 0
    [ -e "$MARKER" ] || fail "$DIR wasn't created by this script, so it was left alone."
    if [ -n "$(server_pid || true)" ]; then
        choose_binaries
        stop_server immediate || true
    fi
    if [ "$SOCKET_DIR" != "$HOME_DIR/run" ]; then as_cluster_user rm -rf "$SOCKET_DIR"; fi
    # The marker goes last, so that an interrupted removal can be repeated.
    rm -rf "$HOME_DIR"
    rm -rf "$DIR"
}

usage() { sed -n '2,/^$/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; }

command="${1:-}"
if [ $# -gt 0 ]; then shift; fi
case "$command" in
    start | stop | status | remove) "$command" ;;
    dir) printf '%s\n' "$DIR" ;;
    url) url "${1:-$OWNER}" ;;
    psql) open_psql "$@" ;;
    help | -h | --help) usage ;;
    *)
        usage
        exit 2
        ;;
esac
