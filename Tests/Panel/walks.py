"""What people do in the panel, as lists of steps, each with a description and an action on the page; and the pages to
take pictures of."""

import os
import re
import tempfile

from hands import (
    OWNER, SUPER, Keyboard, Mouse, at, both, comes, expect, expect_no, forget, go, sql)
from page import StepError
import work


# Walks

def log_in(hand, person):
    email, password = person
    return [
        ("the panel redirects to the login page", both(forget, go("/panel"), at("/panel/login"))),
        (f"logs in as {email}", both(
            hand.write("E-mail", email), hand.write("Password", password), hand.push("Log in"), at("/panel"))),
    ]


def languages(hand):
    return [
        ("chooses another language", both(
            go("/panel"), hand.open("Logged in as"), hand.choose("Language", "Deutsch"), hand.push("Apply"),
            expect("Übersicht"))),
        ("switches back to English", both(
            hand.open("Angemeldet als"), hand.choose("Sprache", "English"), hand.push("Übernehmen"), expect("Overview"))),
    ]


def models(hand):
    """Only previews a change of a model."""
    return [
        ("drops a property from the model text", both(
            go("/panel/models/conference"), hand.open("Drop a class"),
            hand.choose("Class or property", "Sponsor.level"), hand.push("Drop it"), expect("Sponsor.level"))),
        ("sees what would happen", both(
            hand.push("Show what would happen"), expect("Consequences for others"))),
    ]


def log_out(hand):
    return [("logs out", both(hand.open("Logged in as"), hand.push("Log out"), at("/panel/login")))]


def trash(hand, group, victim, clashing):
    """Each hand uses its own objects in the trash, since restored objects are gone from there."""
    return [
        ("opens the trash", both(hand.follow("Trash"), expect("Deleted permanently"))),
        ("shows one class", both(hand.choose("Class", "Event" if hand is Mouse else "Session"), hand.push("Show"))),
        ("looks at what was deleted together", both(hand.follow(group), expect("Contents"))),
        ("restores it", both(hand.push("Restore", exact=False), expect("restored."))),
        ("opens another object", hand.follow(victim)),
        ("asks to delete it permanently", both(hand.follow("Delete permanently…"), expect("This can't be undone."))),
        ("deletes it permanently", both(hand.push("Delete permanently"), expect("1 object was deleted permanently."))),
        ("shows only users", both(hand.choose("Class", "User"), hand.push("Show"), expect(clashing))),
        ("tries to restore a user whose address is taken", both(
            hand.follow(clashing), hand.push("Restore", exact=False), expect("has the same email"))),
        ("restores the user with another address", both(
            hand.write("New email", f"{hand.name}@example.net"), hand.push("Restore", exact=False),
            expect("1 object was restored."))),
        ("sees what the purge would delete", both(
            hand.follow("Automatic purge"), hand.push("See what it would delete now"), expect("Nothing is due."))),
    ]


def permissions(hand):
    return [
        ("opens the permissions", both(hand.follow("Permissions"), expect("trackOrganizer"))),
        ("withdraws a permission", both(
            hand.follow("coorganizer may update sessions"), expect("Stop coorganizer from updating sessions?"),
            hand.push("Withdraw"), expect("coorganizer may no longer update sessions."))),
        ("grants it again", both(
            hand.follow("coorganizer may not update sessions"), hand.push("Allow"),
            expect("coorganizer may now update sessions."))),
        ("asks why", both(
            hand.follow("Check permissions"), hand.write("User", OWNER[0]), hand.choose("Class", "Session"),
            hand.push("Explain"), expect(f"What {OWNER[0]} may do with objects of Session"))),
        ("sees what each role gets from each route", both(
            hand.follow("Routes by role"), expect("POST /admin/trash/empty"))),
        ("views as a moderator", both(
            hand.follow("View as"), hand.choose("Role", "moderator"), hand.push("View as"),
            expect("You are viewing the panel as the role moderator"))),
        ("stops viewing", both(hand.push("Stop viewing"), expect_no("You are viewing the panel as"))),
    ]


def accounts(hand):
    return [
        ("finds an account", both(
            hand.follow("Accounts"), hand.write("Name, address or id", "owner@", role="searchbox"), hand.push("Show"),
            hand.follow("Otto Owner"), expect("Devices and logins"))),
        ("disables it", both(
            hand.follow("Disable…"), hand.push("Disable the account"), expect("is disabled, and was logged out"))),
        ("enables it", both(
            hand.follow("Enable…"), hand.push("Enable the account"), expect("may log in again."))),
        ("looks at the changes of the rules", both(
            hand.follow("Model and rules"), hand.follow("Compare with", exact=False), expect("added"))),
        ("sees which devices sync", both(
            hand.follow("Sync devices"), expect("as reported by their gateways"), hand.follow("All devices"),
            expect("Every known device that has synced"))),
    ]


def data(hand):
    return [
        ("opens the homes of another app", both(hand.follow("Listings"), expect("48,213"))),
        ("goes to the next page", both(hand.follow("Next"), expect("26–50"))),
        ("searches the sessions", both(
            hand.follow("Sessions"), hand.write("Search Sessions", "colour", role="searchbox"), hand.push("Search"),
            expect("colour contrast"))),
        ("counts them by their fields", both(hand.follow("Show counts"), expect("Hide counts"))),
        ("hides the counts", both(hand.follow("Hide counts"), expect("Show counts"))),
        ("opens a session", both(hand.follow("A field guide to colour contrast"), expect("Short abstract"))),
        ("starts duplicating it, and cancels", both(hand.follow("Duplicate"), expect("New session"), hand.follow("Cancel"))),
    ]


def forms(hand):
    """Edits lists in a form without saving, a record with its children, and rows of a list in place."""
    session = "A field guide to colour contrast"
    rows = f"/panel/rows/sessions?q={session.replace(' ', '%20')}&columns=title,subtitle"
    return [
        ("opens the form of a session", both(
            hand.follow("Sessions"), hand.write("Search Sessions", "field guide to colour", role="searchbox"),
            hand.push("Search"), hand.follow(session), hand.follow("Edit"), expect("Edit A field guide"))),
        ("removes a speaker from the list, and cancels", both(
            hand.push("Remove: Speakers 1"), at_form, hand.follow("Cancel"), expect("Short abstract"))),
        ("restores an unsaved draft", both(
            hand.follow("Edit"), hand.write("Subtitle", "A draft by "), lambda page: page.open(page.path),
            expect("You have an unsaved draft"), hand.push("Restore the draft"), at_form,
            has_value("f.subtitle", "A draft by "))),
        ("saves it, and the draft is gone", both(
            hand.push("Save"), expect("Saved."), hand.follow("Edit"), expect_no("unsaved draft"),
            hand.follow("Cancel"))),
        ("saves an event with one more track", both(
            lambda page: page.open(event_with_tracks(page)),
            hand.write("Name of New track 1 (required)", f"By {hand.name}"), hand.push("Save"), expect("1 track was saved."))),
        ("edits rows in the list", both(
            go(rows), hand.write(f"Subtitle of {session}", f"by {hand.name}"), hand.push("Save the rows"),
            expect("1 session was saved."))),
        ("saves rows without changes", both(go(rows), hand.push("Save the rows"), expect("Nothing was changed."))),
    ]


def people_of_event(page):
    event = first("/panel/data/events?q=tombolo", "/panel/data/events/")(page)
    return "/panel/people?scope=" + event.rsplit("/", 1)[1]


def event_with_tracks(page):
    return first("/panel/data/events?q=tombolo", "/panel/data/events/")(page) + "/edit?with=Track.event"


def at_form(page):
    """After a list's button was pressed, the form comes back."""
    if not page.find("button", "Save"):
        raise StepError(f"{page.path} isn't a form: {page.heading()}")


def has_value(name, text):
    def look(page):
        value = page.run(f"document.querySelector('[name=\"{name}\"]').value")
        if text not in value:
            raise StepError(f"{name} has '{value}', without '{text}'.")
    return look


def imports(hand):
    def attach(page):
        with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as file:
            file.write(f"id,title,state\n,By {hand.name},pending\nnot an id,Refused,pending\n")
        page.attach("#import-file", file.name)
        imports.files.append(file.name)

    def tidy(page):
        while imports.files:
            os.unlink(imports.files.pop())
    return [
        ("uploads a file to import", both(
            hand.follow("Sessions"), hand.follow("Import"), attach, hand.push("Upload the file"), tidy,
            expect("Nothing is imported yet."))),
        ("sees what would happen", both(
            hand.push("Show what would happen"), expect("with errors"),
            expect("The first rows, as they would be stored"))),
        ("discards it", both(hand.push("Discard the file"), expect("Sessions"))),
    ]


imports.files = []


def many(hand):
    """A bulk change, with a single object. Changing many objects, and undoing it, works the same way."""
    session = "A field guide to colour contrast"
    return [
        ("finds a session to tick", both(
            hand.follow("Sessions"), hand.write("Search Sessions", "field guide to colour", role="searchbox"),
            hand.push("Search"), expect("of 1"))),
        ("sees the export formats", both(
            hand.open("Export"), lambda page: page.need("link", "JSON lines"))),
        ("asks to move the ticked session to the trash", both(
            hand.tick(f"Tick {session}"), expect("1 ticked"), hand.choose("Action", "Move"), hand.push("Continue"),
            expect("Move 1 session to the trash?"))),
        ("moves it, and sees the job end", both(
            hand.push("Move 1 session to the trash"), expect("1 of 1"), expect("Undo…"))),
        ("undoes it", both(
            hand.follow("Undo…"), expect("restored from the trash"), hand.push("Undo this job"), expect("1 of 1"))),
        ("asks to change all matching sessions", both(
            hand.follow("Sessions"), hand.write("Search Sessions", "field guide to colour", role="searchbox"),
            hand.push("Search"), hand.choose("Apply to", "all 1 th"), hand.push("Continue"),
            expect("Tick the fields to change"))),
        ("sees what would happen", both(
            hand.write("Title", f"{session}!"), hand.push("See what would happen"), expect("Change 1 session?"),
            expect(f"Title: {session}!"))),
        ("cancels, and lists the jobs", both(
            hand.follow("Cancel"), hand.follow("Jobs"), expect("Move sessions to the trash"))),
    ]


def people(hand):
    email = f"{hand.name}@example.com"
    return [
        ("invites a user", both(
            hand.follow("People"), expect("Roles that apply everywhere"), hand.write("E-mail", email),
            hand.choose("Role to give", "a"), hand.push("Invite"), expect("is invited"))),
        ("revokes the invitation", both(
            hand.follow("Back to People"), hand.push(f"Revoke the invitation of {email}"), expect("was revoked."))),
    ]


def schedule(hand):
    return [
        ("runs a scheduled job", both(
            hand.follow("Scheduled jobs"), hand.push("Run now Jobs: old ones"), expect("The job begins in a moment."))),
        ("finds the job in the audit log", both(hand.follow("Audit log"), comes("job expiry"))),
    ]


def colours(hand):
    def are(theme):
        def look(page):
            if page.run("document.documentElement.dataset.theme ?? ''") != theme:
                raise StepError(f"The page's colours aren't '{theme}'.")
        return look
    return [
        ("chooses dark colours", both(
            hand.open("Logged in as"), hand.choose("Colours", "d"), hand.push("Apply"), are("dark"))),
        ("switches back to the system's colours", both(
            hand.open("Logged in as"), hand.choose("Colours", "s"), hand.push("Apply"), are(""))),
    ]


def everything(hand, group, victim, clashing):
    """The complete walk through the panel, the same for each hand."""
    return (log_in(hand, SUPER) + data(hand) + forms(hand)
            + work.history(hand) + work.conflict(hand) + work.live(hand) + work.views(hand) + work.export(hand)
            + imports(hand) + work.imported(hand) + many(hand)
            + (work.all_of_them(hand) if hand is Mouse else [])
            + trash(hand, group, victim, clashing) + permissions(hand)
            + work.password_again(hand) + work.statement(hand)
            + people(hand) + work.owners(hand, people_of_event) + accounts(hand) + schedule(hand) + models(hand)
            + colours(hand) + languages(hand) + log_out(hand))


# The names are from the large sample's trash.
MOUSE = everything(Mouse, "Spring Meetup", "Rethinking time zones", "Brigita Lindqvist")
KEYBOARD = everything(Keyboard, "A field guide to time zones", "Ten years of time zones", "Elif Trần")


# Pages

def first(list_path, start):
    """The first link of a page that begins with `start` or, if that doesn't begin with a slash, contains it."""
    def find(page):
        page.open(list_path)
        sign = "^" if start.startswith("/") else "*"
        found = page.run(f"document.querySelector('main a[href{sign}=\"{start}\"]')?.getAttribute('href')")
        if not found:
            raise StepError(f"{list_path} has no link to {start}…")
        return found
    return find


def account(search):
    """The page of the first account that a search finds."""
    def find(page):
        page.open(f"/panel/accounts?search={search}")
        found = page.run("document.querySelector('main table a[href^=\"/panel/accounts/\"]')?.getAttribute('href')")
        if not found:
            raise StepError(f"No account matches {search}.")
        return found
    return find


def uploaded(page):
    """The page of an uploaded file, with the preview of its import. The purge of drafts deletes the file later."""
    with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
        file.write("id,title,state\n,From a file,pending\nnot an id,Refused,pending\n")
        file.flush()
        page.open("/panel/import/sessions")
        page.attach("#import-file", file.name)
        page.loaded(lambda: page.click("button", "Upload the file"))
    return page.path


def session(page):
    return first("/panel/data/sessions?q=field%20guide%20to%20colour", "/panel/data/sessions/")(page)


def device(page):
    """The page of a connected device."""
    page.open("/panel/devices")
    links = page.run("[...document.querySelectorAll('main a[href]')].map(link => link.getAttribute('href'))")
    for link in links:
        if re.match(r"/panel/devices/[0-9a-f]{24}/[0-9]+", link):
            return link
    raise StepError("/panel/devices shows no device.")


def undoable(page):
    """The page that asks whether to undo a finished import."""
    for _, step in work.imported(Mouse)[:1]:
        step(page)
    return page.path.split("?")[0] + "/undo"


# Taken as the super administrator, after the walk with the mouse.
PAGES = [
    ("overview", "/panel"),
    ("list", "/panel/data/listings"),
    ("list-filtered", "/panel/data/sessions?filter[state][eq]=confirmed&sort=startsAt"),
    ("list-counts", "/panel/data/sessions?counts=1&filter[state]=confirmed"),
    ("record", first("/panel/data/sessions?q=colour", "/panel/data/sessions/")),
    ("record-event", first("/panel/data/events?q=tombolo", "/panel/data/events/")),
    ("edit", lambda page: first("/panel/data/sessions?q=colour", "/panel/data/sessions/")(page) + "/edit"),
    ("edit-together", event_with_tracks),
    ("duplicate", lambda page: "/panel/new/sessions?copy="
     + first("/panel/data/sessions?q=colour", "/panel/data/sessions/")(page).rsplit("/", 1)[1]),
    ("rows", "/panel/rows/sessions?columns=title,state,startsAt,isPublic"),
    ("import", "/panel/import/sessions"),
    ("import-file", uploaded),
    ("jobs", "/panel/jobs"),
    ("job", first("/panel/jobs", "/panel/jobs/")),
    ("people", "/panel/people"),
    ("people-event", people_of_event),
    ("invitation", "/panel/invitation?token=x"),
    ("trash", "/panel/trash"),
    ("trash-users-page-2", "/panel/trash?class=User&page=2"),
    ("trash-group", first("/panel/trash?class=Session", "/panel/trash/group/")),
    ("trash-delete", lambda page: first("/panel/trash?class=Session", "/panel/trash/group/")(page) + "/delete"),
    ("trash-empty", "/panel/trash/empty"),
    ("trash-purge", "/panel/trash/purge/preview"),
    ("permissions", "/panel/permissions"),
    ("permission-box", first("/panel/permissions", "/panel/permissions/box")),
    ("why", f"/panel/permissions/why?user={OWNER[0]}&class=Session"),
    ("routes", "/panel/permissions/routes"),
    ("view-as", "/panel/view-as"),
    ("accounts", "/panel/accounts"),
    ("account-new", "/panel/accounts/new"),
    ("account", account("super")),
    ("account-disable", lambda page: account("owner")(page) + "/disable"),
    ("documents", "/panel/documents"),
    ("document-changes", first("/panel/documents", "?against=")),
    ("document", "/panel/documents/2"),
    ("audit", "/panel/audit"),
    ("history", lambda page: "/panel/audit/sessions/" + session(page).rsplit("/", 1)[1]),
    ("removal", lambda page: session(page) + "/delete"),
    ("job-undo", undoable),
    ("role-new", "/panel/permissions/roles/new?app=conference"),
    ("role", first("/panel/permissions", "/panel/permissions/role?")),
    ("device", device),
    ("second-factor", "/panel/second-factor"),
    ("api", "/panel/api"),
    ("api-class", "/panel/api/sessions"),
    ("own-password", "/panel/own-password"),
    ("forgotten-password", "/panel/forgotten"),
    ("reset-password", "/panel/forgotten/reset?token=x&tokenId=y"),
    ("requests", "/panel/requests"),
    ("requests-kept", "/panel/requests?range=all"),
    ("schedule", "/panel/schedule"),
    ("backups", "/panel/backups"),
    ("backup-restore", first("/panel/backups", "/panel/backups/tombolo-")),
    ("backup-delete", lambda page: first("/panel/backups", "/panel/backups/tombolo-")(page).rsplit("/", 1)[0] + "/delete"),
    ("devices", "/panel/devices"),
    ("devices-known", "/panel/devices/known"),
    ("devices-why", "/panel/devices/why"),
    ("settings", "/panel/settings"),
    ("setting", "/panel/settings/change/TOMBOLO_BACKUP_KEEP"),
    ("help", "/panel/help"),
    ("model-change", "/panel/models/conference"),
    ("migration", "/panel/migration"),
    ("sales", "/panel/sales"),
    ("sales-event", first("/panel/sales", "/panel/sales/")),
    ("edit-track", lambda page: first("/panel/data/tracks", "/panel/data/tracks/")(page) + "/edit"),
]

if os.environ.get("SCREENSHOTS_SQL"):
    PAGES.append(("sql", "/panel/sql"))

# Pages that need more than an address: the action that leads there, the address if it has one, and the action afterwards.
PREPARED = [
    ("bulk-trial", both(
        go("/panel/data/sessions?q=field%20guide%20to%20colour"), Mouse.choose("Apply to", "all 1 th"),
        Mouse.choose("Action", "Move"), Mouse.push("Continue"), expect("Move 1 session to the trash?")), None, None),
    ("conflict", both(
        lambda page: page.open(session(page) + "/edit"), Mouse.write("Subtitle", "Mine "),
        sql(f"UPDATE session SET subtitle = 'By SQL' WHERE title = '{work.SESSION}'"), Mouse.push("Save"),
        expect("Somebody else saved this after you opened the form.")), None, None),
    ("viewed-as", both(
        go("/panel/view-as"), Mouse.choose("Role", "moderator"), Mouse.push("View as"),
        expect("You are viewing the panel as")), "/panel", Mouse.push("Stop viewing")),
    # This must be the last: from here on, every action that needs the password asks for it.
    ("password", both(
        go("/panel/permissions"), work.proved_long_ago, Mouse.follow("coorganizer may update sessions"),
        Mouse.push("Withdraw"), expect("It requires your password")), None, None),
]

# The tags of other languages to show: one with long words, and one that is written from right to left.
LANGUAGES = ["de", "ar"]
LANGUAGE_PAGES = ["overview", "list", "record", "edit", "rows", "trash-group", "permissions", "accounts", "settings", "help"]


def speak(tag):
    """Sets the language, as if it had been chosen in the menu; None for the browser's."""
    age = 3600 if tag else 0
    return lambda page: page.run(f"document.cookie = 'tombolo_language={tag}; path=/; max-age={age}'")
