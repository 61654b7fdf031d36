import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

extension ServerStoreScenario {
    func run(_ check: ServerStoreCheck) async throws {
        switch check {
        case .newDatabaseStandsAtTheOrigin: try await newDatabaseStandsAtTheOrigin()
        case .tickFollowsAChange: try await tickFollowsAChange()
        case .readersSeeTheTick: try await readersSeeTheTick()
        case .rowsComeBackUnchanged: try await rowsComeBackUnchanged()
        case .predicatesSelect: try await predicatesSelect()
        case .differencesHaveBothImages: try await differencesHaveBothImages()
        case .differencesSkipWhatCameAndWent: try await differencesSkipWhatCameAndWent()
        case .differencesFollowLists: try await differencesFollowLists()
        case .differencesSurviveKeyReuse: try await differencesSurviveKeyReuse()
        case .clientsOpen: try await clientsOpen()
        case .readableIsKept: try await readableIsKept()
        case .uploadsApply: try await uploadsApply()
        case .progressIsAsOfTheTick: try await progressIsAsOfTheTick()
        case .uploadsCountOnce: try await uploadsCountOnce()
        case .copiedFilesAreNoticed: try await copiedFilesAreNoticed()
        case .basesMustBeKnown: try await basesMustBeKnown()
        case .originNeedsAllThatHappened: try await originNeedsAllThatHappened()
        case .permissionIsAsked: try await permissionIsAsked()
        case .permissionIsAskedForWhatLeavesNoTrace: try await permissionIsAskedForWhatLeavesNoTrace()
        case .unseenObjectsCountAsMissing: try await unseenObjectsCountAsMissing()
        case .constraintsRefuse: try await constraintsRefuse()
        case .refusalsAreKeptUntilAcknowledged: try await refusalsAreKeptUntilAcknowledged()
        case .differencesTellNewRefusals: try await differencesTellNewRefusals()
        case .laterEditWins: try await laterEditWins()
        case .seenEditsCameBefore: try await seenEditsCameBefore()
        case .defaultsYield: try await defaultsYield()
        case .futureStampsAreClamped: try await futureStampsAreClamped()
        case .additionsAllCount: try await additionsAllCount()
        case .eraseWins: try await eraseWins()
        case .linksToErasedObjectsBecomeNil: try await linksToErasedObjectsBecomeNil()
        case .erasesEndLinksOfTheirChangeset: try await erasesEndLinksOfTheirChangeset()
        case .listsMerge: try await listsMerge()
        case .randomHistories: break
        }
    }

    private func newDatabaseStandsAtTheOrigin() async throws {
        try requireEqual(try await store.latestTick(), .origin, "the newest tick")
        try requireEqual(try await store.tick(0), .origin, "tick 0")
        try requireEqual(try await store.tick(1), nil, "tick 1")
    }

    private func tickFollowsAChange() async throws {
        try await write(Model.put(Model.room, Model.roomRow(1, "Aula")))
        let first = try await newTick()
        try requireEqual(try await store.makeTick(), nil, "a tick without a change")
        try requireEqual(try await store.latestTick(), first, "the newest tick")
        try await write(Model.put(Model.room, Model.roomRow(2, "Foyer")))
        let second = try await newTick()
        try requireTrue(second.number > first.number, "tick numbers increase")
        try requireTrue(second.time >= first.time, "tick times don't decrease")
        try requireTrue(second.token != first.token, "tokens differ")
        try requireEqual(try await store.tick(first.number), first, "the first tick by number")
        try requireEqual(try await store.tick(second.number + 1), nil, "a tick that doesn't exist yet")
    }

    private func readersSeeTheTick() async throws {
        try await write(Model.put(Model.room, Model.roomRow(1, "Aula")))
        _ = try await newTick()
        try await write(
            Model.put(Model.room, Model.roomRow(1, "Audimax")), Model.put(Model.room, Model.roomRow(2, "Foyer")))
        let before = try await rows(Model.room)
        try requireEqual(before, [Model.room(1).key: Model.roomRow(1, "Aula")], "before the tick")
        _ = try await newTick()
        try requireEqual(try await rows(Model.room).count, 2, "rooms after the tick")
    }

    private func rowsComeBackUnchanged() async throws {
        let rows = [
            Model.put(Model.room, Model.roomRow(1, "", isOpen: false, plan: [])),
            Model.put(Model.room, Model.roomRow(2, "Zoë 𝄞 e\u{301}", plan: [0, 255, 128])),
            Model.put(
                Model.session,
                Model.sessionRow(
                    "a b\"'\\", "x", room: 2, seats: .min, startsAt: Value.dateRange.lowerBound,
                    rating: -.greatestFiniteMagnitude, price: .min)),
            Model.put(
                Model.session,
                Model.sessionRow(
                    "é", "y", seats: .max, startsAt: Value.dateRange.upperBound, rating: .leastNonzeroMagnitude,
                    price: "1E-6176")),
            Model.put(Model.session, Model.sessionRow("z", "z", startsAt: -1, rating: 0.1, price: .nan)),
            Model.put(Model.speaker, Model.speakerRow(-5, "Ada", badge: 9)),
            Model.put(Model.speaker, Model.speakerRow(.max, "Bob")),
            Model.put(Model.element, Model.elementRow(1, of: "é", "a1", -5)),
        ]
        try await harness.write(rows)
        let base = try await newTick()
        for classIndex in schema.classes.indices {
            let expected = rows.filter { $0.0.classIndex == classIndex }
            try requireEqual(
                try await self.rows(classIndex),
                Dictionary(uniqueKeysWithValues: expected.map { ($0.0.key, $0.1 ?? Row([])) }),
                "rows of \(schema[classIndex].name)")
        }
        // The values must also survive as old values in the changelog.
        try await harness.write(rows.reversed().map { ($0.0, nil) })
        _ = try await newTick()
        let difference = try await difference(from: base)
        for (reference, row) in rows where schema[reference.classIndex].owner == nil {
            try requireEqual(try change(reference, in: difference).old, row, "the old image of \(reference)")
        }
    }

    private func predicatesSelect() async throws {
        try await write(
            Model.put(Model.speaker, Model.speakerRow(1, "Ada")),
            Model.put(Model.session, Model.sessionRow("a", "One", seats: 10)),
            Model.put(Model.session, Model.sessionRow("b", "Two", seats: 20)),
            Model.put(Model.session, Model.sessionRow("c", "Three", seats: 30)),
            Model.put(Model.element, Model.elementRow(1, of: "a", "a", 1)),
            Model.put(Model.element, Model.elementRow(2, of: "c", "a", 1)))
        _ = try await newTick()
        let predicate = Predicate.compare(PropertyPath("seats"), .greaterOrEqual, .int(20))
        try requireEqual(
            Set(try await rows(Model.session, matching: predicate).keys), [.string("b"), .string("c")], "sessions")
        try requireEqual(
            Set(try await rows(Model.element, matching: predicate).keys), [Model.element(2).key], "elements")
        // A union of many subscriptions, each of which is within the bounds of a single one.
        let union = Predicate.or(
            (0..<17).map { part in
                .isIn(PropertyPath("seats"), (0..<4_000).map { .int(20 + Int64(part) * 4_000 + $0) })
            })
        try requireEqual(
            Set(try await rows(Model.session, matching: union).keys), [.string("b"), .string("c")], "a large union")
        try await store.withReader { [schema] reader in
            try requireEqual(try await reader.count(classIndex: Model.session, matching: predicate), 2, "count")
            let collected = RowCollector(schema: schema)
            try await reader.rows(
                classIndex: Model.session, matching: predicate, columns: [0, Model.Session.seats]
            ) { await collected.add($0) }
            let rows = try await collected.rows()
            try requireEqual(rows[.string("b")], Row([.string("b"), .int(20)]), "two columns")
        }
    }

    private func differencesHaveBothImages() async throws {
        try await write(
            Model.put(Model.session, Model.sessionRow("a", "One", seats: 1)),
            Model.put(Model.session, Model.sessionRow("b", "Two")))
        let first = try await newTick()
        try await write(Model.put(Model.session, Model.sessionRow("a", "Uno", seats: 1)))
        let second = try await newTick()
        try await write(Model.put(Model.session, Model.sessionRow("a", "Eins", seats: 2)))
        try await write((Model.session("b"), nil), Model.put(Model.session, Model.sessionRow("c", "Three")))
        let third = try await newTick()
        let whole = try await difference(from: first)
        try requireEqual([whole.from, whole.to], [first.number, third.number], "its ticks")
        try requireEqual(whole.changes.count, 3, "changes")
        let a = try change(Model.session("a"), in: whole)
        try requireEqual(a.old, Model.sessionRow("a", "One", seats: 1), "a before")
        try requireEqual(a.new, Model.sessionRow("a", "Eins", seats: 2), "a after")
        try requireEqual(a.changedColumns, [Model.Session.title, Model.Session.seats], "a's changed columns")
        let b = try change(Model.session("b"), in: whole)
        try requireEqual([b.old, b.new], [Model.sessionRow("b", "Two"), nil], "b")
        let c = try change(Model.session("c"), in: whole)
        try requireEqual([c.old, c.new], [nil, Model.sessionRow("c", "Three")], "c")
        let last = try await difference(from: second)
        try requireEqual(
            try change(Model.session("a"), in: last).old, Model.sessionRow("a", "Uno", seats: 1), "a at the second tick"
        )
        try requireEqual(try await difference(from: third).changes, [], "changes since now")
    }

    private func differencesSkipWhatCameAndWent() async throws {
        try await write(Model.put(Model.session, Model.sessionRow("a", "One")))
        let base = try await newTick()
        try await write(Model.put(Model.session, Model.sessionRow("b", "Two")))
        try await write((Model.session("b"), nil), Model.put(Model.session, Model.sessionRow("c", "Three")))
        _ = try await newTick()
        try requireEqual(try await difference(from: base).changes.map(\.reference), [Model.session("c")], "changes")
    }

    private func differencesFollowLists() async throws {
        try await write(
            Model.put(Model.speaker, Model.speakerRow(1, "Ada")), Model.put(Model.speaker, Model.speakerRow(2, "Bob")),
            Model.put(Model.session, Model.sessionRow("a", "One")),
            Model.put(Model.session, Model.sessionRow("b", "Two")),
            Model.put(Model.element, Model.elementRow(1, of: "a", "a", 1)),
            Model.put(Model.element, Model.elementRow(2, of: "a", "b", 2)),
            Model.put(Model.element, Model.elementRow(3, of: "b", "a", 1)))
        let base = try await newTick()
        try await write(
            Model.put(Model.element, Model.elementRow(1, of: "a", "c", 1)),
            (Model.element(2), nil),
            Model.put(Model.element, Model.elementRow(4, of: "a", "d", 2)),
            Model.put(Model.element, Model.elementRow(5, of: "a", "e", 2)))
        try await write((Model.element(5), nil))
        _ = try await newTick()
        let difference = try await difference(from: base)
        try requireEqual(difference.changes.map(\.reference), [Model.session("a")], "changed objects")
        let a = try change(Model.session("a"), in: difference)
        try requireEqual(a.old, a.new, "the object itself")
        try requireEqual(a.changedColumns, [], "its changed columns")
        let changed = Set(a.changedElements[Model.element] ?? [])
        try requireEqual(
            changed, [Model.elementRow(1, of: "a", "c", 1), Model.elementRow(4, of: "a", "d", 2)], "changed elements")
        try requireEqual(a.removedElements[Model.element], [Model.element(2).key], "removed elements")
        try requireEqual(Set(a.elements[Model.element] ?? []), changed, "all elements")
        let middle = try await tick()
        try await write((Model.session("a"), nil))
        _ = try await newTick()
        let gone = try change(Model.session("a"), in: try await self.difference(from: middle))
        try requireEqual(gone.new, nil, "the erased object")
        try requireEqual(try await rows(Model.element).count, 1, "remaining elements")
    }

    private func differencesSurviveKeyReuse() async throws {
        try await write(
            Model.put(Model.speaker, Model.speakerRow(1, "Ada")),
            Model.put(Model.session, Model.sessionRow("a", "One")),
            Model.put(Model.element, Model.elementRow(1, of: "a", "a", 1)))
        let base = try await newTick()
        try await write((Model.session("a"), nil))
        try await write(Model.put(Model.session, Model.sessionRow("a", "New", seats: 4)))
        _ = try await newTick()
        let a = try change(Model.session("a"), in: try await difference(from: base))
        try requireEqual(a.old, Model.sessionRow("a", "One"), "before")
        try requireEqual(a.new, Model.sessionRow("a", "New", seats: 4), "after")
        try requireEqual(a.removedElements[Model.element], [Model.element(1).key], "removed elements")
    }
}
