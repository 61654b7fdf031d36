"""Logins, sessions that go wrong, and connections that end."""

from claims import Claims
from homes import CLASSES, EVERYTHING, MEMOS
from platform_under_test import PASSWORD, wait_until
from raw_session import RawSession

# More rows than fit into two frames, and more changesets than fit into one upload.
MANY_ROWS = 4_000
CHANGESET_COUNT = 150
# More batches than a gateway sends to a device that doesn't acknowledge them.
BATCH_COUNT = 70


class SessionScenarios(Claims):
    def test_login(self):
        device = self.platform.device("login", CLASSES)
        refused = device.attempt("login", self.platform.email("ann"), "wrong horse battery")
        self.claim("a wrong password gives 401", "401 wrong_credentials" in refused.get("error", ""))
        user = device.ask("login", self.platform.email("ann"), PASSWORD)
        self.claim("a refresh token is exchanged for a new pair for the same user", device.ask("exchange") == user)
        device.ask("subscribe", EVERYTHING)
        device.connect()
        self.claim("the new access token opens a session", device.state()["phase"] == "live")
        device.ask("disconnect")
        device.ask("spoil-token")
        device.connect()
        self.claim("a token that isn't accepted is replaced, and the session opens", True)

    def test_out_of_turn(self):
        token = RawSession.log_in(self.platform, "bob", PASSWORD)
        classes = [{"name": name, "columns": columns} for name, columns in MEMOS.items()]
        # Nothing matches, so no frames arrive in between.
        nothing = {"version": 1, "subscriptions": [{"class_name": "Memo", "predicate": {"constant": False}}]}
        changeset = {"number": 1, "base": 1}

        def ends(text, expected, *says):
            session = RawSession(self.platform.gateway.url, token)
            for say in says:
                say(session)
            self.claim(f"{text}: {expected}", session.end() == expected)

        def hello(**members):
            return lambda session: session.say_hello(**{"classes": classes, **members})

        def say(kind, message):
            return lambda session: session.say(kind, message)

        def hears(*kinds):
            return lambda session: [session.expect(kind) for kind in kinds]

        bad, bad_schema, bad_set = (("BAD_" + code, 1000) for code in ("MESSAGE", "SCHEMA", "SUBSCRIPTION"))
        ends("anything before hello", bad, say("subscribe", nothing))
        ends("hello twice", bad, hello(), hears("welcome"), hello())
        ends("an unknown version", ("UNSUPPORTED_VERSION", 1000), hello(protocol_version=9))
        ends("a wrong token", ("NOT_AUTHENTICATED", 1000), hello(access_token="e.y.J"))
        ends("no client", bad, hello(client=0))
        ends("a class without its key", bad_schema, hello(classes=[{"name": "Memo", "columns": ["text: string"]}]))
        ends("a class twice", bad_schema, hello(classes=classes * 2))
        ends("another type", bad_schema, hello(classes=[{"name": "Memo", "columns": ["_id: int"]}]))
        skipping = {"changesets": [{**changeset, "number": 2}]}
        ends("a skipped changeset", bad, hello(), hears("welcome", "end"), say("upload", skipping))
        gap = {"changesets": [changeset, {**changeset, "number": 3}]}
        ends("a gap in an upload", bad, hello(), hears("welcome", "end"), say("upload", gap))
        in_partition = {"protocol_version": 3, "partition": {"string": "room=3"}}
        ends("subscriptions in a partition", bad_set, hello(wanted_subscriptions=nothing, **in_partition))
        elements = {"version": 1, "subscriptions": [{"class_name": "Memo.lines", "predicate": {"constant": True}}]}
        ends("a subscription to elements", bad_set, hello(wanted_subscriptions=elements))
        ends("a text message", (None, 1003), lambda session: session.say_text())
        ends("a hello that is too long", ("TOO_LARGE", 1000), hello(access_token="x" * (768 << 10)))

        # Messages that the gateway accepts before the first batch, if it has more changesets than the device knows.
        session = RawSession(self.platform.gateway.url, token)
        hello(wanted_subscriptions=nothing)(session)
        hears("welcome", "end")(session)
        session.say("upload", {"changesets": [changeset]})
        body = session.wait_acknowledged(1)
        self.claim("an empty changeset is acknowledged", body["acknowledged"] == 1)
        client = session.hello["client"]
        session.socket.drop()
        unheard = {"client": client, "position": body["position"], "wanted_subscriptions": nothing}
        ends("applied without a batch", bad, hello(**unheard), hears("welcome"), say("applied", {"tick": 1}))
        again = say("upload", {"changesets": [{**changeset, "base": 0}]})
        session = RawSession(self.platform.gateway.url, token)
        hello(**unheard)(session)
        self.claim("the gateway says that it has one changeset", session.expect("welcome")["last_changeset"] == 1)
        again(session)
        body = session.expect("end")
        self.claim("a changeset sent again with another base is acknowledged", body["acknowledged"] == 1)
        again(session)
        session.say("upload", {"changesets": [changeset, {**changeset, "number": 2}]})
        self.claim("sending a changeset once more is harmless", session.wait_acknowledged(2)["acknowledged"] == 2)
        session.socket.drop()
        another = RawSession.log_in(self.platform, "ann", PASSWORD)
        theirs = hello(client=client, access_token=another)
        ends("another user's file, after a reset", (None, 1000), theirs, hears("reset"))

    def test_failures(self):
        wrong = self.platform.device("wrong", {**CLASSES, "Boat": ["_id: objectId", "name: string"]})
        wrong.ask("connect")
        self.becomes("a class that the server lacks fails the session", lambda: wrong.state()["phase"] == "failed")
        self.claim("the code for a missing class is BAD_SCHEMA", wrong.seen("failure")[-1]["code"] == "BAD_SCHEMA")
        user = self.platform.device("out", CLASSES)
        user.ask("subscribe", EVERYTHING)
        user.connect()
        self.platform.migrate("user", "revoke", self.platform.email("ann"))
        self.becomes("the end of a login ends its session", lambda: user.state()["phase"] == "failed")
        self.claim(
            "the code for an ended login is NOT_AUTHENTICATED", user.seen("failure")[-1]["code"] == "NOT_AUTHENTICATED"
        )
        key = self.listing(user)
        user.ask("login", self.platform.email("ann"), PASSWORD)
        user.connect()
        user.wait_uploaded()
        count = self.platform.sql(f"SELECT count(*) FROM listing WHERE _id = '\\x{key}'")
        self.claim("edits wait for the next login", count == "1")

    def test_many_changesets(self):
        a, b = self.pair("many")
        key = self.listing(a)
        a.ask("disconnect")
        for _ in range(CHANGESET_COUNT):
            a.ask("write", ["add", "Listing", key, "views", 1])
        a.connect()
        self.agree("more changesets than fit into one message arrive", (a, b))
        self.claim("each changeset is applied once", b.row("Listing", key, "views") == CHANGESET_COUNT)

    def test_many_batches(self):
        a = self.platform.device("batches", CLASSES)
        a.ask("subscribe", EVERYTHING)
        a.connect()
        key = self.listing(a)
        a.wait_uploaded()
        for price in range(1, BATCH_COUNT + 1):
            self.platform.sql(f"UPDATE listing SET price = {price} WHERE _id = '\\x{key}'")
            wait_until("the batch", lambda p=price: a.row("Listing", key, "price") == p)
        self.claim("more batches arrive than may be unapplied at a time", len(a.seen("batch")) > BATCH_COUNT)

    def test_broken_connections(self):
        a, b = self.pair("broken", [["pier", "Listing", ["location", "==", "STRING", "mole"]]])
        a.ask("disconnect")
        b.ask("disconnect")
        note = "x" * 500
        self.platform.sql(
            "INSERT INTO listing (_id, location, price, views, bedrooms, locked, note) SELECT "
            f"decode(lpad(to_hex(n), 24, '0'), 'hex'), 'mole', n, 0, 0, false, '{note}' "
            f"FROM generate_series(1, {MANY_ROWS}) AS n"
        )
        frame_count = len(a.seen("frame"))
        mine = self.listing(a, location="mole", price=-1)
        a.ask("cut-after", 2)
        a.ask("connect")
        self.becomes("the connection breaks in the middle of a batch", lambda: a.seen("lost"))
        frames = [event["sequence"] for event in a.seen("frame")[frame_count:]]
        self.claim("the first frames arrived before the connection broke", frames[:2] == [0, 1])
        lost = next(n for n, event in enumerate(a.events) if event["event"] == "lost")
        batches = [event for event in a.events[:lost] if event["event"] == "batch" and event["frames"] >= 2]
        self.claim("no part of the broken batch was applied", not batches)
        self.becomes("the next connection brings all of it", lambda: len(a.ask("rows", "Listing")) == MANY_ROWS + 1)
        a.wait_uploaded()
        self.claim("the next connection takes the queued edit", a.row("Listing", mine, "price") == -1)
        b.ask("connect")
        wait_until("a frame", lambda: len(b.seen("frame")) > 0)
        b.kill()
        b.start()
        content = b.ask("rows", "Listing")
        self.claim("a device that is killed has all of a batch or none", len(content) in (0, MANY_ROWS, MANY_ROWS + 1))
        b.connect()
        self.becomes(
            "the killed device has the whole batch after its next start",
            lambda: len(b.ask("rows", "Listing")) == MANY_ROWS + 1,
        )
        self.platform.sql("DELETE FROM listing WHERE location = 'mole'")
        self.becomes(
            "equally many removals arrive", lambda: not a.ask("rows", "Listing") and not b.ask("rows", "Listing")
        )

    def test_restarted_gateway(self):
        a, b = self.pair("restart")
        key = self.listing(a, price=1)
        self.becomes("both have the object", lambda: b.row("Listing", key))
        self.platform.gateway.kill()
        wait_until("a has lost its connection", lambda: a.state()["phase"] == "waiting")
        a.ask("write", ["set", "Listing", key, {"price": 2}], ["add", "Listing", key, "views", 1])
        self.platform.gateway.start()
        self.becomes("edits made during the outage arrive by themselves", lambda: b.row("Listing", key, "price") == 2)
        a.ask("write", *(["add", "Listing", key, "views", 1] for _ in range(10)))
        self.platform.gateway.kill()
        a.ask("write", *(["add", "Listing", key, "views", 1] for _ in range(10)))
        self.platform.gateway.start()
        a.wait_live()
        self.agree("uploads interrupted by a kill are applied once", (a, b))
        self.claim("every addition counts", a.row("Listing", key, "views") == 21)
