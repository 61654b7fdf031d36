#!/usr/bin/env bash
# Builds the servers and tools with optimisation, and puts them into .build/programs (`make release`). On Linux, Swift's
# libraries are linked into them: they run on any machine with the same architecture, a glibc at least as new, libpq and
# SQLite. They have symbols for backtraces, but no debug information.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PROGRAMS=(sync-gateway admin-server migration-tool conference conference-admin ticket-api)
FOLDER="$TOMBOLO_ROOT/.build/programs"

export TOMBOLO_CONFIGURATION=release
build_products
bin="$(products_folder)"
for program in "${PROGRAMS[@]}"; do require_product "$program" >/dev/null; done

# Complete before it gets its name, so that nobody copies half of it.
rm -rf "$FOLDER.new"
mkdir -p "$FOLDER.new"
for program in "${PROGRAMS[@]}"; do
    if command -v strip >/dev/null && [ "$(uname)" = Linux ]; then
        strip --strip-debug -o "$FOLDER.new/$program" "$bin/$program"
    else
        cp "$bin/$program" "$FOLDER.new/$program"
    fi
done
# The sample data of `conference sample`, which it looks for beside itself.
cp -R "$bin/Tombolo_ConferenceTool.resources" "$FOLDER.new/" 2>/dev/null ||
    cp -R "$bin/Tombolo_ConferenceTool.bundle" "$FOLDER.new/"
rm -rf "$FOLDER"
mv "$FOLDER.new" "$FOLDER"

say "The programs are in $FOLDER"
for program in "${PROGRAMS[@]}"; do
    note "$(printf '%-18s %4d MB' "$program" "$(($(wc -c <"$FOLDER/$program") / 1000000))")"
done
if [ -n "$(release_flags)" ]; then
    note "They need no Swift. On Debian and Ubuntu: apt-get install libpq5 libsqlite3-0"
else
    note "This toolchain has no static libraries, so they need Swift's libraries where they run."
fi
