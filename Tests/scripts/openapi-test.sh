#!/usr/bin/env bash
# Checks the admin server's API against its own description, with a temporary PostgreSQL and the conference's sample
# data. It validates the description against the meta-schema of OpenAPI 3.1, and every path against the description, with
# requests that schemathesis generates. Run `swift build` first. It downloads two packages from PyPI into a temporary
# folder; to reuse an environment with both, set TOMBOLO_API_VENV. The last line is `api: ok`. Arguments, such as
# --max-examples 500, are passed to schemathesis.
# shellcheck source-path=SCRIPTDIR/../../infra/dev source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../infra/dev/lib.sh"

if [ -z "${API_TEST_INSIDE:-}" ]; then
    for product in conference admin-server; do require_product "$product" >/dev/null; done
    API_TEST_INSIDE=yes exec "$DEV_SCRIPTS/with-cluster.sh" "${BASH_SOURCE[0]}" "$@"
fi

FOLDER="$(mktemp -d "${TMPDIR:-/tmp}/tombolo-api.XXXXXX")"
SERVER=""
# shellcheck disable=SC2317  # the trap below calls it
leave() {
    if [ -n "$SERVER" ]; then kill -TERM "$SERVER" 2>/dev/null || true; fi
    rm -rf "$FOLDER"
}
trap leave EXIT

VENV="${TOMBOLO_API_VENV:-$FOLDER/venv}"
if [ ! -x "$VENV/bin/schemathesis" ]; then
    say "Installing openapi-spec-validator and schemathesis from PyPI"
    python3 -m venv "$VENV"
    "$VENV/bin/pip" install -q 'openapi-spec-validator==0.9.0' 'schemathesis==4.32.5' >&2
fi

bin="$(products_folder)"
cd "$TOMBOLO_ROOT"
say "Loading the sample data"
"$bin/conference" setup >&2
"$bin/conference" sample >&2
EMAIL=super@example.org
PASSWORD="$(random_hex 16)"
echo "$PASSWORD" | "$bin/conference" add-staff "$EMAIL" --role superAdmin --name Super --password-stdin >&2

TOMBOLO_JWT_SECRET="$(random_hex 32)"
export TOMBOLO_JWT_SECRET
mkfifo "$FOLDER/said"
TOMBOLO_DATABASE_URL="$TOMBOLO_ADMIN_DATABASE_URL" TOMBOLO_ADMIN_PORT=0 TOMBOLO_LOG_LEVEL=error \
    "$bin/admin-server" >"$FOLDER/said" &
SERVER=$!
# shellcheck disable=SC2034  # the first word is "admin"
read -r _ URL <"$FOLDER/said"

TOKEN="$(curl -sS --fail-with-body "$URL/login" -H 'Content-Type: application/json' \
    -d "{\"email\": \"$EMAIL\", \"password\": \"$PASSWORD\"}" |
    python3 -c 'import json, sys; print(json.load(sys.stdin)["accessToken"])')"

say "Checking the description against OpenAPI 3.1"
curl -sS --fail-with-body "$URL/api/openapi.json" -H "Authorization: Bearer $TOKEN" >"$FOLDER/openapi.json"
"$VENV/bin/openapi-spec-validator" --schema 3.1 "$FOLDER/openapi.json"

# No schema says which ids exist and which values are unique, so even valid requests may be refused. Requests without a
# token get less, but that depends on the rules and is covered by the test that walks all routes.
say "Checking the server against its description"
# schemathesis leaves files in its working directory.
cd "$FOLDER"
"$VENV/bin/schemathesis" run "$FOLDER/openapi.json" --url "$URL" --header "Authorization: Bearer $TOKEN" \
    --exclude-checks positive_data_acceptance,ignored_auth --phases examples,fuzzing --max-examples 20 --seed 1 \
    --request-timeout 30 --max-failures 20 --no-color "$@"
kill -0 "$SERVER" 2>/dev/null || fail "the admin server exited." "Its messages are above."
echo "api: ok"
