"""Devices whose history differs from the server's."""

import shutil

from claims import Claims


class ResetScenarios(Claims):
    def test_lost_acknowledgement(self):
        a, b = self.pair("unheard")
        key = self.listing(a)
        a.wait_uploaded()
        a.ask("disconnect")
        a.ask("write", ["add", "Listing", key, "views", 1])
        a.ask("write", ["add", "Listing", key, "views", 10])
        a.stop()
        copy = a.file.with_suffix(".copy")
        shutil.copy(a.file, copy)
        a.start()
        a.connect()
        a.wait_uploaded()
        self.becomes("the edits arrive", lambda: b.row("Listing", key, "views") == 11)
        client = a.state()["client"]
        a.stop()
        shutil.copy(copy, a.file)
        a.start()
        self.claim("a device that missed the acknowledgement still has its edits queued", a.state()["pending"] == 2)
        a.ask("write", ["add", "Listing", key, "views", 100])
        a.connect()
        self.claim("the gateway says that it has more changesets", a.seen("welcome")[0]["last_changeset"] == 3)
        a.wait_uploaded()
        self.claim("the device keeps its client id", a.state()["client"] == client)
        self.agree("changesets uploaded twice are applied once", (a, b))
        self.claim("the new changeset is applied too", b.row("Listing", key, "views") == 111)

        # Another copy of the file, with other changes under the same changeset numbers.
        a.stop()
        shutil.copy(copy, a.file)
        a.start()
        a.ask("write", ["add", "Listing", key, "views", 1_000])
        a.ask("connect")
        self.becomes("a copy with different changes gets a reset", lambda: a.seen("reset"))
        a.wait_live()
        a.wait_uploaded()
        self.claim("a copy with different changes gets a new client id", a.state()["client"] != client)
        self.becomes("the copy's own edit is applied", lambda: b.row("Listing", key, "views") == 1_111)

        # A copy that lacks changesets that the gateway has, and says so with an empty upload.
        a.stop()
        shutil.copy(copy, a.file)
        a.start()
        a.ask("connect")
        self.becomes("a copy with fewer changesets gets a reset", lambda: a.seen("reset"))
        a.wait_live()
        self.agree("a copy with fewer changesets has the same rows after the reset", (a, b))
        self.claim("a copy with fewer changesets applies nothing twice", a.row("Listing", key, "views") == 1_111)

    def test_expired_position(self):
        a, b = self.pair("expired")
        key, gone = self.listing(a, price=1), self.listing(a)
        self.becomes("both have the objects", lambda: b.row("Listing", key) and b.row("Listing", gone))
        a.wait_uploaded()
        a.ask("disconnect")
        before, count = a.state(), len(a.seen("batch"))
        a.ask("write", ["set", "Listing", key, {"note": "while away"}], ["add", "Listing", key, "views", 1])
        b.ask("write", ["set", "Listing", key, {"price": 2}], ["erase", "Listing", gone])
        b.wait_uploaded()
        # What retention does after 30 days.
        self.platform.sql(f"DELETE FROM tombolo.tick WHERE number <= {before['position']['tick']}")
        a.connect()
        self.claim("a position that is too old is reported as expired", a.seen("welcome")[-1]["is_expired"])
        self.claim(
            "the batch after an expired position replaces everything",
            any(event["replaces_all"] for event in a.seen("batch")[count:]),
        )
        self.agree("after an expired position the device has the same rows as the others", (a, b))
        row = a.row("Listing", key)
        self.claim(
            "after an expired position the device's own edits are kept",
            (row["price"], row["note"], row["views"]) == (2, "while away", 1),
        )
        self.claim("after an expired position erased objects are gone", a.row("Listing", gone) is None)
        self.claim("after an expired position the device keeps its client id", a.state()["client"] == before["client"])

    def test_restored_backup(self):
        a, b = self.pair("restore")
        key = self.listing(a, price=1)
        self.becomes("both have the object", lambda: b.row("Listing", key))
        a.wait_uploaded()
        b.ask("disconnect")
        b.ask("write", ["add", "Listing", key, "views", 1])
        self.platform.gateway.stop()
        self.platform.back_up()
        self.platform.gateway.start()
        a.wait_live()
        lost = self.listing(a, location="after the backup")
        a.wait_uploaded()
        client = a.state()["client"]
        self.platform.gateway.stop()
        self.platform.restore()
        a.ask("write", ["set", "Listing", key, {"price": 2}])
        self.claim("an edit stays queued during the restore", a.state()["bases"][0] > 0)
        self.platform.gateway.start()
        self.becomes("a device ahead of the restored history gets a reset", lambda: a.seen("reset"))
        a.wait_live()
        a.wait_uploaded()
        self.claim("a device ahead of the restored history gets a new client id", a.state()["client"] != client)
        self.claim("objects missing from the backup are gone", a.row("Listing", lost) is None)
        price = self.platform.sql(f"SELECT price FROM listing WHERE _id = '\\x{key}'")
        self.claim("the queued edit reaches the server", price == "2")
        b.connect()
        self.agree("after the restore all devices agree", (a, b))
        self.claim("a device offline since before the backup needs no reset", not b.seen("reset"))
        self.claim("the offline device's edit is applied", a.row("Listing", key, "views") == 1)
