"""Writes by devices and plain SQL, and their outcomes."""

from claims import Claims
from homes import CLASSES, MEMOS


class EditScenarios(Claims):
    def test_both_ways(self):
        a, b = self.pair("ways")
        agent = a.ask("write", ["create", "Agent", {"name": "Zoë"}])[0]
        everything = {
            "price": -(1 << 63),
            "views": (1 << 63) - 1,
            "bedrooms": -128,
            "size": -0.1,
            "note": "ein Fluß, 河, 🏠",
            "soldAt": -62_135_596_800_000_000,
            "photo": "00ff10",
            "uuid": "00112233445566778899aabbccddeeff",
            # 1.50
            "exact": (150 | (6176 - 2) << 113).to_bytes(16, "little").hex(),
            "agent": agent,
            "address": True,
            "address.street": "Quay 1",
            "address.zip": None,
            # (5, "x") and (-1, "yz")
            "address.numbers": "02" "00" "0500000000000000" "ffffffffffffffff" "00" "0178" "02797a",
        }
        key = self.listing(a, **everything)
        expected = {"_id": key, "location": "here", "locked": False, **everything}
        self.claim("a write is shown before it is uploaded", a.row("Listing", key) == expected)
        self.becomes("a value of every type reaches the other device", lambda: b.row("Listing", key) == expected)
        a.wait_uploaded()
        self.claim("the first device still has the same object once it's uploaded", a.row("Listing", key) == expected)
        columns = "price, bedrooms, size, note, exact, encode(photo, 'hex'), uuid, address, address_street"
        row = self.platform.sql(f"SELECT {columns} FROM listing WHERE _id = '\\x{key}'")
        self.claim(
            "plain SQL sees the values",
            row == f"{-(1 << 63)}|-128|-0.1|{everything['note']}|1.50|00ff10|"
            "00112233-4455-6677-8899-aabbccddeeff|t|Quay 1",
        )
        self.platform.sql(f"UPDATE listing SET price = 7, note = NULL WHERE _id = '\\x{key}'")
        for device in (a, b):
            self.becomes(f"an UPDATE reaches {device.name}", lambda d=device: d.row("Listing", key, "price") == 7)
            self.claim(f"NULL in SQL is nil on {device.name}", device.row("Listing", key, "note") is None)
        b.ask("write", ["erase", "Listing", key])
        self.becomes("an erase reaches the other device", lambda: a.row("Listing", key) is None)
        b.wait_uploaded()
        gone = self.platform.sql(f"SELECT count(*) FROM listing WHERE _id = '\\x{key}'")
        self.claim("an erase deletes the row in the table", gone == "0")

    def test_subscriptions(self):
        a, b = self.pair("queries")
        keys = [self.listing(a, location="pier", price=price) for price in (100, 200, 300)]
        a.wait_uploaded()
        condition = ["and", ["location", "beginsWith", "pi"], ["not", ["price", ">", "INT", 250]]]
        b.ask("subscribe", [[None, "Listing", condition]])

        def found(device):
            return [row["_id"] for row in device.ask("rows", "Listing")]

        self.becomes("a query returns the matching objects", lambda: found(b) == sorted(keys[:2]))
        self.claim("a query returns no objects of other classes", b.ask("rows", "Agent") == [])
        b.ask("subscribe", [["x", "Listing", ["in", "price", "INT", [300]]]])
        self.becomes("another query moves objects out and in", lambda: found(b) == keys[2:])
        a.ask("write", ["set", "Listing", keys[0], {"price": 300}], ["set", "Listing", keys[2], {"price": 100}])
        self.becomes("a change moves objects out and in", lambda: found(b) == keys[:1])
        version = b.ask("subscribe", [["bad", "Listing", ["nothing", "==", "INT", 1]]])
        self.becomes("a query that the gateway refuses is recorded", lambda: str(version) in b.state()["refused_sets"])
        b.wait_live()
        self.claim("the previous set stays active after a refusal", found(b) == keys[:1])
        # Without waiting, so that batches for several sets may be in flight.
        for price in (100, 300, 200):
            b.ask("subscribe", [["x", "Listing", ["or", ["price", "==", "INT", price], False]]])
            b.ask("cut")
            b.ask("connect")
            b.ask("subscribe", [["x", "Listing", ["price", "==", "INT", price]]])
        self.becomes("after several sets in a row, the last one is active", lambda: found(b) == keys[1:2])
        self.becomes("older sets are forgotten", lambda: b.state()["sets"] == [version + 6])
        b.ask("disconnect")
        b.ask("subscribe", [["x", "Listing", ["price", "==", "INT", 100]]])
        b.ask("subscribe", [["x", "Listing", ["price", ">=", "INT", 300]]])
        b.connect()
        self.becomes("sets made offline replace the active one", lambda: found(b) == keys[:1])

    def test_offline(self):
        a, b = self.pair("offline")
        key = self.listing(a, price=1, views=10, note="old")
        gone = self.listing(a, location="gone")
        self.becomes("both have the objects", lambda: b.row("Listing", gone) and b.row("Listing", key))
        a.ask("disconnect")
        b.ask("disconnect")
        a.ask("write", ["set", "Listing", key, {"price": 2}], ["add", "Listing", key, "views", 5])
        a.ask("write", ["set", "Listing", key, {"location": "a"}])
        a.ask("write", ["set", "Listing", gone, {"price": 5}])
        b.ask("write", ["set", "Listing", key, {"note": "new"}], ["add", "Listing", key, "views", -3])
        b.ask("write", ["set", "Listing", key, {"location": "b"}])
        b.ask("write", ["erase", "Listing", gone])
        later = max((device.state()["stamps"][1], word) for device, word in ((a, "a"), (b, "b")))[1]
        self.claim("an offline device shows its own edits", a.row("Listing", key, "views") == 15)
        b.connect()
        b.wait_uploaded()
        a.connect()
        self.agree("both devices agree after connecting", (a, b))
        row = b.row("Listing", key)
        self.claim("edits of different properties are both kept", (row["price"], row["note"]) == (2, "new"))
        self.claim("additions both count", row["views"] == 12)
        self.claim("the later edit wins, whoever connects first", row["location"] == later)
        self.claim("an erase beats a concurrent edit", a.row("Listing", gone) is None)

    def test_pending_edits(self):
        a, b = self.pair("pending")
        key, gone = self.listing(a, price=1, views=1), self.listing(a)
        self.becomes("both have the objects", lambda: b.row("Listing", key) and b.row("Listing", gone))
        a.wait_uploaded()
        a.ask("hold", True)
        made = self.listing(a, location="new")
        a.ask("write", ["set", "Listing", key, {"note": "mine", "price": 2}], ["add", "Listing", key, "views", 10])
        a.ask("write", ["erase", "Listing", gone], ["insert", "Listing.tags", key, 0, {"value": "mine"}])
        self.platform.sql(f"UPDATE listing SET views = 5, price = 3, bedrooms = 4 WHERE _id = '\\x{key}'")
        self.becomes("a batch arrives beneath queued edits", lambda: a.row("Listing", key, "bedrooms") == 4)
        row = a.row("Listing", key)
        self.claim(
            "queued edits stay on top of the batch", (row["note"], row["price"], row["views"]) == ("mine", 2, 15)
        )
        self.claim(
            "queued creations and erases stay too",
            a.row("Listing", made) is not None and a.row("Listing", gone) is None,
        )
        a.stop()
        a.start()
        tags = a.ask("list", "Listing.tags", key)
        self.claim("queued edits survive a restart", a.row("Listing", key) == row and len(tags) == 1)
        a.connect()
        self.agree("after connecting, all devices agree", (a, b))
        row = b.row("Listing", key)
        self.claim("the merge keeps the latest writes", (row["note"], row["price"], row["views"]) == ("mine", 3, 5))

    def test_lists(self):
        a, b = self.pair("lists")
        owner = self.listing(a)

        def tags(device):
            return [row["value"] for row in device.ask("list", "Listing.tags", owner)]

        a.ask("write", *(["insert", "Listing.tags", owner, place, {"value": v}] for place, v in enumerate("abcd")))
        self.becomes("a list arrives in order", lambda: tags(b) == list("abcd"))
        a.ask("disconnect")
        b.ask("disconnect")
        a.ask("write", ["move", "Listing.tags", owner, 3, 0], ["insert", "Listing.tags", owner, 4, {"value": "x"}])
        b.ask("write", ["remove", "Listing.tags", owner, 1], ["insert", "Listing.tags", owner, 3, {"value": "y"}])
        self.claim("a move is shown at once", tags(a) == list("dabcx"))
        a.connect()
        b.connect()
        self.agree("a list that two devices changed ends up the same on both", (a, b))
        found = tags(a)
        self.claim(
            "the list has both insertions, the move and the removal", sorted(found) == list("acdxy") and found[0] == "d"
        )
        self.claim("the list is in the order of ranks", found[1:3] == ["a", "c"])
        for device, value in ((a, "left"), (b, "right")):
            device.ask("disconnect")
            device.ask("write", ["insert", "Listing.tags", owner, len(found), {"value": value}])
        a.connect()
        b.connect()
        self.agree("two devices may append at the same time", (a, b))
        ranks = [row["rank"] for row in a.ask("list", "Listing.tags", owner)]
        self.claim("appending at the same time gives equal ranks", ranks[-1] == ranks[-2])
        place = len(found) + 1
        a.ask("write", ["insert", "Listing.tags", owner, place, {"value": "between"}])
        self.claim("an element can be inserted between equal ranks", tags(a)[place] == "between")
        self.agree("the inserted element reaches the other device", (a, b))
        self.claim("the inserted element has the same place on both devices", tags(b) == tags(a))
        order = f"SELECT string_agg(value, ' ' ORDER BY rank, _id) FROM listing_tags WHERE owner = '\\x{owner}'"
        self.claim("plain SQL sees the list in the same order", self.platform.sql(order) == " ".join(tags(a)))

        agents = a.ask("write", ["create", "Agent", {"name": "first"}], ["create", "Agent", {"name": "second"}])
        a.ask("write", *(["insert", "Listing.viewers", owner, place, {"target": k}] for place, k in enumerate(agents)))
        self.becomes("a list of links arrives", lambda: len(b.ask("list", "Listing.viewers", owner)) == 2)
        b.ask("disconnect")
        b.ask("write", ["erase", "Agent", agents[0]])
        left = b.ask("list", "Listing.viewers", owner)
        self.claim("an erased target isn't shown", [row["target"] for row in left] == agents[1:])
        self.claim(
            "the erased target's element stays until the server answers", len(b.ask("rows", "Listing.viewers")) >= 2
        )
        b.connect()
        b.wait_uploaded()
        self.becomes(
            "then the element is gone everywhere",
            lambda: all(d.ask("list", "Listing.viewers", owner) == left for d in (a, b))
            and not [r for d in (a, b) for r in d.ask("rows", "Listing.viewers") if r["target"] == agents[0]],
        )
        home = {"street": "Mole", "zip": None, "numbers": "00"}
        homes = b.ask("write", *(["insert", "Listing.homes", owner, place, home] for place in range(3)))
        for place, parent in enumerate((homes[0], homes[1], homes[1])):
            resident = {"target": agents[1], "parent": parent}
            b.ask("write", ["insert", "Listing.homes.residents", owner, place // 2, resident])
        b.ask("write", ["insert", "Listing.address.residents", owner, 0, {"target": agents[1]}])
        b.wait_uploaded()

        def residents(device):
            return [len(device.ask("list", "Listing.homes.residents", owner, home)) for home in homes]

        self.becomes("lists inside another list's elements arrive", lambda: residents(a) == [1, 2, 0])
        self.claim(
            "a list inside an embedded object arrives", len(a.ask("list", "Listing.address.residents", owner)) == 1
        )
        a.ask("write", ["remove", "Listing.homes", owner, 1])
        self.becomes("removing an element removes the lists inside it", lambda: residents(b) == [1, 0, 0])
        orphans = "listing_homes_residents WHERE parent NOT IN (SELECT _element FROM listing_homes)"
        self.claim(
            "the server also removes the lists inside it", self.platform.sql(f"SELECT count(*) FROM {orphans}") == "0"
        )
        a.ask("write", ["erase", "Listing", owner])
        lists = [name for name in CLASSES if "." in name]

        def elements(device):
            return [row for name in lists for row in device.ask("rows", name) if owner in row.values()]

        self.claim("a local erase removes the lists' elements", not elements(a))
        self.becomes("the batch with the erase removes the lists' elements", lambda: not elements(b))
        a.wait_uploaded()
        tables = ["listing_tags WHERE owner", "listing_viewers WHERE owner", "listing_homes WHERE _owner"]
        tables += ["listing_homes_residents WHERE owner", "listing_address_residents WHERE owner"]
        left = [self.platform.sql(f"SELECT count(*) FROM {table} = '\\x{owner}'") for table in tables]
        self.claim("the server removes the lists' elements", left == ["0"] * len(tables))

    def test_refusals(self):
        a, b = self.pair("refusals")
        locked, free = self.listing(a, locked=False, price=1), self.listing(a, price=1)
        a.ask("write", ["create", "Agent", {"name": "only one"}])
        a.wait_uploaded()
        self.platform.sql(f"UPDATE listing SET locked = true WHERE _id = '\\x{locked}'")
        self.becomes("the object is locked", lambda: a.row("Listing", locked, "locked"))
        a.ask("disconnect")
        a.ask("write", ["set", "Listing", locked, {"price": 2}], ["set", "Listing", free, {"price": 2}])
        self.claim("a write is shown until it is refused", a.row("Listing", locked, "price") == 2)
        a.ask("write", ["create", "Agent", {"name": "only one"}])
        a.ask("write", ["set", "Listing", free, {"bedrooms": 1_000, "views": 8}])
        a.connect()
        a.wait_uploaded()
        refusals = a.state()["refusals"]
        known = [(item["code"], item["class"], item["key"], item["role"]) for item in refusals]
        expected = ("NOT_PERMITTED", "Listing", locked, "editor")
        self.claim("a write that isn't permitted is refused, naming the role", known[0] == expected)
        self.claim("the server's value shows through", a.row("Listing", locked, "price") == 1)
        self.claim("the rest of the refused write's transaction is kept", a.row("Listing", free, "price") == 2)
        self.claim("a write that violates a constraint is refused", known[1][:2] == ("CONSTRAINT", "Agent"))
        self.claim("the refused object is gone", [r["name"] for r in a.ask("rows", "Agent")].count("only one") == 1)
        self.claim("a value out of range is invalid", known[2][:3] == ("INVALID", "Listing", free) and len(known) == 3)
        row = a.row("Listing", free)
        self.claim("the invalid instruction's other property is kept", (row["bedrooms"], row["views"]) == (0, 8))
        self.agree("the other device has the same rows", (a, b))
        count = len(a.state()["refusals"])
        a.ask("disconnect")
        self.platform.sql(f"UPDATE listing SET location = 'secret' WHERE _id = '\\x{free}'")
        a.ask("write", ["set", "Listing", free, {"price": 3}])
        a.connect()
        a.wait_uploaded()
        self.claim("an object that a user may no longer read leaves the device", a.row("Listing", free) is None)
        self.claim("a write to an unreadable object isn't refused", len(a.state()["refusals"]) == count)
        self.claim(
            "a write to an unreadable object does nothing",
            self.platform.sql(f"SELECT price FROM listing WHERE _id = '\\x{free}'") == "2",
        )

    def test_partitions(self):
        room = {"string": "room=1"}
        a, b = (self.platform.device(f"room-{name}", MEMOS, user, room) for name, user in (("a", "ann"), ("b", "bob")))
        other = self.platform.device("room-other", MEMOS, "ann", {"string": "room=2"})
        for device in (a, b, other):
            device.connect()
        line = ["insert", "Memo.lines", "m1", 0, {"value": "l"}]
        a.ask("write", ["create", "Memo", {"_id": "m1", "text": "hello"}], line)
        self.becomes("an object reaches the partition's other device", lambda: b.row("Memo", "m1", "text") == "hello")
        self.claim(
            "an object arrives with its list, whose owner is a string",
            b.ask("list", "Memo.lines", "m1")[0]["value"] == "l",
        )
        self.claim(
            "an object arrives with the partition that the server set", b.row("Memo", "m1", "_partition") == "room=1"
        )
        a.wait_uploaded()
        self.claim("an object doesn't reach other partitions", other.ask("rows", "Memo") == [])
        other.ask("write", ["create", "Memo", {"_id": "m2", "text": "x", "_partition": "room=1"}])
        other.wait_uploaded()
        self.claim("a write into another partition is refused", other.state()["refusals"][0]["code"] == "NOT_PERMITTED")
        self.claim("the refused object is gone from the device", other.ask("rows", "Memo") == [])
