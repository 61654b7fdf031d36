import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

extension ServerStoreScenario {
    func clientsOpen() async throws {
        let opening = try await store.openClient(ada, user: "ada", acknowledged: 0)
        try requireEqual(opening.last, 0, "last of a new client")
        try requireEqual(opening.mustReset, nil, "reset of a new client")
        try requireTrue(
            try await store.openClient(ada, user: "bob", acknowledged: 0).mustReset != nil, "another user's client")
        try requireTrue(
            try await store.openClient(ada, user: "ada", acknowledged: 1).mustReset != nil,
            "a client that acknowledged more than the server knows")
        try requireTrue(
            try await store.openClient(bob, user: "bob", acknowledged: 3).mustReset != nil,
            "a client that a restored server does not know")
        let base = try await tick()
        try await apply(upload(ada, 1, base: base, .create(Model.speaker(1), fields(Model.speakerRow(1, "Ada")))))
        try requireEqual(try await store.openClient(ada, user: "ada", acknowledged: 0).last, 1, "last afterwards")
    }

    func readableIsKept() async throws {
        let speaker = Model.speaker(1).classIndex
        let readable: [Int: Predicate] = [
            speaker: .compare(PropertyPath(schema[speaker].columns[1].name), .equal, .string("Ada"))
        ]
        try await store.keepReadable(readable, under: .max)
        try await store.keepReadable(readable, under: .max)
        try await store.keepReadable([:], under: 2)
        try requireEqual(try await store.readable(under: .max), readable, "readable predicates that were kept twice")
        try requireEqual(try await store.readable(under: 2), [:], "a user who could read nothing")
        try requireEqual(try await store.readable(under: 3), nil, "a fingerprint that nobody kept")
    }

    /// Writes to every column but the key.
    func fields(_ row: Row, byDefault: Set<Int> = []) -> [FieldWrite] {
        row.values.indices.dropFirst().map {
            FieldWrite(column: $0, value: row[$0], isDefault: byDefault.contains($0))
        }
    }

    func field(_ column: Int, _ value: Value) -> [FieldWrite] { [FieldWrite(column: column, value: value)] }

    func uploadsApply() async throws {
        try await open(ada)
        let base = try await tick()
        try await apply(
            upload(
                ada, 1, base: base, .create(Model.room(1), fields(Model.roomRow(1, "Aula", plan: [1, 2]))),
                .create(
                    Model.session("a"),
                    fields(Model.sessionRow("a", "One", room: 1, startsAt: 5, rating: 1.5, price: "9.90"))),
                .create(Model.session("b"), fields(Model.sessionRow("b", "Two")))),
            upload(
                ada, 2, base: base, .set(Model.session("a"), field(Model.Session.title, .string("Uno"))),
                .erase(Model.session("b"))))
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session),
            [.string("a"): Model.sessionRow("a", "Uno", room: 1, startsAt: 5, rating: 1.5, price: "9.9")], "sessions")
        try requireEqual(
            try await rows(Model.room), [Model.room(1).key: Model.roomRow(1, "Aula", plan: [1, 2])], "rooms")
    }

    func progressIsAsOfTheTick() async throws {
        try await open(ada)
        try await write(Model.put(Model.session, Model.sessionRow("a", "One")))
        let base = try await newTick()
        try await apply(upload(ada, 1, base: base, .set(Model.session("gone"), field(Model.Session.seats, .int(1)))))
        let before = try await store.withReader { [ada] in try await $0.progress(of: ada) }
        try requireEqual(before, ClientProgress(last: 0, refusals: []), "before the tick")
        _ = try await newTick()
        let after = try await store.withReader { [ada] in try await $0.progress(of: ada) }
        try requireEqual(after, ClientProgress(last: 1, refusals: []), "after the tick")
        let difference = try await difference(from: base)
        try requireEqual(difference.clients, [ada: 1], "clients of the difference")
        try requireEqual(difference.changes, [], "changes of an upload without effect")
    }

    func uploadsCountOnce() async throws {
        try await open(ada)
        try await write(Model.put(Model.session, Model.sessionRow("a", "One")))
        let base = try await newTick()
        let first = upload(ada, 1, base: base, .add(Model.session("a"), column: Model.Session.seats, amount: 5))
        let second = upload(ada, 2, base: base, .add(Model.session("a"), column: Model.Session.seats, amount: 7))
        try requireEqual(try await store.upload([first]), [.applied(lost: 0)], "first")
        try requireEqual(try await store.upload([first, second]), [.duplicate, .applied(lost: 0)], "again")
        let rebased = Upload(
            client: ada,
            changeset: Changeset(
                number: 2, base: try await tick().number, stamp: second.changeset.stamp,
                instructions: second.changeset.instructions), permit: { _ in nil })
        try requireEqual(try await store.upload([rebased]), [.duplicate], "with a newer base")
        let other = upload(ada, 2, base: base, .add(Model.session("a"), column: Model.Session.seats, amount: 8))
        try requireEqual(try await store.upload([other]), [.conflict], "different content")
        let fifth = upload(ada, 5, base: base, .erase(Model.session("a")))
        try requireEqual(try await store.upload([fifth]), [.gap(expected: 3)], "a gap")
        _ = try await tick()
        try requireEqual(try await rows(Model.session)[.string("a")]?[Model.Session.seats], .int(12), "seats")
    }

    /// Two copies of a device's file use one client: what either of them does takes effect once or is reported to it.
    func copiedFilesAreNoticed() async throws {
        try await open(ada, bob)
        try await write(
            Model.put(Model.session, Model.sessionRow("a", "One")), Model.put(Model.room, Model.roomRow(1, "Aula")))
        let base = try await newTick()
        func add(_ number: Int64, _ amount: Int64) -> Upload {
            upload(
                ada, number, base: base, .add(Model.session("a"), column: Model.Session.seats, amount: amount))
        }
        try await apply(add(1, 1), add(2, 2), add(3, 3))
        _ = try await newTick()
        // One copy has acknowledged everything, the other is older.
        for acknowledged in [3, 0] as [Int64] {
            let opening = try await store.openClient(ada, user: "user \(ada)", acknowledged: acknowledged)
            try requireEqual(opening.mustReset, nil, "opening with \(acknowledged)")
        }
        try requireEqual(try await store.upload([add(2, 2)]), [.duplicate], "the same changeset")
        try requireEqual(try await store.upload([add(3, 30), add(4, 40)]), [.conflict, .gap(expected: 4)], "another")
        // Also when the group of changesets has to be split.
        let failing = upload(bob, 1, base: base, .create(Model.room(2), fields(Model.roomRow(2, "Aula"))))
        let results = try await store.upload([add(3, 30), failing, add(3, 3), add(4, 40)])
        try requireEqual([results[0], results[2], results[3]], [.conflict, .duplicate, .gap(expected: 4)], "apart")
        let unknown = Tick(number: base.number + 99, token: 1, snapshot: .empty, time: base.time)
        let baseless = upload(ada, 4, base: unknown, .erase(Model.session("a")))
        try requireEqual(
            try await store.upload([baseless, add(4, 40)]), [.unknownBase, .gap(expected: 4)], "an unknown base")
        // And across many groups.
        let many = [add(3, 30)] + (4..<300).map { add($0, 40) }
        try requireEqual(
            try await store.upload(many), [.conflict] + many.dropFirst().map { _ in .gap(expected: 4) }, "many")
        try await apply(add(4, 4))
        _ = try await newTick()
        try requireEqual(try await rows(Model.session)[.string("a")]?[Model.Session.seats], .int(10), "seats")
    }

    func basesMustBeKnown() async throws {
        try await open(ada, bob)
        try await write(Model.put(Model.session, Model.sessionRow("a", "One")))
        let old = try await newTick()
        try await write(Model.put(Model.session, Model.sessionRow("b", "Two")))
        let new = try await newTick()
        let unknown = Tick(number: new.number + 7, token: 1, snapshot: .empty, time: new.time)
        let instruction = Instruction.set(Model.session("a"), field(Model.Session.title, .string("x")))
        try requireEqual(
            try await store.upload([upload(ada, 1, base: unknown, instruction)]), [.unknownBase], "unknown base")
        try await harness.dropChangelog(below: new.number)
        try requireEqual(try await store.tick(old.number), nil, "a dropped tick")
        try requireEqual(try await store.tick(new.number), new, "a kept tick")
        try requireEqual(
            try await store.upload([
                upload(ada, 1, base: old, instruction),
                upload(bob, 1, base: new, .set(Model.session("b"), field(Model.Session.title, .string("y")))),
                upload(ada, 2, base: new, instruction),
            ]), [.unknownBase, .applied(lost: 0), .gap(expected: 1)], "dropped base")
        try await apply(upload(ada, 1, base: new, instruction), upload(ada, 2, base: new, instruction))
    }

    /// A client at no tick has seen nothing: everything that happened is concurrent, and an erase wins over a create.
    func originNeedsAllThatHappened() async throws {
        try await open(ada, bob)
        try await write(Model.put(Model.session, Model.sessionRow("a", "One")))
        try await write((Model.session("a"), nil))
        let first = try await newTick()
        let create = Instruction.create(Model.session("a"), fields(Model.sessionRow("a", "Two")))
        func upload(_ client: ClientID, base: Tick) -> Upload {
            self.upload(client, 1, base: base, at: Stamp(microseconds: first.time.microseconds + 1), create)
        }
        try requireEqual(try await store.upload([upload(ada, base: .origin)]), [.applied(lost: 1)], "all is kept")
        // Once the first tick is the oldest, the changes before it may be gone.
        try await harness.dropChangelog(below: first.number)
        try requireEqual(try await store.upload([upload(bob, base: .origin)]), [.unknownBase], "no longer valid")
        try requireEqual(try await store.upload([upload(ada, base: .origin)]), [.duplicate], "applied before")
        try await apply(upload(bob, base: first))
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session)[.string("a")]?[Model.Session.title], .string("Two"), "after the erase")
    }

    func permissionIsAsked() async throws {
        try await open(ada)
        try await write(Model.put(Model.session, Model.sessionRow("a", "One", seats: 1)))
        let base = try await newTick()
        let forbidden = upload(
            ada, 1, base: base,
            [
                .set(Model.session("a"), field(Model.Session.title, .string("mine"))),
                .create(Model.session("b"), fields(Model.sessionRow("b", "Two"))),
            ]
        ) { request in
            guard request.operation == .update else { return nil }
            return request.old?[Model.Session.seats] == .int(1) && request.new?[Model.Session.title] == .string("mine")
                ? "Sessions are for organisers." : nil
        }
        let allowed = upload(ada, 2, base: base, .set(Model.session("a"), field(Model.Session.seats, .int(9))))
        let results = try await store.upload([forbidden, allowed])
        try requireEqual(
            results,
            [
                .refused(
                    Refusal(.notPermitted, "Sessions are for organisers.", className: "Session", key: .string("a"))),
                .applied(lost: 0),
            ], "results")
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session),
            [
                .string("a"): Model.sessionRow("a", "One", seats: 9), .string("b"): Model.sessionRow("b", "Two"),
            ], "sessions: the changeset's other write was kept")
    }

    func permissionIsAskedForWhatLeavesNoTrace() async throws {
        try await open(ada)
        try await write(
            Model.put(Model.speaker, Model.speakerRow(1, "Ada")), Model.put(Model.room, Model.roomRow(1, "Aula")),
            Model.put(Model.session, Model.sessionRow("theirs", "One")),
            Model.put(Model.session, Model.sessionRow("mine", "Two")),
            Model.put(Model.element, Model.elementRow(1, of: "theirs", "a", 1)))
        let base = try await newTick()
        // The user may not write rooms, and may write only their own sessions, without giving them away.
        let permit: @Sendable (WriteRequest) -> WriteDenial? = { request in
            let rows = [request.old, request.new].compactMap { $0 }
            let isMine =
                request.classIndex == Model.session && !rows.isEmpty
                && rows.allSatisfy { $0[0] == .string("mine") }
            return isMine ? nil : "No."
        }
        let attempts: [[Instruction]] = [
            // If this were attempted, the unique constraint would reveal that the name is taken.
            [.create(Model.room(2), fields(Model.roomRow(2, "Aula"))), .erase(Model.room(2))],
            [
                .erase(Model.element(1)),
                .create(Model.element(1), fields(Model.elementRow(1, of: "mine", "a", 1))),
            ],
            [
                .erase(Model.session("theirs")),
                .create(Model.session("theirs"), fields(Model.sessionRow("theirs", "Mine now"))),
            ],
        ]
        for (index, instructions) in attempts.enumerated() {
            let result = try await store.upload([
                upload(ada, Int64(index) + 1, base: base, instructions, permit: permit)
            ])
            guard let refusal = result[0].refusal, refusal.code == .notPermitted else {
                throw ServerStoreConformanceFailure("attempt \(index) was not refused as expected: \(result[0])")
            }
        }
        _ = try await newTick()
        try requireEqual(
            Array(try await rows(Model.element).values), [Model.elementRow(1, of: "theirs", "a", 1)], "elements")
        try requireEqual(
            try await rows(Model.session)[.string("theirs")], Model.sessionRow("theirs", "One"), "their session")
    }

    func constraintsRefuse() async throws {
        try await open(ada, bob)
        try await write(Model.put(Model.room, Model.roomRow(1, "Aula")))
        let base = try await newTick()
        let results = try await store.upload([
            upload(ada, 1, base: base, .create(Model.room(2), fields(Model.roomRow(2, "Foyer")))),
            upload(
                bob, 1, base: base, .create(Model.speaker(1), fields(Model.speakerRow(1, "Bob"))),
                .create(Model.room(3), fields(Model.roomRow(3, "Aula")))),
            upload(ada, 2, base: base, .set(Model.room(2), [FieldWrite(column: 2, value: .bool(false))])),
            upload(bob, 2, base: base, .create(Model.speaker(2), fields(Model.speakerRow(2, "Bea")))),
        ])
        guard let refusal = results[1].refusal else {
            throw ServerStoreConformanceFailure("the duplicate name was not refused: \(results)")
        }
        try requireEqual(refusal.code, .constraint, "its code")
        try requireEqual(refusal.className, "Room", "its class")
        try requireEqual(refusal.key, Model.room(3).key, "its key")
        try requireTrue(refusal.message.contains("name"), "names the property: \(refusal.message)")
        try requireTrue(!refusal.message.contains("Aula"), "quotes no value: \(refusal.message)")
        try requireEqual(
            [results[0], results[2], results[3]], Array(repeating: .applied(lost: 0), count: 3), "the others")
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.room),
            [
                Model.room(1).key: Model.roomRow(1, "Aula"),
                Model.room(2).key: Model.roomRow(2, "Foyer", isOpen: false),
            ], "rooms")
        try requireEqual(
            Set(try await rows(Model.speaker).keys), [.int(1), .int(2)], "speakers: the other writes were kept")
    }

    func refusalsAreKeptUntilAcknowledged() async throws {
        try await open(ada)
        let base = try await tick()
        let refused = upload(
            ada, 1, base: base, [.create(Model.speaker(1), fields(Model.speakerRow(1, "Ada")))]
        ) { _ in "No." }
        let refusal = Refusal(.notPermitted, "No.", className: "Speaker", key: .int(1))
        try requireEqual(try await store.upload([refused]), [.refused(refusal)], "result")
        try requireEqual(try await store.upload([refused]), [.duplicate], "again")
        try await apply(upload(ada, 2, base: base, .create(Model.speaker(2), fields(Model.speakerRow(2, "Bea")))))
        _ = try await newTick()
        let progress = try await store.withReader { [ada] in try await $0.progress(of: ada) }
        try requireEqual(
            progress, ClientProgress(last: 2, refusals: [RefusedWrite(number: 1, refusal: refusal)]), "progress")
        _ = try await store.openClient(ada, user: "user \(ada)", acknowledged: 1)
        // Acknowledged refusals are dropped as of the next tick.
        try await apply(upload(ada, 3, base: base, .erase(Model.speaker(2))))
        _ = try await newTick()
        let later = try await store.withReader { [ada] in try await $0.progress(of: ada) }
        try requireEqual(later, ClientProgress(last: 3, refusals: []), "progress after the acknowledgement")
    }

    func differencesTellNewRefusals() async throws {
        try await open(ada, bob)
        let base = try await tick()
        func refuse(_ client: ClientID, _ numbers: ClosedRange<Int64>) async throws {
            let refused = numbers.map { number in
                upload(client, number, base: base, [.create(Model.speaker(1), fields(Model.speakerRow(1, "Ada")))]) {
                    _ in "No."
                }
            }
            for result in try await store.upload(refused) {
                guard result.refusal != nil else { return try requireTrue(false, "not refused: \(result)") }
            }
        }
        try await refuse(ada, 1...3)
        let before = try await newTick()
        try await refuse(ada, 4...4)
        try await refuse(bob, 1...1)
        try await refuse(ada, 5...6)
        _ = try await newTick()
        let difference = try await difference(from: before)
        try requireEqual(difference.clients, [ada: 4, bob: 1], "the first new changesets")
        let progress = try await store.withReader { try await $0.progress(of: difference.clients) }
        try requireEqual(progress[ada]?.last, 6, "Ada's progress")
        try requireEqual(progress[ada]?.refusals.map(\.number), [4, 5, 6], "Ada's new refusals")
        try requireEqual(progress[bob]?.refusals.map(\.number), [1], "Bob's new refusals")
    }

    // MARK: Merging

    func laterEditWins() async throws {
        try await open(ada, bob)
        try await write(
            Model.put(Model.session, Model.sessionRow("a", "0")), Model.put(Model.session, Model.sessionRow("b", "0")))
        let base = try await newTick()
        func edit(_ client: ClientID, _ key: String, _ title: String, _ after: Int64, _ number: Int64) -> Upload {
            upload(
                client, number, base: base, at: later(base, by: after),
                .set(Model.session(key), field(Model.Session.title, .string(title))))
        }
        try requireEqual(
            try await store.upload([edit(ada, "a", "ada", 20, 1), edit(bob, "a", "bob", 10, 1)]),
            [.applied(lost: 0), .applied(lost: 1)], "later edit first")
        try requireEqual(
            try await store.upload([edit(ada, "b", "ada", 10, 2)]), [.applied(lost: 0)], "earlier edit first")
        try requireEqual(try await store.upload([edit(bob, "b", "bob", 20, 2)]), [.applied(lost: 0)], "later edit last")
        _ = try await newTick()
        let sessions = try await rows(Model.session)
        try requireEqual(sessions[.string("a")]?[Model.Session.title], .string("ada"), "a")
        try requireEqual(sessions[.string("b")]?[Model.Session.title], .string("bob"), "b")
    }

    func seenEditsCameBefore() async throws {
        try await open(ada, bob)
        try await write(Model.put(Model.session, Model.sessionRow("a", "0")))
        let base = try await newTick()
        try await apply(
            upload(
                ada, 1, base: base, at: later(base, by: 30),
                .set(Model.session("a"), field(Model.Session.title, .string("ada")))))
        let seen = try await newTick()
        // Bob saw Ada's edit, but his clock says that his own came before it.
        try await apply(
            upload(
                bob, 1, base: seen, at: later(base, by: 1),
                .set(Model.session("a"), field(Model.Session.title, .string("bob")))))
        // Bob's own next changeset came after his first too, although its stamp is earlier.
        try await apply(
            upload(
                bob, 2, base: seen, at: later(base, by: 0),
                .set(Model.session("a"), field(Model.Session.title, .string("bob again")))))
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session)[.string("a")]?[Model.Session.title], .string("bob again"), "title")
    }

    /// A fresh installation creates an object with a fixed key before it has heard of the server's.
    func defaultsYield() async throws {
        try await open(ada, bob)
        try await write(Model.put(Model.session, Model.sessionRow("a", "Server", seats: 7, startsAt: 5)))
        let base = try await newTick()
        func create(_ client: ClientID, _ number: Int64, _ key: String, after: Int64, _ row: Row) -> Upload {
            upload(
                client, number, base: base, at: later(base, by: after),
                .create(Model.session(key), fields(row, byDefault: [1, 2, 3, 4])))
        }
        // The base has seen the row, so nothing is concurrent.
        try await apply(create(ada, 1, "a", after: 10, Model.sessionRow("a", "", rating: 1)))
        // Ada's first create makes the row. Her second one and an earlier one of Bob's don't change it; a later one does.
        try await apply(create(ada, 2, "b", after: 20, Model.sessionRow("b", "ada")))
        try await apply(create(ada, 3, "b", after: 30, Model.sessionRow("b", "ada again")))
        try await apply(create(bob, 1, "b", after: 5, Model.sessionRow("b", "bob, earlier")))
        try await apply(create(ada, 4, "c", after: 20, Model.sessionRow("c", "ada")))
        try await apply(create(bob, 2, "c", after: 30, Model.sessionRow("c", "bob, later")))
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session),
            [
                .string("a"): Model.sessionRow("a", "Server", seats: 7, startsAt: 5, rating: 1),
                .string("b"): Model.sessionRow("b", "ada"), .string("c"): Model.sessionRow("c", "bob, later"),
            ], "sessions")
    }

    func futureStampsAreClamped() async throws {
        try await open(ada)
        try await write(Model.put(Model.session, Model.sessionRow("a", "0")))
        let base = try await newTick()
        try await apply(
            upload(
                ada, 1, base: base, at: later(base, by: 86_400_000_000),
                .set(Model.session("a"), field(Model.Session.title, .string("ada")))))
        try await write(Model.put(Model.session, Model.sessionRow("a", "sql", seats: 1)))
        try await open(bob)
        // Plain SQL came later. Bob, who saw neither edit, came before it.
        try requireEqual(
            try await store.upload([
                upload(
                    bob, 1, base: base, at: later(base, by: 1),
                    .set(Model.session("a"), field(Model.Session.title, .string("bob"))))
            ]), [.applied(lost: 1)], "Bob's edit")
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session), [.string("a"): Model.sessionRow("a", "sql", seats: 1)], "sessions")
    }

    func additionsAllCount() async throws {
        try await open(ada, bob)
        try await write(Model.put(Model.session, Model.sessionRow("a", "0", seats: 100)))
        let base = try await newTick()
        func add(_ client: ClientID, _ amount: Int64, _ number: Int64) -> Upload {
            upload(
                client, number, base: base, .add(Model.session("a"), column: Model.Session.seats, amount: amount))
        }
        try await apply(add(ada, 5, 1), add(bob, 7, 1))
        try await apply(add(bob, -2, 2))
        // A set that is earlier than additions doesn't undo them.
        try await apply(
            upload(
                ada, 2, base: base, at: later(base, by: 0),
                .set(Model.session("a"), field(Model.Session.seats, .int(1000)))))
        _ = try await newTick()
        try requireEqual(
            try await rows(Model.session)[.string("a")]?[Model.Session.seats], .int(1005), "seats")
    }

    func eraseWins() async throws {
        try await open(ada, bob)
        try await write(Model.put(Model.session, Model.sessionRow("a", "0")))
        let base = try await newTick()
        try await apply(upload(ada, 1, base: base, .erase(Model.session("a"))))
        try requireEqual(
            try await store.upload([
                upload(bob, 1, base: base, .set(Model.session("a"), field(Model.Session.title, .string("bob")))),
                upload(bob, 2, base: base, .create(Model.session("a"), fields(Model.sessionRow("a", "bob")))),
            ]), [.applied(lost: 1), .applied(lost: 1)], "concurrent edits")
        let seen = try await newTick()
        try requireEqual(try await rows(Model.session), [:], "sessions")
        try await apply(upload(bob, 3, base: seen, .create(Model.session("a"), fields(Model.sessionRow("a", "new")))))
        _ = try await newTick()
        try requireEqual(try await rows(Model.session), [.string("a"): Model.sessionRow("a", "new")], "the new object")
    }

    func listsMerge() async throws {
        try await open(ada, bob)
        try await write(
            Model.put(Model.speaker, Model.speakerRow(1, "Ada")), Model.put(Model.speaker, Model.speakerRow(2, "Bob")),
            Model.put(Model.session, Model.sessionRow("a", "One", seats: 3)),
            Model.put(Model.element, Model.elementRow(1, of: "a", "a", 1)))
        let base = try await newTick()
        func append(_ id: UInt32, _ speaker: Int64, rank: String) -> Instruction {
            .create(Model.element(id), fields(Model.elementRow(id, of: "a", rank, speaker)))
        }
        try await apply(
            upload(ada, 1, base: base, append(2, 2, rank: "b")), upload(bob, 1, base: base, append(3, 1, rank: "b")),
            upload(bob, 2, base: base, .set(Model.element(1), field(ElementColumn.rank, .string("z")))))
        let guarded: @Sendable (WriteRequest) -> WriteDenial? = { request in
            request.classIndex == Model.session && request.old?[Model.Session.seats] == .int(3)
                && request.new?[Model.Session.seats] == .int(3) ? "Not your session." : nil
        }
        let results = try await store.upload([
            upload(ada, 2, base: base, [append(4, 1, rank: "c")], permit: guarded),
            upload(ada, 3, base: base, [.erase(Model.element(1))], permit: guarded),
            upload(bob, 3, base: base, append(5, 77, rank: "c")),
        ])
        for result in results.prefix(2) {
            guard let refusal = result.refusal, refusal.code == .notPermitted else {
                throw ServerStoreConformanceFailure("the owner's permission was not asked: \(result)")
            }
        }
        try requireEqual(results[2], .applied(lost: 1), "an element whose target is missing")
        _ = try await newTick()
        try requireEqual(
            Set(try await rows(Model.element).values),
            [
                Model.elementRow(1, of: "a", "z", 1), Model.elementRow(2, of: "a", "b", 2),
                Model.elementRow(3, of: "a", "b", 1),
            ], "elements")
        let change = try change(Model.session("a"), in: try await difference(from: base))
        try requireEqual(change.changedElements[Model.element]?.count, 3, "changed elements")
    }
}
