#!/usr/bin/env bash
# test-summary.sh LOG [RUNS]: summarizes the output of one or more runs of `swift test` in LOG: the failed tests with
# their errors (each cut to a few hundred bytes), the two frameworks' closing lines, and one line with the totals.
# Fails if a test failed, if none ran, or if a run ended early.

set -euo pipefail
export LC_ALL=C # treat the symbols at the start of lines as bytes

MAXIMUM_ISSUES=20
MAXIMUM_ISSUE_BYTES=600

awk -v expected="${2:-1}" -v issues="$MAXIMUM_ISSUES" -v bytes="$MAXIMUM_ISSUE_BYTES" '
    # Swift Testing begins each of its lines with a symbol and a space; the output of tests has none.
    /^[^ -~]+ +Test run with [0-9]+ tests? .*(passed|failed) after / {
        run = $0
        sub(/^[^ -~]+ +/, "", run)
        split(run, words, " ")
        total += words[4]
        if (run ~ / failed after [0-9.]+ seconds[^"]*$/) anyFailed = 1
        runs[++runCount] = run
    }
    # An issue and the comments below it, which may name a seed.
    /^[^ -~]+ +Test .* recorded an issue/ {
        inIssue = ++issueCount <= issues
        if (inIssue) names[++count] = substr($0, 1, bytes)
        next
    }
    inIssue && index($0, "↳ ") == 1 { names[++count] = "    " substr($0, 1, bytes); next }
    { inIssue = 0 }
    /^[^ -~]+ +Test .* failed after [0-9.]+ seconds[^"]*$/ && !/^[^ -~]+ +Test (run with|case passing) / {
        failed++; names[++count] = $0
    }
    /^[^ -~]+ +Test .* skipped(: .*|\.)$/ { skipped++ }
    /^Test Case .* passed \([0-9.]+ seconds\)/ { casesPassed++ }
    /^Test Case .* failed \([0-9.]+ seconds\)/ { casesFailed++; names[++count] = $0 }
    /^Test Case .* skipped \([0-9.]+ seconds\)/ { casesSkipped++ }
    /^[ \t]*Executed [0-9]+ tests?, with / { executed = $0; sub(/^[ \t]*/, "", executed) }
    END {
        for (i = 1; i <= count; i++) print names[i]
        if (issueCount > issues) print (issueCount - issues) " more issues: see the log"
        if (executed != "" && executed !~ /^Executed 0 tests/) print executed
        for (i = 1; i <= runCount; i++) print runs[i]
        if (runCount < expected) {
            print "the test run ended before its closing line: a test crashed it, or it did not start"
            if (!failed) failed = 1
        }
        # The closing line counts every test, so that a line lost among the tests'"'"' own output is not missed.
        if (anyFailed && !failed) failed = 1
        passed = total - failed - skipped
        if (passed < 0) passed = 0
        passed += casesPassed; failed += casesFailed; skipped += casesSkipped
        line = (passed + 0) " passed, " (failed + 0) " failed"
        if (skipped) line = line ", " skipped " skipped"
        print line
        exit failed > 0 || passed + 0 == 0
    }
' "$1"
