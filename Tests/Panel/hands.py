"""The parts of steps: checks of the page, and hands that operate it, either with a mouse or only with the keyboard."""

import os
import re
import subprocess
import time

from page import Page, StepError

# Users of `conference sample --large`.
SUPER = ("super@example.org", "superadmin-demo")
OWNER = ("owner@example.org", "event-owner-demo")


# Parts of steps

def expect(text):
    """The page shows the text, or will within a moment."""
    def look(page):
        page.browser.wait(f"the text '{text}' at {page.path}", lambda: text in page.text, timeout=5)
    return look


def matches(pattern, timeout=60):
    """The page's text matches the pattern, or will without a reload."""
    def look(page):
        page.browser.wait(f"'{pattern}' at {page.path}", lambda: re.search(pattern, page.text), timeout=timeout)
    return look


def comes(text, timeout=60):
    """The page shows the text after being reloaded, possibly several times."""
    def look(page):
        deadline = time.monotonic() + timeout
        while text not in page.text:
            if time.monotonic() > deadline:
                raise StepError(f"'{text}' doesn't appear on {page.path}.")
            time.sleep(0.5)
            page.open(page.path)
    return look


def expect_no(text):
    def look(page):
        if text in page.text:
            raise StepError(f"'{text}' is on {page.path}, but shouldn't be.")
    return look


def at(path):
    def look(page):
        if page.path.split("?")[0] != path:
            raise StepError(f"The page is {page.path}, not {path}: {page.heading()}")
    return look


def forget(page):
    """Forgets the logged-in user, who may still be logged in after a failed walk."""
    page.call("Network.clearBrowserCookies")


def go(path):
    return lambda page: page.open(path)


def both(*actions):
    def act(page):
        for action in actions:
            action(page)
    return act


def in_another_tab(*actions):
    """Opens the same page in another tab, which is closed afterwards."""
    def act(page):
        other = Page(page.browser, page.origin)
        try:
            other.front()
            other.open(page.path)
            for action in actions:
                action(other)
            if other.problems:
                raise StepError("The browser complains: " + "; ".join(other.problems[:3]))
        finally:
            other.close()
            page.front()
    return act


def sql(statement):
    """Simulates another user's change in the database."""
    def act(page):
        outcome = subprocess.run(
            ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", os.environ["TOMBOLO_DATABASE_URL"], "-c", statement],
            capture_output=True, text=True, check=False)
        if outcome.returncode:
            raise StepError(f"{statement}: {outcome.stderr}")
    return act


class Mouse:
    """A person with a mouse, who types into the clicked element."""

    name = "mouse"

    @staticmethod
    def follow(name, exact=True, role="link"):
        return lambda page: page.loaded(lambda: page.click(role, name, exact))

    @staticmethod
    def push(name, exact=True):
        return lambda page: page.loaded(lambda: page.click("button", name, exact))

    @staticmethod
    def write(label, text, role="textbox"):
        def act(page):
            page.click(role, label)
            page.type(text)
        return act

    @staticmethod
    def tick(label):
        return lambda page: page.click("checkbox", label)

    @staticmethod
    def choose(label, text):
        """Chooses from a list by the first letters, since a click opens a menu of the system, not of the page."""
        def act(page):
            node = page.need("combobox", label)
            page.call("DOM.focus", backendNodeId=node)
            page.letters(text)
        return act

    @staticmethod
    def pick(name, group):
        """Selects a radio button. `group` is the one that is selected at first."""
        return lambda page: page.click("radio", name, exact=False)

    @staticmethod
    def fetch(name):
        """Clicks a link to a file, which doesn't load a page."""
        return lambda page: page.click("link", name)

    @staticmethod
    def open(name):
        """Opens a collapsed section."""
        return lambda page: page.click("DisclosureTriangle", name, exact=False)


class Keyboard:
    """A person without a mouse: Tab, letters, Enter and the space bar."""

    name = "keyboard"

    @staticmethod
    def follow(name, exact=True, role="link"):
        def act(page):
            page.tab_to(role, name, exact)
            page.loaded(lambda: page.press("Enter"))
        return act

    @staticmethod
    def push(name, exact=True):
        def act(page):
            page.tab_to("button", name, exact)
            page.loaded(lambda: page.press("Enter"))
        return act

    @staticmethod
    def write(label, text, role="textbox"):
        def act(page):
            page.tab_to(role, label)
            page.type(text)
        return act

    @staticmethod
    def tick(label):
        def act(page):
            page.tab_to("checkbox", label)
            page.press("Space")
        return act

    @staticmethod
    def choose(label, text):
        def act(page):
            page.tab_to("combobox", label)
            page.letters(text)
        return act

    @staticmethod
    def pick(name, group):
        def act(page):
            page.tab_to("radio", group, exact=False)
            page.press("ArrowDown")
            role, found = page.focused()
            if role != "radio" or name not in found:
                raise StepError(f"The arrow leads to {role} '{found}', not to '{name}'.")
        return act

    @staticmethod
    def fetch(name):
        def act(page):
            page.tab_to("link", name)
            page.press("Enter")
        return act

    @staticmethod
    def open(name):
        def act(page):
            page.tab_to("DisclosureTriangle", name, exact=False)
            page.press("Enter")
        return act
