"""What people do in the panel: lists of steps, each with words and an action on the page; and the pages to look at."""

from page import StepError

# People of `conference sample --large`.
SUPER = ("super@example.org", "superadmin-demo")


# What steps are made of

def expect(text):
    """The text stands on the page, or comes within a moment."""
    def look(page):
        page.browser.wait(f"the text '{text}' at {page.path}", lambda: text in page.text, timeout=5)
    return look


def expect_no(text):
    def look(page):
        if text in page.text:
            raise StepError(f"'{text}' stands on {page.path}.")
    return look


def at(path):
    def look(page):
        if page.path.split("?")[0] != path:
            raise StepError(f"The page is {page.path}, not {path}: {page.heading()}")
    return look


def forget(page):
    """Whoever was logged in, as after a walk that failed."""
    page.call("Network.clearBrowserCookies")


def go(path):
    return lambda page: page.open(path)


def both(*actions):
    def act(page):
        for action in actions:
            action(page)
    return act


class Mouse:
    """A person with a mouse, who types into what was clicked."""

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
    def choose(label, text):
        """In a list to choose from, by the first letters: what a click opens is the system's, not the page's."""
        def act(page):
            node = page.need("combobox", label)
            page.call("DOM.focus", backendNodeId=node)
            page.letters(text)
        return act

    @staticmethod
    def open(name):
        """What is folded away."""
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
    def choose(label, text):
        def act(page):
            page.tab_to("combobox", label)
            page.letters(text)
        return act

    @staticmethod
    def open(name):
        def act(page):
            page.tab_to("DisclosureTriangle", name, exact=False)
            page.press("Enter")
        return act


# Walks

def log_in(hand, person):
    email, password = person
    return [
        ("the panel leads to the log-in", both(forget, go("/panel"), at("/panel/login"))),
        (f"logs in as {email}", both(
            hand.write("E-mail", email), hand.write("Password", password), hand.push("Log in"), at("/panel"))),
    ]


def log_out(hand):
    return [("logs out", both(hand.open("Logged in as"), hand.push("Log out"), at("/panel/login")))]


def data(hand):
    return [
        ("opens the homes of another app", both(hand.follow("Listings"), expect("48,213"))),
        ("goes to the next page", both(hand.follow("Next"), expect("26–50"))),
        ("searches the sessions", both(
            hand.follow("Sessions"), hand.write("Search Sessions", "colour", role="searchbox"), hand.push("Search"),
            expect("colour contrast"))),
        ("opens one", both(hand.follow("A field guide to colour contrast"), expect("Short abstract"))),
    ]


def everything(hand):
    """The way through the panel, the same for every hand."""
    return log_in(hand, SUPER) + data(hand) + log_out(hand)


MOUSE = everything(Mouse)
KEYBOARD = everything(Keyboard)


# Pages

def first(list_path, start):
    """The first link of a page that begins like this, or has it in it if it doesn't begin with a slash."""
    def find(page):
        page.open(list_path)
        sign = "^" if start.startswith("/") else "*"
        found = page.run(f"document.querySelector('main a[href{sign}=\"{start}\"]')?.getAttribute('href')")
        if not found:
            raise StepError(f"{list_path} has no link to {start}…")
        return found
    return find


# Looked at as the super administrator, after the walk with the mouse.
PAGES = [
    ("overview", "/panel"),
    ("list", "/panel/data/listings"),
    ("list-filtered", "/panel/data/sessions?filter[state][eq]=confirmed&sort=startsAt"),
    ("record", first("/panel/data/sessions?q=colour", "/panel/data/sessions/")),
    ("record-event", first("/panel/data/events?q=tombolo", "/panel/data/events/")),
    ("edit", lambda page: first("/panel/data/sessions?q=colour", "/panel/data/sessions/")(page) + "/edit"),
    ("help", "/panel/help"),
]
