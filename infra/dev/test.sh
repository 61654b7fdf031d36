#!/usr/bin/env bash
# test.sh [ARGUMENT OF swift test…]: builds and runs the tests, keeps the log, and prints a summary at the end.

# shellcheck source-path=SCRIPTDIR source=lib.sh
source "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

LOG="${TOMBOLO_TEST_LOG:-$TOMBOLO_ROOT/.build/tests.log}"
cd "$TOMBOLO_ROOT"
mkdir -p "$(dirname "$LOG")"
swift build --build-tests
code=0
runs=1
# run ARGUMENT…: runs tests and appends to the log.
run() { swift test --skip-build "$@" 2>&1 </dev/null | tee -a "$LOG" || code=$?; }
: >"$LOG"
if [ $# -gt 0 ]; then
    run "$@"
else
    # Tests that start servers and devices run separately, two at a time, since a single one often waits for a clock. Next
    # to the simulator, which takes every core for minutes, they would only wait.
    runs=2
    servers='EndToEndTests|GatewayServiceTests|HTTPTests|WebSocketTests'
    # Without a limit, all tests begin at once and share the cores, and each becomes slow enough to reach its time limit.
    cores="$(nproc 2>/dev/null || sysctl -n hw.ncpu)"
    run --skip "$servers" --experimental-maximum-parallelization-width "$((2 * cores))"
    run --filter "$servers" --experimental-maximum-parallelization-width 2
fi
"$DEV_SCRIPTS/test-summary.sh" "$LOG" "$runs" || code=1
exit "$code"
