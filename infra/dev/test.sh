#!/usr/bin/env bash
# test.sh [ARGUMENT OF swift test…]: builds and runs the tests, keeps the log, and repeats its counts at the end.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LOG="${TOMBOLO_TEST_LOG:-$TOMBOLO_ROOT/.build/tests.log}"
cd "$TOMBOLO_ROOT"
mkdir -p "$(dirname "$LOG")"
swift build --build-tests
code=0
swift test --skip-build "$@" 2>&1 </dev/null | tee "$LOG" || code=$?
"$DEV_SCRIPTS/test-summary.sh" "$LOG" || code=1
exit "$code"
