#!/usr/bin/env bash
# Follows docs/first-app.md by reading its text, in an empty folder, with the stock programs and a temporary database
# (`make first-app`). Comments in the page say what to do with a block: `<!-- file: NAME -->` is written to a file,
# `<!-- run -->` is run, `<!-- background -->` runs until the end, `<!-- prints -->` has lines that the previous run must
# print, and `<!-- never prints -->` lines that it must not. The last line of output is `first-app: ok`.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

if [ -z "${FIRST_APP_INSIDE:-}" ]; then
    build_products
    for product in sync-gateway migration-tool; do require_product "$product" >/dev/null; done
    FIRST_APP_INSIDE=yes exec "$DEV_SCRIPTS/with-cluster.sh" "${BASH_SOURCE[0]}"
fi

PAGE="$TOMBOLO_ROOT/docs/first-app.md"
FOLDER="$(mktemp -d "${TMPDIR:-/tmp}/tombolo-first-app.XXXXXX")"
GATEWAY=""
# shellcheck disable=SC2317  # the trap below calls it
leave() {
    if [ -n "$GATEWAY" ]; then kill -TERM "$GATEWAY" 2>/dev/null || true; fi
    rm -rf "$FOLDER"
}
trap leave EXIT

mkdir "$FOLDER/notes"
ln -s "$TOMBOLO_ROOT" "$FOLDER/tombolo"
cd "$FOLDER/notes"
bin="$(products_folder)"
PATH="$bin:$PATH"
TOMBOLO_JWT_SECRET="$(random_hex 32)"
# Any free port, and then the port that the gateway reports.
TOMBOLO_GATEWAY_PORT=0
export PATH TOMBOLO_JWT_SECRET TOMBOLO_GATEWAY_PORT

# block KIND ARGUMENT TEXT: carries out a block of the page.
OUTPUT="$FOLDER/output"
block() {
    local kind="$1" argument="$2" text="$3" line
    case "$kind" in
        "") ;;
        file)
            mkdir -p "$(dirname "$argument")"
            printf '%s' "$text" >"$argument"
            ;;
        background)
            say "$text"
            bash -c "exec $text" >"$FOLDER/gateway.out" 2>"$FOLDER/gateway.err" &
            GATEWAY=$!
            for _ in $(seq 1 600); do
                NOTES_SERVER="$(sed -n 's/^gateway \(http.*\)$/\1/p' "$FOLDER/gateway.out")"
                [ -z "$NOTES_SERVER" ] || break
                kill -0 "$GATEWAY" 2>/dev/null || fail "the gateway exited: $(tail -n 5 "$FOLDER/gateway.err")"
                sleep 0.1
            done
            [ -n "$NOTES_SERVER" ] || fail "the gateway didn't print where it listens."
            export NOTES_SERVER
            ;;
        run)
            say "$text"
            bash -euo pipefail -c "$text" >"$OUTPUT" 2>"$FOLDER/messages" ||
                fail "this failed: $text" "$(tail -n 20 "$FOLDER/messages")"
            cat "$OUTPUT" >&2
            ;;
        prints)
            while IFS= read -r line; do
                grep -qxF -- "$line" "$OUTPUT" || fail "the page says that this prints '$line', but it doesn't."
            done <<<"${text%$'\n'}"
            ;;
        "never prints")
            while IFS= read -r line; do
                if grep -qxF -- "$line" "$OUTPUT"; then fail "it printed '$line', which the page excludes."; fi
            done <<<"${text%$'\n'}"
            ;;
        set) ;;
        *) fail "docs/first-app.md has a block of an unknown kind: $kind" ;;
    esac
}

kind="" argument="" text="" inside=no count=0
while IFS= read -r line <&3; do
    if [ "$inside" = yes ]; then
        if [ "$line" = '```' ]; then
            inside=no
            [ -z "$kind" ] || count=$((count + 1))
            block "$kind" "$argument" "$text"
            kind=""
        else
            text+="$line"$'\n'
        fi
    elif [[ "$line" == '```'* ]]; then
        inside=yes
        text=""
    elif [[ "$line" =~ ^'<!-- '([a-z\ ]+)(': '(.*))?' -->'$ ]]; then
        kind="${BASH_REMATCH[1]}"
        argument="${BASH_REMATCH[3]}"
    fi
done 3<"$PAGE"
[ "$count" -ge 10 ] || fail "docs/first-app.md has only $count blocks that this script understands."
printf 'first-app: ok\n'
