"""Uses the panel of a running admin server like a person, by mouse and then only by keyboard, takes pictures of its
pages, and checks them with axe-core. Tests/scripts/screenshots.sh starts everything and calls this.

    screenshots.py URL FOLDER AXE CHROMIUM

FOLDER gets the pictures and the findings; AXE is axe.min.js. Ends with the counts; exit code 1 if a step failed.
"""

import sys

from accessibility import Accessibility
from devtools import Browser
from page import Page
from report import LOOKS, Report
import walks


def main():
    url, folder, axe, program = sys.argv[1:]
    report = Report(folder, Accessibility(axe))
    browser = Browser(program)
    try:
        page = Page(browser, url)
        page.show(*LOOKS["light"])
        report.look(page, "login", "/panel/login")
        report.walk(page, "mouse", walks.MOUSE)
        report.walk(page, "looking", walks.log_in(walks.Mouse, walks.SUPER))
        for name, path in walks.PAGES:
            report.look(page, name, path)
        for tag in walks.LANGUAGES:
            report.step(page, f"language {tag}", walks.speak(tag))
            for name, path in walks.PAGES:
                if name in walks.LANGUAGE_PAGES:
                    report.look(page, f"{tag}-{name}", path)
        report.step(page, "English again", walks.both(walks.speak(None), walks.go("/panel")))
        for name, lead, path, leave in walks.PREPARED:
            report.visit(page, name, lead, path, leave)
        report.step(page, "goes on", walks.go("/panel"))
        report.walk(page, "looking", walks.log_out(walks.Mouse))
        report.walk(page, "keyboard", walks.KEYBOARD)
    finally:
        browser.close()
    print(report.write())
    print(f"Pictures and findings: {folder}")
    print(f"{report.passed} passed, {report.failed} failed")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
