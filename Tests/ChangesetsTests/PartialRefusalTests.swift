import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// Only what isn't permitted or possible is refused; the rest of the changeset takes effect.
@Suite struct PartialRefusalTests {
    private static func set(_ key: Int64, _ fields: (column: Int, value: Value)...) -> Instruction {
        .set(F.item(key), fields.map { FieldWrite(column: $0.column, value: $0.value) })
    }

    /// Nobody may call an item "forbidden", or give one a negative count.
    private static func permit(_ request: WriteRequest) -> WriteDenial? {
        if request.new?[F.title] == .string("forbidden") { return WriteDenial("not this title", role: "author") }
        if case .int(let count)? = request.new?[F.count], count < 0 {
            return WriteDenial("not this count", role: "author")
        }
        return nil
    }

    @Test("Other objects and other fields of the same object are written; the refusal names object, reason and role")
    func fields() {
        var f = F()
        f.load(1)
        f.load(2)
        let result = f.arbitrate(
            [
                Self.set(1, (F.title, .string("forbidden")), (F.count, .int(5))), F.set(2, F.title, .string("new")),
            ], permit: Self.permit)
        #expect(result.writes == [F.update(1, F.count, .int(5)), F.update(2, F.title, .string("new"))])
        #expect(result.positions == [0, 1])
        #expect(
            result.refused.told == [
                Refusal(.notPermitted, "not this title", className: "Item", key: .int(1), role: "author")
            ])
    }

    @Test("Instructions that would make their object forbidden are dropped, in the order of the app's calls")
    func order() {
        var f = F()
        f.load(1)
        let result = f.arbitrate(
            [
                F.set(1, F.count, .int(3)), .add(F.item(1), column: F.count, amount: -9),
                .add(F.item(1), column: F.count, amount: -2), F.set(1, F.title, .string("forbidden")),
                F.set(1, F.small, .int(7)),
            ], permit: Self.permit)
        #expect(
            result.writes == [
                F.update(1, F.count, .int(3)), F.update(1, F.count, .int(1), .add(-2)), F.update(1, F.small, .int(7)),
            ])
        #expect(result.refused.told.map(\.message) == ["not this count", "not this title"])
    }

    @Test("A forbidden state that lasts only between two instructions is permitted")
    func between() {
        var f = F()
        f.load(1)
        let result = f.arbitrate(
            [F.set(1, F.title, .string("forbidden")), F.set(1, F.title, .string("new"))], permit: Self.permit)
        #expect(result.refused.isEmpty && result.writes.count == 2)
    }

    @Test("A refused create drops its later edits, links to it and its list, but not the objects in the list")
    func create() {
        var f = F()
        f.load(1)
        let result = f.arbitrate(
            [
                F.create(F.item(2), title: "forbidden"), F.set(2, F.count, .int(1)), F.create(F.item(3), title: "part"),
                F.createElement(F.element(1), owner: 2, target: 3), F.createElement(F.element(2), owner: 1, target: 2),
                F.set(1, F.parent, .int(2)),
            ], permit: Self.permit)
        let inserted = result.writes.compactMap { if case .insert(let reference, _, _) = $0 { reference } else { nil } }
        #expect(inserted == [F.item(3)])
        #expect(result.writes.last == F.update(1, F.parent, .null))
        #expect(result.refused.told.map(\.key) == [.int(2)])
    }

    @Test("A refused erase keeps the object, with the edits before it and the links to it")
    func erase() {
        var f = F()
        f.load(1)
        f.load(2, parent: .int(1))
        let result = f.arbitrate(
            [F.set(1, F.count, .int(4)), .erase(F.item(1)), F.set(2, F.count, .int(5))],
            permit: { $0.operation == .delete ? "no" : nil })
        #expect(result.writes == [F.update(1, F.count, .int(4)), F.update(2, F.count, .int(5))])
    }

    @Test(
        "An object whose replacement is refused stays as it was, with its list", arguments: [true, false])
    func replacement(isInvalid: Bool) {
        var f = F()
        f.load(1, title: "old")
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        let result = f.arbitrate(
            [
                F.set(1, F.count, .int(4)), .erase(F.item(1)),
                isInvalid
                    ? .create(F.item(1), [FieldWrite(column: F.title, value: .int(1))])
                    : F.create(F.item(1), title: "forbidden"),
                F.createElement(F.element(2), owner: 1, target: 2),
                .set(F.element(2), [FieldWrite(column: ElementColumn.rank, value: .string("b"))]),
                F.set(1, F.small, .int(3)), F.set(2, F.count, .int(5)),
            ], permit: Self.permit)
        #expect(result.writes == [F.update(1, F.count, .int(4)), F.update(2, F.count, .int(5))])
        #expect(result.refused.told.map(\.key) == [.int(1)])
    }

    @Test("A refused change to a list names the list's object, and leaves other lists alone")
    func elements() {
        var f = F()
        for key: Int64 in 1...3 { f.load(key) }
        let result = f.arbitrate(
            [
                F.createElement(F.element(1), owner: 1, target: 3), F.createElement(F.element(2), owner: 2, target: 3),
                F.createElement(F.element(3), owner: 1, target: 3),
            ], permit: { $0.old?[0] == .int(1) ? "not this list" : nil })
        #expect(result.writes.map(\.reference) == [F.element(2)])
        #expect(result.refused.told == [Refusal(.notPermitted, "not this list", className: "Item", key: .int(1))])
    }

    @Test("A list may be edited despite a refused edit to its object, if the object may be written as it is")
    func listOfRefusedObject() {
        var f = F()
        f.load(1)
        f.load(2)
        let result = f.arbitrate(
            [F.set(1, F.title, .string("forbidden")), F.createElement(F.element(1), owner: 1, target: 2)],
            permit: Self.permit)
        #expect(result.writes.map(\.reference) == [F.element(1)])
        var g = F()
        g.load(1, title: "theirs")
        g.load(2)
        let other = g.arbitrate(
            [F.set(1, F.title, .string("mine")), F.createElement(F.element(1), owner: 1, target: 2)],
            permit: { $0.old?[F.title] == .string("theirs") ? "no" : nil })
        #expect(other.writes.isEmpty)
    }

    @Test("Only the invalid fields of a set are refused; other invalid instructions are refused whole")
    func invalid() {
        var f = F()
        f.load(1)
        let result = f.arbitrate([
            Self.set(1, (F.title, .int(1)), (F.count, .int(5))),
            .create(F.item(2), [FieldWrite(column: F.title, value: .int(1))]),
            .add(F.item(1), column: F.small, amount: 1_000), F.create(F.item(3), title: "new"),
        ])
        #expect(result.writes.map(\.reference) == [F.item(1), F.item(3)])
        #expect(result.refused.told.map(\.code) == [.invalid, .invalid, .invalid])
    }

    @Test("A user who may create objects is told that a key is taken, and the transaction's other objects are created")
    func taken() {
        var f = F()
        f.load(1, title: "theirs")
        let result = f.arbitrate(
            [F.create(F.item(1), title: "mine"), F.set(1, F.count, .int(1)), F.create(F.item(2), title: "two")],
            sees: { $1[0] != .int(1) })
        #expect(result.writes.map(\.reference) == [F.item(2)])
        #expect(result.refused.told.map(\.code) == [.constraint])
    }

    @Test("Refused writes aren't concurrent with later changesets of the group")
    func group() throws {
        var f = F()
        f.load(1)
        _ = f.arbitrate(
            [Self.set(1, (F.title, .string("forbidden")), (F.count, .int(5)))], at: 100, permit: Self.permit)
        let next = try f.apply([Self.set(1, (F.title, .string("x")), (F.count, .int(6)))], at: 1, by: F.b)
        #expect(next.lost == 1, "Only the count was written, so only that conflicts.")
    }

    @Test("Very many instructions of an object are lost if one is refused; many refused objects are reported in part")
    func bounds() {
        var f = F()
        f.load(1)
        let many = (0...100).map { F.set(1, F.title, .string("\($0)")) } + [F.set(1, F.title, .string("forbidden"))]
        let result = f.arbitrate(many + [F.create(F.item(2), title: "new")], permit: Self.permit)
        #expect(result.writes.map(\.reference) == [F.item(2)])
        var g = F()
        let items = (1...250).map { F.create(F.item(Int64($0)), title: "forbidden") }
        let told = g.arbitrate(items + [F.create(F.item(999), title: "new")], permit: Self.permit)
        #expect(told.writes.map(\.reference) == [F.item(999)])
        #expect(told.refused.told.count == RefusedInstructions.maximumRefusalCount + 1)
        #expect(told.refused.told.last?.message.hasPrefix("150 more") == true)
        #expect(told.refused.told.last?.key == nil)
    }

    @Test("If a rule keeps changing its answer, the whole changeset is refused in the end")
    func endless() {
        var f = F()
        f.load(1)
        f.load(2)
        var calls = 0
        let result = f.arbitrate(
            (0..<50).flatMap { _ in [F.set(1, F.count, .int(1)), F.createElement(F.element(1), owner: 2, target: 1)] },
            permit: { _ in
                calls += 1
                return calls.isMultiple(of: 2) ? nil : "no"
            })
        #expect(!result.refused.isEmpty)
    }
}
