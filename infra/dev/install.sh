#!/usr/bin/env bash
# Installs missing system packages for building and running Tombolo, on Debian and Ubuntu; elsewhere it lists what is
# needed. Does nothing if everything is installed. Checks the Swift toolchain but doesn't install it. With --browser, it
# also installs Chromium, which only `make screenshots` needs.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PACKAGES=()
REASONS=()
need() { # PACKAGE WHY
    PACKAGES+=("$1")
    REASONS+=("$2")
}
have_command() { command -v "$1" >/dev/null 2>&1; }
# have_library PKG-CONFIG-NAME DEBIAN-PACKAGE
have_library() {
    pkg-config --exists "$1" 2>/dev/null ||
        [ "$(dpkg-query -W -f='${db:Status-Status}' "$2" 2>/dev/null)" = installed ]
}
# Debian's Python, even if another one comes first in PATH.
have_metrics_library() { /usr/bin/python3 -c 'import prometheus_client.parser' 2>/dev/null; }
have_postgres() {
    local major
    read -r major _ < <(postgres_bindirs) || return 1
    [ "$major" -ge "$POSTGRES_MINIMUM" ]
}
have_browser() {
    [ -n "${TOMBOLO_CHROMIUM:-}" ] || have_command chromium-headless-shell || have_command chromium ||
        have_command chromium-browser || have_command google-chrome
}
have_font() { [ -n "$(find /usr/share/fonts -name '*.[to]tf' -print -quit 2>/dev/null)" ]; }
have_venv() { python3 -c 'import ensurepip, venv' 2>/dev/null; }
# The certificates are needed only by `git`, to fetch the Swift packages.
have_certificates() { [ -e /etc/ssl/certs/ca-certificates.crt ] || [ -e /etc/ssl/cert.pem ]; }

have_command make || need make "runs the targets of the Makefile"
have_command git || need git "fetches the Swift packages that the project builds on"
have_certificates || need ca-certificates "lets git check the servers that it fetches from"
have_command pkg-config || need pkg-config "tells the Swift build where libpq and SQLite are"
have_library libpq libpq-dev || need libpq-dev "PostgreSQL's client library, which the servers link"
have_library sqlite3 libsqlite3-dev || need libsqlite3-dev "SQLite's library, which the devices link"
have_command python3 || need python3 "the client of docs/protocol.md, which 'make test-protocol' runs"
have_metrics_library || need python3-prometheus-client "Prometheus's own parser, with which the tests read the metrics"
have_command sqlite3 || need sqlite3 "the demo shows the devices' files with it"
have_command openssl || need openssl "makes the certificates of the tests"
PATH="$PATH:/usr/sbin" have_command haproxy || need haproxy "stands before the gateways in the tests"
PATH="$PATH:/usr/sbin" have_command pgbouncer || need pgbouncer "stands before PostgreSQL in the tests"
have_command vipsthumbnail || need libvips-tools "makes thumbnails of images for the panel, which the tests look at"
have_command redis-server || need redis-server "carries ticks in the tests"
have_postgres || need postgresql "the database server, $POSTGRES_MINIMUM or later; the project runs its own cluster"
if [ "${1:-}" = --browser ]; then
    have_browser || need chromium-headless-shell "walks the panel for 'make screenshots'"
    have_font || need fonts-dejavu-core "letters for its pictures"
    have_venv || need python3-venv "takes axe-core from PyPI, which judges its pages"
fi
have_command psql || need postgresql-client "psql, with which the demo and 'make psql' look into the database"

on_debian() { have_command apt-get && have_command dpkg-query; }

list_needs() {
    local index
    for index in "${!PACKAGES[@]}"; do printf '    %-18s %s\n' "${PACKAGES[index]}" "${REASONS[index]}" >&2; done
}

# Sets AS_ROOT to the prefix for commands that only root may run.
find_root() {
    AS_ROOT=()
    if is_root; then return; fi
    have_command sudo ||
        fail "the packages above are missing, you aren't root, and there's no sudo." \
            "As root: apt-get install ${PACKAGES[*]}"
    if [ "${CI:-}" != true ] && [ -t 0 ]; then
        AS_ROOT=(sudo)
        note "sudo may ask for your password"
    else
        AS_ROOT=(sudo -n)
        sudo -n true 2>/dev/null ||
            fail "the packages above are missing, and sudo needs a password, but there's no terminal to ask for it." \
                "Install them beforehand: sudo apt-get install ${PACKAGES[*]}"
    fi
}

apt() {
    ${AS_ROOT[@]+"${AS_ROOT[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=120 -q "$@" >&2
}

# Debian's server package creates and starts a cluster on port 5432, which we don't need. This disables that during the
# installation, and restores the machine's setting afterwards.
install_postgres_quietly() {
    local settings=/etc/postgresql-common/createcluster.conf
    if [ -e "$settings" ] && grep -q '^ *create_main_cluster *=' "$settings"; then
        apt install -y --no-install-recommends "$@"
        return
    fi
    apt install -y --no-install-recommends postgresql-common
    # shellcheck disable=SC2064  # expand the current values
    trap "${AS_ROOT[*]-} sed -i '/^create_main_cluster = false  # tombolo/d' $settings" EXIT
    ${AS_ROOT[@]+"${AS_ROOT[@]}"} sh -c \
        "printf 'create_main_cluster = false  # tombolo: only while it installs packages\n' >>'$settings'"
    apt install -y --no-install-recommends "$@"
}

install_missing() {
    local update_failed=''
    say "Missing on this machine; installing with apt-get:"
    list_needs
    find_root
    apt update || update_failed=yes
    if [ -n "$update_failed" ]; then note "apt-get update failed; trying with the existing package lists"; fi
    case " ${PACKAGES[*]} " in
        *" postgresql "*) install_postgres_quietly "${PACKAGES[@]}" ;;
        *) apt install -y --no-install-recommends "${PACKAGES[@]}" ;;
    esac || fail "apt-get couldn't install: ${PACKAGES[*]}" "Its messages are above."
}

# Debian starts the servers that it installs. The tests start their own.
stop_servers() {
    local name
    have_command systemctl || return 0
    for name in haproxy pgbouncer redis-server; do
        case " ${PACKAGES[*]} " in
            *" $name "*) ${AS_ROOT[@]+"${AS_ROOT[@]}"} systemctl disable --now "$name" >&2 || true ;;
        esac
    done
}

if [ "${#PACKAGES[@]}" -gt 0 ]; then
    if on_debian; then
        install_missing
        stop_servers
        hash -r
        have_postgres ||
            fail "the distribution's PostgreSQL is older than $POSTGRES_MINIMUM." \
                "Install a newer one, for example from https://wiki.postgresql.org/wiki/Apt"
    else
        say "This isn't Debian or Ubuntu, so nothing is installed for you. Missing, by their Debian names:"
        list_needs
        fail "install the packages listed above, then try again." \
            "PostgreSQL's programs are looked for in its usual places; TOMBOLO_PG_BIN names another folder."
    fi
fi

have_command swift ||
    fail "there's no Swift toolchain; Tombolo needs Swift $SWIFT_MINIMUM or later." \
        "Install one from https://www.swift.org/install, and make sure that 'swift' is in PATH."
version="$(swift --version 2>&1 | sed -n 's/.*Swift version \([0-9][0-9.]*\).*/\1/p' | head -n 1)"
if [ -z "$version" ]; then
    fail "'swift --version' doesn't print a version; is the toolchain at $(command -v swift) complete?" \
        "It said: $(swift --version 2>&1 | head -n 3)"
fi
version_at_least "$version" "$SWIFT_MINIMUM" ||
    fail "the Swift here is $version ($(command -v swift)); Tombolo needs $SWIFT_MINIMUM or later." \
        "Install one from https://www.swift.org/install, and put it first in PATH."
