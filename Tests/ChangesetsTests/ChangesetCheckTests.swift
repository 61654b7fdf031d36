import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

@Suite("Checks before any row is read")
struct ChangesetCheckTests {
    private let check = ChangesetCheck(schema: F.schema)

    private func changeset(_ instructions: [Instruction]) -> Changeset {
        Changeset(number: 1, base: 1, stamp: Stamp(microseconds: 1), instructions: instructions)
    }

    private func reason(_ instructions: Instruction...) -> Refusal? {
        var refused = RefusedInstructions()
        check.refuseInvalid(in: changeset(instructions), &refused)
        return refused.told.first
    }

    private static func key(_ value: Int64) -> FieldWrite { FieldWrite(column: 0, value: .int(value)) }

    @Test("A create or set whose key column names another object is refused, and the arbiter writes nothing")
    func otherKey() throws {
        for instruction: Instruction in [.create(F.item(1), [Self.key(2)]), .set(F.item(1), [Self.key(2)])] {
            let refusal = try #require(reason(instruction))
            #expect(refusal.code == .invalid && refusal.className == "Item" && refusal.key == .int(1))
            #expect(refusal.message.contains("_id"))
            var fixture = F()
            fixture.load(1)
            #expect(throws: Refusal.self) { try fixture.apply([instruction]) }
        }
        var empty = F()
        #expect(throws: Refusal.self) { try empty.apply([.create(F.item(1), [Self.key(2)])]) }
    }

    @Test("A create that repeats its own key creates that object")
    func sameKey() throws {
        var fixture = F()
        let writes = try fixture.apply([.create(F.item(1), [Self.key(1)])]).writes
        guard case .insert(let reference, let row, let defaults)? = writes.first, writes.count == 1 else {
            Issue.record("\(writes)")
            return
        }
        #expect(reference == F.item(1) && row[0] == .int(1) && !defaults.contains(0))
    }

    @Test("An addition to a primary key is refused")
    func additionToKey() {
        #expect(reason(.add(F.item(1), column: 0, amount: 1))?.code == .invalid)
        #expect(reason(.add(F.item(1), column: F.count, amount: 1)) == nil)
    }

    @Test("An instruction that writes a column twice is refused; two instructions may write it")
    func twice() {
        let title = FieldWrite(column: F.title, value: .string("a"))
        #expect(reason(.set(F.item(1), [title, title]))?.code == .invalid)
        #expect(reason(.create(F.item(1), [title, title]))?.code == .invalid)
        #expect(reason(.set(F.item(1), [title]), .set(F.item(1), [title])) == nil)
    }

    @Test("A value or key of another type, and an element without a usable owner, are refused")
    func wrongTypes() {
        #expect(reason(.set(F.item(1), [FieldWrite(column: F.title, value: .int(1))]))?.code == .invalid)
        #expect(reason(.erase(ObjectReference(classIndex: 0, key: .string("1"))))?.code == .invalid)
        #expect(reason(.erase(ObjectReference(classIndex: 99, key: .int(1))))?.code == .invalid)
        #expect(reason(.set(F.item(1), [FieldWrite(column: 99, value: .null)]))?.code == .invalid)
        for owner: Value in [.null, .string("x")] {
            let element = Instruction.create(
                F.element(1), [FieldWrite(column: ElementColumn.owner, value: owner)])
            #expect(reason(element)?.code == .invalid)
        }
    }

    // MARK: One object very many times

    /// Two instructions at a time on object 1, and one on object 2 at the end.
    private func refusals(_ count: Int, of pair: [Instruction]) -> (told: [Refusal], applied: [Instruction]) {
        let instructions = (0..<count).flatMap { _ in pair } + [F.set(2, F.count, .int(1))]
        var refused = RefusedInstructions()
        check.refuseInvalid(in: changeset(instructions), &refused)
        return (refused.told, refused.applied(of: changeset(instructions), in: F.schema).instructions)
    }

    @Test("An object that a changeset erases too often is refused completely, and the rest is applied")
    func erasedTooOften() {
        let pair = [F.create(F.item(1), title: "a"), .erase(F.item(1))]
        let limit = Changeset.maximumCountOfObject.erases
        #expect(refusals(limit, of: pair).told.isEmpty)
        let (told, applied) = refusals(limit + 1, of: pair)
        #expect(told.map(\.key) == [.int(1)] && told.map(\.code) == [.invalid])
        #expect(applied == [F.set(2, F.count, .int(1))])
    }

    @Test("Too many instructions on an object are refused; consecutive additions count as one")
    func writtenTooOften() {
        let limit = Changeset.maximumCountOfObject.instructions
        let (set, add) = (F.set(1, F.title, .string("a")), Instruction.add(F.item(1), column: F.count, amount: 1))
        #expect(refusals(limit / 2, of: [set, set]).told.isEmpty)
        #expect(refusals(limit / 2 + 1, of: [set, set]).applied == [F.set(2, F.count, .int(1))])
        #expect(refusals(limit / 2 + 1, of: [set, add]).applied == [F.set(2, F.count, .int(1))])
        #expect(refusals(limit * 2, of: [add, add]).told.isEmpty)
        // Instructions on many objects are never too many.
        let many = (0..<Int64(limit * 2)).map { Instruction.erase(F.item($0)) }
        var refused = RefusedInstructions()
        check.refuseInvalid(in: changeset(many), &refused)
        #expect(refused.isEmpty)
    }

    // MARK: Permission

    private func denied(
        _ operations: Set<WriteRequest.Operation>, _ instructions: Instruction...
    ) -> Bool {
        var refused = RefusedInstructions()
        check.refuseDenied(
            in: changeset(instructions),
            denial: { operation, classIndex in classIndex == 0 && operations.contains(operation) ? "no" : nil },
            &refused)
        return refused.told.first?.code == .notPermitted
    }

    @Test("Permission is refused before reading rows only if no row could allow it")
    func permissions() {
        let create = F.create(F.item(1), title: "a")
        let set = F.set(1, F.title, .string("b"))
        let erase = Instruction.erase(F.item(1))
        #expect(denied([.update], set) && !denied([.create, .delete], set))
        #expect(denied([.delete], set, erase) && !denied([.create, .update], erase))
        // A create edits an object that exists, and makes one that doesn't.
        #expect(denied([.create, .update], create, set))
        #expect(!denied([.create], create) && !denied([.update], create, set))
        #expect(denied([.create, .delete], create, erase) && !denied([.create, .update], create, erase))
        // The other class permits everything.
        #expect(!denied([.create, .update, .delete], .erase(F.page(1))))
    }

    @Test("An element is refused like its object, unless the changeset writes an object of that class too")
    func elements() {
        let element = F.createElement(F.element(1), owner: 1, target: 2)
        #expect(denied([.update], element) && !denied([.create, .delete], element))
        #expect(!denied([.update], element, F.create(F.item(1), title: "a")))
        #expect(!denied([.update], .erase(F.element(1, F.pageElementClass))))
    }
}
