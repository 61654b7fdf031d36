import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// Links and list elements, whose targets may be missing, erased, or created later.
@Suite struct ArbiterLinkTests {
    @Test("A link to an object that doesn't exist becomes nil")
    func danglingLink() throws {
        var f = F()
        f.load(1, parent: .int(3))
        f.load(3)
        #expect(try f.apply([F.set(1, F.parent, .int(2))]).writes == [F.update(1, F.parent, .null)])
    }

    @Test("A link set before its target is created in the same changeset is kept")
    func linkBeforeTarget() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([F.set(1, F.parent, .int(2)), .create(F.item(2), [])])
        #expect(result.writes.count == 3)
        #expect(result.writes.last == F.update(1, F.parent, .int(2)))
    }

    @Test("A link waiting for its target gives way to a later write in the same changeset")
    func deferredLink() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([
            F.set(1, F.parent, .int(2)), .create(F.item(2), []), F.set(1, F.parent, .null),
        ])
        #expect(result.writes.last == F.update(1, F.parent, .null))
    }

    @Test(
        "A link set to nil by an erase competes by the erase's stamp",
        arguments: [(50, 1), (150, 0)] as [(Int64, Int)])
    func foreignKeys(mine: Int64, lost: Int) throws {
        var f = F()
        f.load(1, parent: .int(3))
        f.load(2)
        f.load(3)
        #expect(try f.apply([.erase(F.item(3))], at: 100, by: F.b).writes == [.erase(F.item(3))])
        #expect(try f.apply([F.set(1, F.parent, .int(2))], at: mine, by: F.a).lost == lost)
    }

    @Test("An erase unlinks the objects that link to its target at that moment, and no others")
    func unlinking() throws {
        var f = F()
        for key in 1...5 as ClosedRange<Int64> { f.load(key) }
        f.load(6, parent: .int(1))
        f.load(7, parent: .int(1))
        _ = try f.apply(
            [
                // Links that leave the target and return, leave for good, end up at it, or precede its creation.
                F.set(6, F.parent, .int(2)), F.set(6, F.parent, .int(1)), F.set(7, F.parent, .int(2)),
                F.set(3, F.parent, .int(1)), .create(F.item(9), [FieldWrite(column: F.parent, value: .int(8))]),
                .create(F.item(8), []),
            ], at: 10, by: F.b)
        _ = try f.apply([.erase(F.item(1)), .erase(F.item(8))], at: 20, by: F.b, number: 2)
        // Links set to nil by the erase have its stamp, the others keep theirs.
        for (key, lost) in [(6, 1), (3, 1), (9, 1), (7, 0)] as [(Int64, Int)] {
            #expect(try f.apply([F.set(key, F.parent, .int(4))], at: 15, by: F.a, number: key).lost == lost, "\(key)")
        }
    }

    @Test("Erasing an object erases the list elements that point at it")
    func elementOfErasedTarget() throws {
        var f = F()
        f.load(1)
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        _ = try f.apply([.erase(F.item(2))], by: F.b)
        let rank = FieldWrite(column: ElementColumn.rank, value: .string("z"))
        #expect(try f.apply([.set(F.element(1), [rank])], at: 999, by: F.a).writes.isEmpty)
    }

    @Test("An object may link to itself")
    func selfLink() throws {
        var f = F()
        let result = try f.apply([.create(F.item(1), [FieldWrite(column: F.parent, value: .int(1))])])
        guard case .insert(_, let row, _) = result.writes.first else { return #expect(Bool(false)) }
        #expect(row[F.parent] == .int(1))
    }

    @Test("A list element is dropped while its target doesn't exist")
    func elementOfMissingTarget() throws {
        var f = F()
        f.load(1)
        let fields = [
            FieldWrite(column: ElementColumn.owner, value: .int(1)),
            FieldWrite(column: ElementColumn.rank, value: .string("a")),
            FieldWrite(column: ElementColumn.target, value: .int(2)),
        ]
        #expect(try f.apply([.create(F.element(1), fields)]).writes.isEmpty)
        f.load(2)
        #expect(try f.apply([.create(F.element(1), fields)], number: 2).writes.count == 1)
    }

    @Test("An element can't move to another owner")
    func elementOwner() throws {
        var f = F()
        f.load(1)
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        #expect(throws: Refusal.self) {
            _ = try f.apply([.set(F.element(1), [FieldWrite(column: ElementColumn.owner, value: .int(2))])])
        }
    }

    @Test("An element created before its target waits for it, along with its later instructions")
    func elementBeforeTarget() throws {
        var f = F()
        f.load(1)
        let rank = [FieldWrite(column: ElementColumn.rank, value: .string("z"))]
        let result = try f.apply([
            F.createElement(F.element(1), owner: 1, target: 2), F.createElement(F.element(2), owner: 3, target: 2),
            .set(F.element(1), rank), F.create(F.item(3), title: "three"), F.create(F.item(2), title: "two"),
            F.createElement(F.element(3), owner: 3, target: 2),
        ])
        #expect(
            result.writes.map(\.reference) == [
                F.item(3), F.item(2), F.element(1), F.element(1), F.element(2), F.element(3),
            ])
        #expect(result.lost == 0)
    }

    @Test("An element whose target is never created is dropped")
    func elementWithoutTarget() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([
            F.createElement(F.element(1), owner: 1, target: 2), F.create(F.item(3), title: "three"),
        ])
        #expect(result.writes.map(\.reference) == [F.item(3)])
        #expect(result.lost == 1)
    }

    @Test("An element waiting for its target is dropped when its owner is erased")
    func elementOfErasedOwner() throws {
        var f = F()
        f.load(1)
        let result = try f.apply([
            F.createElement(F.element(1), owner: 1, target: 2), .erase(F.item(1)), F.create(F.item(1), title: "anew"),
            F.create(F.item(2), title: "two"),
        ])
        #expect(!result.writes.map(\.reference).contains(F.element(1)))
    }

    @Test("An element links to a target that the changeset erases and creates again")
    func elementOfRecreatedTarget() throws {
        var f = F()
        f.load(1)
        f.load(2)
        let result = try f.apply([
            .erase(F.item(2)), F.createElement(F.element(1), owner: 1, target: 2), F.create(F.item(2), title: "anew"),
        ])
        #expect(result.writes.map(\.reference) == [F.item(2), F.item(2), F.element(1)])
        #expect(result.lost == 0)
    }

    @Test("references(of:) names the objects written and those linked to")
    func references() {
        let changeset = Changeset(
            number: 1, base: 0, stamp: Stamp(microseconds: 0),
            instructions: [F.set(1, F.parent, .int(2)), .create(F.item(3), []), F.set(3, F.parent, .int(1))])
        let references = F().arbiter.references(of: changeset)
        #expect(references.written == [F.item(1), F.item(3)])
        #expect(references.linked == [F.item(2)])
    }
}
