"""Walks about concurrent work of other users, long work, and work that can be undone."""

import os
import tempfile

from hands import SUPER, Mouse, both, comes, expect, go, in_another_tab, matches, sql
from page import StepError

SESSION = "A field guide to colour contrast"
SESSION_LIST = "/panel/data/sessions?q=field%20guide%20to%20colour"

# As if every logged-in user had last entered their password an hour ago.
proved_long_ago = sql("UPDATE tombolo.panel_session SET proved_at = now() - interval '1 hour'")


def history(hand):
    """Runs after the forms, which made the last change of the subtitle."""
    return [
        ("searches the audit log", both(
            hand.follow("Audit log"), comes("Changes, newest first"), hand.choose("Class", "Session"),
            hand.write("User's address or id", SUPER[0]), hand.push("Search"), comes("over HTTP"))),
        ("opens the history of a session", both(
            go(SESSION_LIST), hand.follow(SESSION), hand.follow("History"), comes(f"by {hand.name}"))),
        ("undoes a change", both(hand.push("Undo this change", exact=False), expect("Put back:"))),
        ("undoes the undo", both(hand.push("Undo"), expect("Put back:"))),
    ]


def conflict(hand):
    """Opens the same form in two tabs."""
    return [
        ("is told that someone else saved the form first", both(
            go(SESSION_LIST), hand.follow(SESSION), hand.follow("Edit"), hand.write("Subtitle", "Mine "),
            in_another_tab(Mouse.write("Subtitle", "Theirs "), Mouse.push("Save"), expect("Saved.")),
            hand.push("Save"), expect("Somebody else saved this after you opened the form."))),
        ("keeps their own value", both(
            hand.pick("Your value", "Current value"), hand.push("Save"), expect("Saved."))),
    ]


def live(hand):
    return [
        ("is told that the list's data has changed", both(
            go(f"{SESSION_LIST}&columns=title,subtitle"), expect("of 1"),
            sql(f"UPDATE session SET subtitle = 'By SQL for {hand.name}' WHERE title = '{SESSION}'"),
            matches("The data on this page has changed", timeout=20))),
        ("reloads the list", both(hand.push("Reload"), expect("of 1"), lambda page: page.need("link", SESSION))),
    ]


def views(hand):
    name = f"Confirmed by {hand.name}"
    return [
        ("saves a view", both(
            go("/panel/data/sessions?filter[state][eq]=confirmed"), hand.open("Views"),
            hand.write("Save this list as", name), hand.push("Save the view"), expect("is saved."))),
        ("opens the view", both(go("/panel/data/sessions"), hand.open("Views"), hand.follow(name), filtered)),
        ("deletes the view", both(hand.open("Views"), hand.push(f"Delete the view {name}"), expect("was deleted."))),
    ]


def filtered(page):
    if "confirmed" not in page.path:
        raise StepError(f"The view leads to {page.path}.")


def export(hand):
    return [
        ("saves the list as a file", both(go(SESSION_LIST), hand.open("Export"), downloaded(hand.fetch("JSON lines"), SESSION))),
    ]


def downloaded(fetch, text):
    """The download is one file that contains the text."""
    def act(page):
        browser = page.browser
        # In the browser's own folder, since Chromium may still rename a file after its last byte.
        folder = tempfile.mkdtemp(prefix="downloads.", dir=browser.profile)
        ends = []

        def listen(event):
            if event.get("method") == "Browser.downloadProgress" and event["params"]["state"] != "inProgress":
                ends.append(event["params"]["state"])
        browser.listeners.append(listen)
        browser.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=folder, eventsEnabled=True)
        try:
            fetch(page)
            browser.wait("the end of a download", lambda: ends, timeout=20)
        finally:
            browser.call("Browser.setDownloadBehavior", behavior="default")
            browser.listeners.remove(listen)
        names = os.listdir(folder)
        if ends != ["completed"] or len(names) != 1:
            raise StepError(f"One file was expected, not {names}, which ended {ends}.")
        with open(os.path.join(folder, names[0]), encoding="utf-8") as file:
            if text not in file.read():
                raise StepError(f"The file {names[0]} has no '{text}'.")
    return act


def imported(hand):
    def upload(page):
        with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
            file.write(f"id,title,state\n,Imported by {hand.name},pending\n")
            file.flush()
            page.attach("#import-file", file.name)
            hand.push("Upload the file")(page)
    return [
        ("imports a file", both(
            go("/panel/import/sessions"), upload, hand.push("Show what would happen"), expect("1 row to create"),
            hand.push("Start the import"), matches("1 of 1"), matches("Undo…"))),
        ("undoes the import", both(
            hand.follow("Undo…"), hand.push("Undo this job"), matches("1 of 1"), matches("Done"))),
    ]


def all_of_them(hand):
    """A change of so many objects that there is time to see its progress, stop it, and undo what was done."""
    return [
        ("asks to change all homes", both(
            hand.follow("Listings"), hand.choose("Apply to", "all 4"), hand.push("Continue"),
            expect("All matching listings"))),
        ("sees what would happen", both(
            hand.write("Bedrooms", "7"), hand.push("See what would happen"), expect("Change 48,213 listings?"))),
        ("sees the progress", both(
            hand.push("Change 48,213 listings"), matches(r"[1-9][0-9,]* of 48,213"))),
        ("stops the job", both(hand.push("Stop the job"), expect("Cancelled"))),
        ("undoes what was done", both(
            hand.follow("Undo…"), hand.push("Undo this job"), matches(r"\b([1-9][0-9,]*) of \1\b", timeout=120))),
    ]


def password_again(hand):
    return [
        ("is asked for the password again", both(
            go("/panel/permissions"), proved_long_ago, hand.follow("coorganizer may update sessions"),
            hand.push("Withdraw"), expect("It requires your password"))),
        ("continues after entering it", both(
            hand.write("Password", SUPER[1]), hand.push("Continue"),
            expect("coorganizer may no longer update sessions."))),
        ("isn't asked for it again", both(
            hand.follow("coorganizer may not update sessions"), hand.push("Allow"),
            expect("coorganizer may now update sessions."))),
    ]


def statement(hand):
    """Only if the operator has created a database user for it."""
    if not os.environ.get("SCREENSHOTS_SQL"):
        return []
    return [
        ("runs SQL", both(
            hand.follow("SQL"), hand.write("Statement", "SELECT count(*) AS sessions FROM session"), hand.push("Run"),
            expect("Result"))),
    ]


def owners(hand, people_of_event):
    """Hands an event over to its organizer, and back to its owner."""
    def hand_over(name):
        return both(
            lambda page: page.open(people_of_event(page)), hand.choose("New owner", name),
            hand.push("Hand over the role owner"), expect("was handed over."))
    return [
        ("hands an event over", hand_over("Olga")),
        ("hands the event back", hand_over("Otto")),
    ]
