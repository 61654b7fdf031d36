#!/usr/bin/env bash
# Uses the admin server's panel in a headless Chromium, by mouse and then only by keyboard, on sample data in a temporary
# PostgreSQL: a conference of 200 sessions, 5,000 users, and 48,213 homes of another app. The server is the event
# platform's, with its own page and fields, and a device is connected to a gateway. Some pages are also shown in German
# and from right to left. Pictures and axe-core's findings go to .build/screenshots. Run `swift build` first. Downloads
# axe-core's script from PyPI. Ends with the counts.
#
#   TOMBOLO_CHROMIUM  the browser to use instead of Debian's

# shellcheck source-path=SCRIPTDIR/../../infra/dev source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../infra/dev/lib.sh"

# In seconds, for the whole script. Each step has its own limits.
LIMIT=1200

if [ -z "${SCREENSHOTS_INSIDE:-}" ]; then
    for product in conference conference-admin migration-tool sync-gateway demo-device; do require_product "$product" >/dev/null; done
    SCREENSHOTS_INSIDE=yes exec timeout -k 30 "$LIMIT" "$DEV_SCRIPTS/with-cluster.sh" "${BASH_SOURCE[0]}" "$@"
fi

SERVER=""
GATEWAY=""
DEVICE=""
SAID_FOLDER="$(mktemp -d "${TMPDIR:-/tmp}/tombolo-screenshots.XXXXXX")"
SAID="$SAID_FOLDER/said"
# shellcheck disable=SC2317  # the trap below calls it
leave() {
    local process
    for process in $DEVICE $SERVER $GATEWAY; do kill -TERM "$process" 2>/dev/null || true; done
    rm -rf "$SAID_FOLDER"
}
trap leave EXIT

cd "$TOMBOLO_ROOT"
bin="$(products_folder)"
PICTURES="$TOMBOLO_ROOT/.build/screenshots"
rm -rf "$PICTURES"
mkdir -p "$PICTURES"

CHROMIUM="${TOMBOLO_CHROMIUM:-}"
for name in chromium-headless-shell chromium chromium-browser google-chrome; do
    [ -n "$CHROMIUM" ] || CHROMIUM="$(command -v "$name" || true)"
done
[ -n "$CHROMIUM" ] || fail "there's no Chromium." "Install it: infra/dev/install.sh --browser"

# Only the package's copy of axe-core is needed, so the browser automation that it depends on isn't installed.
AXE_PACKAGE=axe-playwright-python
AXE_VERSION=0.1.8
TOOLS="$TOMBOLO_ROOT/.build/screenshots-tools/$AXE_VERSION"
if [ ! -s "$TOOLS/axe.min.js" ]; then
    say "Installing axe-core from PyPI ($AXE_PACKAGE $AXE_VERSION)"
    rm -rf "$TOOLS"
    mkdir -p "$TOOLS"
    python3 -m venv "$TOOLS/venv"
    "$TOOLS/venv/bin/pip" install -q --no-deps --disable-pip-version-check "$AXE_PACKAGE==$AXE_VERSION" >&2
    cp "$TOOLS"/venv/lib/python3*/site-packages/axe_playwright_python/axe.min.js "$TOOLS/axe.min.js.new"
    rm -rf "$TOOLS/venv"
    mv "$TOOLS/axe.min.js.new" "$TOOLS/axe.min.js"
fi

say "Loading the sample data"
EXAMPLE=Apps/Examples/Listings
"$bin/conference" setup >&2
"$bin/migration-tool" apply --models "$EXAMPLE/listings.models.json" --rules "$EXAMPLE/listings.rules.yaml" >&2
"$bin/conference" sample --large --export Apps/Conference/Tool/Samples/TideConf >&2
PGOPTIONS=--client-min-messages=warning psql -q -v ON_ERROR_STOP=1 "$TOMBOLO_DATABASE_URL" \
    -f "$EXAMPLE/sample.sql" -f "$EXAMPLE/sample-large.sql" -c "ANALYZE listing, users, session, speaker, tombolo.account" >&2
"$bin/migration-tool" user set-data super@example.org '{"isAgent": true}' >&2

# A read-only database user for the panel's SQL page.
sql_password="$(random_hex 16)"
# shellcheck disable=SC2001  # only up to the first @
sql_url="$(sed "s|//[^@]*@|//panel_sql:$sql_password@|" <<<"$TOMBOLO_ADMIN_DATABASE_URL")"
if psql -q -v ON_ERROR_STOP=1 "$TOMBOLO_DATABASE_URL" -c "CREATE ROLE panel_sql LOGIN PASSWORD '$sql_password'" \
    -c "GRANT SELECT ON event, session, speaker TO panel_sql" >&2; then
    export SCREENSHOTS_SQL=yes
else
    note "The database's owner can't create users: skipping the SQL page."
    sql_url=""
fi

say "Starting a gateway and the admin server"
TOMBOLO_JWT_SECRET="$(random_hex 32)"
export TOMBOLO_JWT_SECRET
mkfifo "$SAID" "$SAID.gateway" "$SAID.device"
TOMBOLO_DATABASE_URL="$TOMBOLO_GATEWAY_DATABASE_URL" TOMBOLO_GATEWAY_PORT=0 TOMBOLO_LOG_LEVEL=warning \
    "$bin/sync-gateway" >"$SAID.gateway" &
GATEWAY=$!
# The first word is "gateway".
read -r -t 60 _ GATEWAY_URL <"$SAID.gateway" || fail "the gateway doesn't print where it listens." "Its messages are above."
# It makes one backup at its start. The owner reads everything, and may not restore: the page says what is missing.
(umask 077 && mkdir "$SAID_FOLDER/backups")
owner_url="$TOMBOLO_DATABASE_URL"
TOMBOLO_BACKUPS="$SAID_FOLDER/backups" TOMBOLO_BACKUP_URL="$owner_url" \
    TOMBOLO_RESTORE_URL="$(sed -E 's|/[^/?]+[?]|/postgres?|' <<<"$owner_url")" \
    TOMBOLO_MIGRATION_URL="$owner_url" TOMBOLO_DATABASE_URL="$TOMBOLO_ADMIN_DATABASE_URL" \
    TOMBOLO_SQL_URL="$sql_url" TOMBOLO_TRANSLATIONS="$TOMBOLO_ROOT/Tests/Panel/translations" TOMBOLO_ADMIN_PORT=0 \
    TOMBOLO_LOG_LEVEL=warning "$bin/conference-admin" >"$SAID" &
SERVER=$!
# The first word is "admin".
read -r -t 60 _ URL <"$SAID" || fail "the admin server doesn't print where it listens." "Its messages are above."

say "Connecting a device"
: >"$SAID_FOLDER/answers"
"$bin/demo-device" "$SAID_FOLDER/device.realm" <"$SAID.device" >"$SAID_FOLDER/answers" &
DEVICE=$!
# The device ends when this descriptor is closed, that is, with this script.
exec 9>"$SAID.device"
printf 'login\t%s\torganizer@example.org\torganizer-demo\nsubscribe-homes\n' "$GATEWAY_URL" >&9
for _ in $(seq 300); do
    if [ "$(grep -c '^[=!]' "$SAID_FOLDER/answers")" -ge 2 ]; then break; fi
    sleep 0.2
done
[ "$(grep -c '^=' "$SAID_FOLDER/answers")" -ge 2 ] ||
    fail "the device doesn't synchronise: $(tail -n 3 "$SAID_FOLDER/answers")" "The gateway's messages are above."

say "Walking the panel with $("$CHROMIUM" --version 2>/dev/null || echo "$CHROMIUM")"
export PYTHONDONTWRITEBYTECODE=1
status=0
python3 "$TOMBOLO_ROOT/Tests/Panel/screenshots.py" "$URL" "$PICTURES" "$TOOLS/axe.min.js" "$CHROMIUM" "$@" || status=$?
kill -0 "$GATEWAY" 2>/dev/null || fail "the gateway exited." "Its messages are above."
kill -0 "$SERVER" 2>/dev/null || fail "the admin server exited." "Its messages are above."
exit "$status"
