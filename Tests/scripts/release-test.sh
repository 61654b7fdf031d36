#!/usr/bin/env bash
# Tests the programs of `make release`, which runs first: that they start without Swift's libraries, and that the product
# works when it's built this way (classes are found in a program's own sections, whose place depends on how it's linked).
# The last line is `release: ok`.

# shellcheck source-path=SCRIPTDIR/../../infra/dev source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/../../infra/dev/lib.sh"

FOLDER="$TOMBOLO_ROOT/.build/programs"
COPY="$(mktemp -d "${TMPDIR:-/tmp}/tombolo-release.XXXXXX")"
trap 'rm -rf "$COPY"' EXIT
cp -R "$FOLDER/." "$COPY/"

if [ -n "$(release_flags)" ]; then
    for program in "$COPY"/*; do
        [ -f "$program" ] || continue
        name="$(basename "$program")"
        if ldd "$program" | grep -E 'libswift|libFoundation|libdispatch|not found'; then
            fail "$name needs the libraries above, which other machines don't have."
        fi
        env -i PATH=/usr/bin:/bin "$program" --help >/dev/null || fail "$name --help failed."
    done
fi
TOMBOLO_CONFIGURATION=release "$DEV_SCRIPTS/demo.sh"
echo "release: ok"
