import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// Which of two writes wins: what happened before, the later stamp, defaults and counters. ``Arbiter``'s other rules have
/// suites of their own.
@Suite struct ArbiterTests {
    // MARK: What happened before

    @Test("A write that the base sees is earlier, whatever the clocks say")
    func seenByBase() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], xid: 7, at: 999, by: F.b)
        let result = try f.apply([F.set(1, F.title, .string("new"))], at: 5)
        #expect(result.writes == [F.update(1, F.title, .string("new"))])
        #expect(result.lost == 0)
    }

    @Test("A transaction still running at the base is concurrent with the changeset")
    func runningAtBase() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], xid: 8, at: 999, by: F.b)
        let result = try f.apply([F.set(1, F.title, .string("new"))], at: 5)
        #expect(result.writes.isEmpty)
        #expect(result.lost == 1)
    }

    @Test("A client's earlier changesets never conflict with its later ones")
    func ownEarlierChangesets() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 999, by: F.a)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], at: 5).lost == 0)
    }

    @Test("Changesets of one group are arbitrated against the ones before them")
    func groups() throws {
        var f = F()
        f.load(1)
        #expect(try f.apply([F.set(1, F.title, .string("a"))], at: 50, by: F.a).lost == 0)
        #expect(try f.apply([F.set(1, F.title, .string("b"))], at: 40, by: F.b).lost == 1)
        #expect(try f.apply([F.set(1, F.title, .string("a2"))], at: 30, by: F.a, number: 2).lost == 0)
    }

    // MARK: One column

    @Test(
        "Of concurrent sets the later stamp wins",
        arguments: [(99, 1), (101, 0)] as [(Int64, Int)])
    func laterStamp(mine: Int64, lost: Int) throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 100, by: F.b)
        let result = try f.apply([F.set(1, F.title, .string("new"))], at: mine)
        #expect(result.lost == lost)
        #expect(result.writes.count == 1 - lost)
    }

    @Test("Of sets with equal stamps the greater client ID wins")
    func clientTies() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 100, by: F.b)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], by: F.a).lost == 1)
        var g = F()
        g.load(1)
        g.log(1, .update, [F.title: .set], at: 100, by: F.a)
        #expect(try g.apply([F.set(1, F.title, .string("new"))], by: F.b).lost == 0)
    }

    @Test("Plain SQL wins over a device's set with the same stamp")
    func sqlTies() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 100, by: nil)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], by: F.b).lost == 1)
    }

    @Test("A set that loses one column keeps the others")
    func columns() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 200, by: F.b)
        let fields = [
            FieldWrite(column: F.title, value: .string("lost")), FieldWrite(column: F.parent, value: .int(1)),
        ]
        let result = try f.apply([.set(F.item(1), fields)])
        #expect(result.writes == [F.update(1, F.parent, .int(1))])
        #expect(result.lost == 1)
    }

    @Test("An explicit value beats a concurrent default, whatever their stamps")
    func explicitValue() throws {
        var f = F()
        f.load(1)
        f.log(1, .create, [F.title: .byDefault], at: 500, by: F.b)
        #expect(try f.apply([.create(F.item(1), [FieldWrite(column: F.title, value: .string("mine"))])]).lost == 0)
        var g = F()
        g.load(1)
        g.log(1, .create, at: 5, by: F.b)
        let byDefault = FieldWrite(column: F.title, value: .string("x"), isDefault: true)
        #expect(try g.apply([.create(F.item(1), [byDefault])]).lost == 1)
    }

    @Test("Of two concurrent defaults the later wins")
    func twoDefaults() throws {
        let byDefault = FieldWrite(column: F.title, value: .string("x"), isDefault: true)
        for (stamp, lost) in [(99, 0), (101, 1)] as [(Int64, Int)] {
            var f = F()
            f.load(1)
            f.log(1, .create, [F.title: .byDefault], at: stamp, by: F.b)
            #expect(try f.apply([.create(F.item(1), [byDefault])]).lost == lost)
        }
    }

    @Test(
        "A default doesn't overwrite a value the device could have known",
        arguments: [nil, F.a, F.b] as [ClientID?])
    func knownValue(author: ClientID?) throws {
        let fields = [
            FieldWrite(column: F.title, value: .string(""), isDefault: true),
            FieldWrite(column: F.count, value: .int(7)),
        ]
        for marks in [[:], [F.title: .byDefault]] as [[Int: LogEntry.Mark]] {
            var f = F()
            f.load(1)
            // Either the base has seen the entry, or it is the device's own.
            f.log(1, .create, marks, xid: author == F.a ? 20 : 7, at: 5, by: author)
            let result = try f.apply([.create(F.item(1), fields)])
            #expect(result.writes == [F.update(1, F.count, .int(7))])
        }
        // Older edits are no longer in the changelog.
        var f = F()
        f.load(1)
        #expect(try f.apply([.create(F.item(1), fields)]).writes == [F.update(1, F.count, .int(7))])
    }

    @Test(
        "A default doesn't overwrite an edit made to an earlier default",
        arguments: [.add(3), .set] as [LogEntry.Mark])
    func changedDefault(mark: LogEntry.Mark) throws {
        for author in [nil, F.a, F.b] as [ClientID?] {
            var f = F()
            f.load(1, count: 3)
            f.log(1, .create, [F.count: .byDefault], at: 5, by: F.b)
            f.log(1, .update, [F.count: mark], at: 6, by: author)
            let byDefault = FieldWrite(column: F.count, value: .int(0), isDefault: true)
            #expect(try f.apply([.create(F.item(1), [byDefault])]).writes.isEmpty)
        }
    }

    // MARK: Counters

    @Test("Concurrent additions all count, in any order")
    func additions() throws {
        var f = F()
        f.load(1, count: 5)
        f.log(1, .update, [F.count: .add(5)], at: 999, by: F.b)
        let result = try f.apply([.add(F.item(1), column: F.count, amount: 3)], at: 1)
        #expect(result.writes == [F.update(1, F.count, .int(8), .add(3))])
    }

    @Test("Additions to one object are written once, unless it's written otherwise in between")
    func summedAdditions() throws {
        func add(_ key: Int64, _ column: Int, _ amount: Int64) -> Instruction {
            .add(F.item(key), column: column, amount: amount)
        }
        var f = F()
        f.load(1, count: 5)
        f.load(2, count: 7)
        let summed = try f.apply([add(1, F.count, 3), add(2, F.count, 1), add(1, F.small, 2), add(1, F.count, -1)])
        #expect(
            summed.writes == [
                .update(
                    F.item(1),
                    [
                        ColumnWrite(column: F.count, value: .int(7), mark: .add(2)),
                        ColumnWrite(column: F.small, value: .int(2), mark: .add(2)),
                    ]),
                F.update(2, F.count, .int(8), .add(1)),
            ])
        #expect(summed.positions == [3, 1])
        let separate = try f.apply([add(1, F.count, 1), F.set(1, F.count, .int(0)), add(1, F.count, 4)], number: 2)
        #expect(
            separate.writes == [
                F.update(1, F.count, .int(8), .add(1)), F.update(1, F.count, .int(0)),
                F.update(1, F.count, .int(4), .add(4)),
            ])
        let anew = try f.apply(
            [add(1, F.count, 1), .erase(F.item(1)), F.create(F.item(1), title: "a"), add(1, F.count, 2)], number: 3)
        #expect(anew.writes.count == 4 && anew.writes.last == F.update(1, F.count, .int(2), .add(2)))
        // If the database has refused something, it's to say which of them.
        f.arbiter.sumsAdditions = false
        #expect(try f.apply([add(2, F.count, 1), add(2, F.count, 1)], number: 4).positions == [0, 1])
        f.arbiter.sumsAdditions = true
        // The sum of the amounts, but not the value, would exceed 64 bits.
        f.load(3, count: .min)
        let large = try f.apply([add(3, F.count, .max), add(3, F.count, .max)], number: 5)
        #expect(large.writes.count == 2 && large.writes.last == F.update(3, F.count, .int(.max - 1), .add(.max)))
    }

    @Test("A later set discards an addition; an earlier set doesn't")
    func setAfterAddition() throws {
        var f = F()
        f.load(1, count: 50)
        f.log(1, .update, [F.count: .set], at: 200, by: F.b)
        #expect(try f.apply([.add(F.item(1), column: F.count, amount: 3)], at: 100).lost == 1)
        var g = F()
        g.load(1, count: 50)
        g.log(1, .update, [F.count: .set], at: 50, by: F.b)
        let result = try g.apply([.add(F.item(1), column: F.count, amount: 3)], at: 100)
        #expect(result.writes == [F.update(1, F.count, .int(53), .add(3))])
    }

    @Test("A set keeps later additions and discards earlier ones")
    func additionAfterSet() throws {
        var f = F()
        f.load(1, count: 12)
        f.log(1, .update, [F.count: .add(5)], at: 50, by: F.b)
        f.log(1, .update, [F.count: .add(7)], at: 150, by: F.b)
        let result = try f.apply([F.set(1, F.count, .int(100))], at: 100)
        #expect(result.writes == [F.update(1, F.count, .int(107))])
    }

    @Test("A set is refused if later additions to it overflow its column's type")
    func overflowingSet() throws {
        var f = F()
        f.load(1, count: 5)
        f.log(1, .update, [F.count: .add(5), F.small: .add(5)], at: 150, by: F.b)
        for (column, value) in [(F.count, Int64.max), (F.small, 123)] {
            let error = #expect(throws: Refusal.self) { _ = try f.apply([F.set(1, column, .int(value))], at: 100) }
            #expect(error?.code == .invalid)
        }
        let result = try f.apply([F.set(1, F.small, .int(122))], at: 100)
        #expect(result.writes == [F.update(1, F.small, .int(127))])
    }

    @Test("An addition that overflows its column's type is refused")
    func overflow() throws {
        var f = F()
        f.load(1, count: .max)
        let error = #expect(throws: Refusal.self) {
            _ = try f.apply([.add(F.item(1), column: F.count, amount: 1)])
        }
        #expect(error?.code == .invalid)
        #expect(throws: Refusal.self) { _ = try f.apply([.add(F.item(1), column: F.small, amount: 128)]) }
        #expect(throws: Refusal.self) { _ = try f.apply([.add(F.item(1), column: F.title, amount: 1)]) }
    }
}
