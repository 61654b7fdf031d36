"""Scenarios for the client of docs/protocol.md, against a gateway process: `scenarios.py FOLDER-OF-PROGRAMS [NAME…]`.
Prints each claim and how many held. Run by Tests/scripts/protocol-test.sh."""

import signal
import sys

from edit_scenarios import EditScenarios
from homes import MODELS, RULES
from page_scenarios import PageScenarios
from platform_under_test import Platform
from reset_scenarios import ResetScenarios
from session_scenarios import SessionScenarios


class Scenarios(PageScenarios, EditScenarios, SessionScenarios, ResetScenarios):
    pass


def main():
    # Exit normally on SIGTERM, so that the processes that this one started end too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    platform = Platform(sys.argv[1], MODELS, RULES)
    scenarios = Scenarios(platform)
    try:
        scenarios.run(sys.argv[2:])
    finally:
        platform.end(keeps_files=scenarios.failed > 0)
    return 1 if scenarios.failed or not scenarios.passed else 0


if __name__ == "__main__":
    sys.exit(main())
