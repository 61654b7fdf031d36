# shellcheck shell=bash disable=SC2034
# Helpers that the scripts in this folder share. Source it; it does nothing by itself.

set -euo pipefail

# The clone's folder with links resolved, so that a clone has only one name.
TOMBOLO_ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
DEV_SCRIPTS="$TOMBOLO_ROOT/infra/dev"
SWIFT_MINIMUM=6.2
POSTGRES_MINIMUM=14

if [ -t 2 ]; then
    BOLD=$'\e[1m' RED=$'\e[31m' PLAIN=$'\e[0m'
else
    BOLD='' RED='' PLAIN=''
fi

# All messages go to stderr; stdout is for results (`cluster.sh url`).
say() { printf '%s==>%s %s\n' "$BOLD" "$PLAIN" "$*" >&2; }
note() { printf '    %s\n' "$*" >&2; }
fail() {
    printf '%serror:%s %s\n' "$RED" "$PLAIN" "$1" >&2
    shift
    local line
    for line in "$@"; do printf '       %s\n' "$line" >&2; done
    exit 1
}

is_root() { [ "$(id -u)" -eq 0 ]; }

# version_at_least 6.3.1 6.2
version_at_least() {
    local have_major have_minor want_major want_minor
    IFS=. read -r have_major have_minor _ <<<"$1.0.0"
    IFS=. read -r want_major want_minor _ <<<"$2.0.0"
    [ "$have_major" -gt "$want_major" ] ||
        { [ "$have_major" -eq "$want_major" ] && [ "$have_minor" -ge "$want_minor" ]; }
}

# postgres_major BINDIR: the major version of the server there; fails if there is none.
postgres_major() {
    local text
    [ -x "$1/postgres" ] && [ -x "$1/initdb" ] && [ -x "$1/pg_ctl" ] || return 1
    text="$("$1/postgres" --version 2>/dev/null)" || return 1
    text="${text#*) }"
    text="${text%%[!0-9]*}"
    [ -n "$text" ] && printf '%s\n' "$text"
}

# postgres_bindirs: "MAJOR FOLDER" of every PostgreSQL server found, newest first.
# If TOMBOLO_PG_BIN is set, only that folder is searched.
postgres_bindirs() {
    local dir major
    {
        if [ -n "${TOMBOLO_PG_BIN:-}" ]; then
            printf '%s\n' "$TOMBOLO_PG_BIN"
        else
            ls -d /usr/lib/postgresql/*/bin /usr/pgsql-*/bin /opt/homebrew/opt/postgresql@*/bin 2>/dev/null || true
            pg_config --bindir 2>/dev/null || true
        fi
    } | while read -r dir; do
        if major="$(postgres_major "$dir")"; then printf '%s %s\n' "$major" "$dir"; fi
    done | sort -rn -u
}

# random_hex BYTES
random_hex() { od -An -v -N"$1" -tx1 /dev/urandom | tr -d ' \n'; }

# listening_inode PORT: the inode of the socket (Linux) that listens on TCP PORT; fails if there is none.
listening_inode() {
    local hex
    hex="$(printf '%04X' "$1")"
    awk -v port=":$hex" '$4 == "0A" && substr($2, length($2) - 4) == port { print $10; found = 1; exit }
        END { exit !found }' /proc/net/tcp /proc/net/tcp6 2>/dev/null
}

port_is_taken() {
    if [ -r /proc/net/tcp ]; then
        listening_inode "$1" >/dev/null
    else
        (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
    fi
}

# port_owner PORT: "name (pid 123)", or why the owner isn't known.
port_owner() {
    local inode link pid
    if [ -r /proc/net/tcp ] && inode="$(listening_inode "$1")"; then
        link="$(find /proc/[0-9]*/fd -lname "socket:\[$inode\]" -print -quit 2>/dev/null || true)"
        if [ -n "$link" ]; then
            pid="${link#/proc/}"
            pid="${pid%%/*}"
            printf '%s (pid %s)\n' "$(cat "/proc/$pid/comm" 2>/dev/null || echo '?')" "$pid"
            return
        fi
    elif command -v lsof >/dev/null; then
        pid="$(lsof -nP -t -iTCP:"$1" -sTCP:LISTEN 2>/dev/null | head -n 1 || true)"
        if [ -n "$pid" ]; then
            printf '%s (pid %s)\n' "$(ps -o comm= -p "$pid")" "$pid"
            return
        fi
    fi
    printf 'a process of another user\n'
}

# require_port_number NAME VALUE
require_port_number() {
    case "$2" in
        '' | *[!0-9]* | ??????*) ;;
        *) if [ "$((10#$2))" -ge 1 ] && [ "$((10#$2))" -le 65535 ]; then return; fi ;;
    esac
    fail "$1 is '$2', which isn't a port number." "Set it to a number from 1 to 65535, or leave it unset."
}

# require_port_free VARIABLE PORT PURPOSE
require_port_free() {
    require_port_number "$1" "$2"
    port_is_taken "$2" || return 0
    fail "port $2 for the $3 is in use by $(port_owner "$2")." \
        "Stop that process, or choose another port: $1=$(($2 + 100)) make ${TOMBOLO_MAKE_TARGET:-up}"
}

# release_flags: what `swift build -c release` gets. Where the toolchain has Swift's libraries as static ones (Linux), they
# are linked into the programs, which then run on machines without Swift, and use about a fifth less CPU.
release_flags() {
    local runtime
    runtime="$(swift -print-target-info 2>/dev/null | sed -n 's/.*"runtimeResourcePath": "\(.*\)".*/\1/p')"
    if [ -e "${runtime}_static/linux/libFoundation.a" ]; then printf '%s\n' --static-swift-stdlib; fi
}

# products_folder: the folder in which `swift build` puts executables.
products_folder() {
    (cd "$TOMBOLO_ROOT" && swift build -c "${TOMBOLO_CONFIGURATION:-debug}" --show-bin-path)
}

build_products() {
    local configuration="${TOMBOLO_CONFIGURATION:-debug}"
    case "$configuration" in
        debug | release) ;;
        *) fail "TOMBOLO_CONFIGURATION is '$configuration'; it must be debug or release." ;;
    esac
    local flags=""
    if [ "$configuration" = release ]; then flags="$(release_flags)"; fi
    say "Building ($configuration); the first time takes some minutes"
    # shellcheck disable=SC2086  # no flag has a blank
    (cd "$TOMBOLO_ROOT" && swift build -c "$configuration" $flags >&2) ||
        fail "the build failed; the compiler's messages are above."
}

# require_product NAME: prints the executable's path.
require_product() {
    local path
    path="$(products_folder)/$1"
    [ -x "$path" ] || fail "the build has no executable '$1' (expected at $path)."
    printf '%s\n' "$path"
}

# run_child COMMAND…: runs the command in its own process group. When this script is told to stop (Ctrl-C, SIGTERM,
# SIGHUP), it sends the child one SIGTERM, so that the child is told exactly once, whoever sent the signal. Kills the
# child if it hasn't stopped after CHILD_GRACE seconds. Sets CHILD_STATUS, and CHILD_STOPPED=1 if a signal ended the run.
CHILD_GRACE="${CHILD_GRACE:-20}"
CHILD_STATUS=0
CHILD_STOPPED=0
run_child() {
    local child began=-1
    CHILD_STATUS=0
    CHILD_STOPPED=0
    set -m
    "$@" </dev/null &
    child=$!
    set +m
    # shellcheck disable=SC2064  # the pid is meant to be expanded now
    trap "CHILD_STOPPED=1; kill -TERM -- -$child 2>/dev/null || true" INT TERM HUP
    # A signal ends `wait` early.
    wait "$child" || CHILD_STATUS=$?
    if [ "$CHILD_STOPPED" = 1 ]; then
        began=$SECONDS
        while kill -0 "$child" 2>/dev/null; do
            if [ $((SECONDS - began)) -ge "$CHILD_GRACE" ]; then
                note "it did not stop within $CHILD_GRACE s; killing it"
                kill -KILL -- "-$child" 2>/dev/null || true
            fi
            sleep 0.1
        done
        CHILD_STATUS=0
        wait "$child" || CHILD_STATUS=$?
    fi
    # End any processes that it left behind.
    kill -TERM -- "-$child" 2>/dev/null || true
    trap - INT TERM HUP
}

# Programs that run concurrently until this shell is told to stop (its trap then sets SERVICES_STOPPED=yes) or one of
# them ends by itself. Daemons are watched too, but neither stopped nor waited for.
SERVICE_NAMES=()
SERVICE_PIDS=()
SERVICE_LOGS=()
SERVICE_KINDS=()
SERVICES_STOPPED=no
# How many seconds to wait for a service's last output.
SERVICE_LOG_PATIENCE="${SERVICE_LOG_PATIENCE:-3}"

# watch_daemon NAME PID LOG
watch_daemon() {
    SERVICE_NAMES+=("$1")
    SERVICE_PIDS+=("$2")
    SERVICE_LOGS+=("$3")
    SERVICE_KINDS+=("${4:-daemon}")
}

# start_service NAME LOG COMMAND…: shows the service's output, and keeps it in LOG.
start_service() {
    local name="$1" log="$2"
    shift 2
    rm -f "$log.whole"
    (umask 077 && : >"$log")
    # `tee` ignores signals, so that it also shows what the service prints while stopping.
    "$@" > >(trap '' INT TERM HUP; tee "$log" && : >"$log.whole") 2>&1 &
    watch_daemon "$name" "$!" "$log" child
}

# pause SECONDS: sleeps even if the whole process group gets a signal, and without a message from the shell.
pause() { (trap '' INT TERM HUP && exec sleep "$1"); }

# describe_status STATUS: describes how a program ended.
describe_status() {
    local signal
    if [ "$1" -gt 128 ] && signal="$(kill -l "$(($1 - 128))" 2>/dev/null)"; then
        printf 'killed by SIG%s' "$signal"
        if [ "$signal" = KILL ]; then printf '; the system does that when it runs out of memory'; fi
    else
        printf 'exit status %s' "$1"
    fi
}

# report_end INDEX STATUS: reports that a service ended by itself, with its last output.
report_end() {
    local log="${SERVICE_LOGS[$1]}" how='' began=$SECONDS
    if [ "${SERVICE_KINDS[$1]}" = child ]; then
        how=" ($(describe_status "$2"))"
        # A process that it left behind may keep the log open forever.
        while [ ! -e "$log.whole" ] && [ $((SECONDS - began)) -lt "$SERVICE_LOG_PATIENCE" ]; do pause 0.1; done
    fi
    printf '%serror:%s %s ended by itself%s. Its last output:\n\n' "$RED" "$PLAIN" "${SERVICE_NAMES[$1]}" "$how" >&2
    tail -n 20 "$log" 2>/dev/null | sed 's/^/    /' >&2 || true
    printf '\n       The whole output is in %s\n' "$log" >&2
    printf '       Stopping everything else. Once that is fixed, start it again: make %s\n' \
        "${TOMBOLO_MAKE_TARGET:-up}" >&2
}

# watch_services: returns once all services started by start_service have ended. If one of them, or a daemon, ends by
# itself, it reports that and stops the others. The status is then that service's, but never 0.
watch_services() {
    local index ended='' status=0
    while [ "$SERVICES_STOPPED" = no ] && [ -z "$ended" ]; do
        for index in "${!SERVICE_PIDS[@]}"; do
            kill -0 "${SERVICE_PIDS[index]}" 2>/dev/null || ended="$index"
        done
        # Suppress the shell's own message about a killed service, here and where it's waited for.
        if [ -z "$ended" ]; then { pause 0.3; } 2>/dev/null; fi
    done
    if [ "$SERVICES_STOPPED" = no ]; then
        if [ "${SERVICE_KINDS[ended]}" = child ]; then wait "${SERVICE_PIDS[ended]}" 2>/dev/null || status=$?; fi
        report_end "$ended" "$status"
        if [ "$status" -eq 0 ]; then status=1; fi
    fi
    for index in "${!SERVICE_PIDS[@]}"; do
        [ "${SERVICE_KINDS[index]}" = child ] || continue
        if [ "$SERVICES_STOPPED" = no ]; then kill -TERM "${SERVICE_PIDS[index]}" 2>/dev/null || true; fi
        while kill -0 "${SERVICE_PIDS[index]}" 2>/dev/null; do wait "${SERVICE_PIDS[index]}" || true; done
    done
    return "$status"
}
