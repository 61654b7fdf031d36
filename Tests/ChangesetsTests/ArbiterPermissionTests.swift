import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// What a changeset needs permission for, and what it leaves alone.
@Suite struct ArbiterPermissionTests {
    @Test("A refused changeset leaves nothing behind")
    func refusal() throws {
        var f = F()
        f.load(1)
        #expect(throws: Refusal.self) {
            _ = try f.apply([F.set(1, F.title, .int(1)), F.set(1, F.count, .string("no number"))])
        }
        #expect(throws: Refusal.self) {
            _ = try f.apply([F.set(1, F.title, .string("x"))], permit: { _ in "no" })
        }
        // Had the refused edit stayed, this one would be concurrent with it and lose.
        #expect(try f.apply([F.set(1, F.title, .string("y"))], at: 1, by: F.b).lost == 0)
    }

    @Test("Permission is asked once per object, with its row before and after")
    func permissionRows() throws {
        var f = F()
        f.load(1, title: "before")
        var asked: [WriteRequest] = []
        _ = try f.apply(
            [F.set(1, F.title, .string("middle")), F.set(1, F.title, .string("after")), .create(F.item(2), [])],
            permit: {
                asked.append($0)
                return nil
            })
        #expect(asked.map(\.operation) == [.update, .create])
        #expect(asked.first?.old?[F.title] == .string("before"))
        #expect(asked.first?.new?[F.title] == .string("after"))
        #expect(asked.last?.old == nil)
    }

    @Test("Permission is asked for every property that is written, whether or not its value changes")
    func writtenColumns() throws {
        func written(_ instructions: Instruction...) throws -> Set<Int>? {
            var f = F()
            f.load(1, title: "old", count: 5)
            f.log(1, .update, [F.small: .set], at: 200, by: F.b)
            let requests = try f.requests(instructions)
            return requests.count == 1 ? requests[0].written : nil
        }
        #expect(try written(F.set(1, F.title, .string("old"))) == [F.title])
        #expect(try written(F.create(F.item(1), title: "old"), .add(F.item(1), column: F.count, amount: 0)) == [1, 2])
        #expect(try written(F.set(1, F.small, .int(3))) == [F.small], "It loses, but permission is asked anyway.")
        #expect(try written(.add(F.item(1), column: F.small, amount: 1)) == [F.small])
        #expect(try written(F.set(1, F.title, .string("x"), isDefault: true)) == [], "The default replaces nothing.")
        #expect(try written(F.create(F.item(2), title: "new")) == [], "New objects are judged by their values.")
    }

    @Test("An object that is edited without effect and erased needs permission for both")
    func writtenAndErased() throws {
        var f = F()
        f.arbiter.load(F.page(1), F.pageRow(1, "old"))
        let title = [FieldWrite(column: F.title, value: .string("old"))]
        let asked = try f.requests([.set(F.page(1), title), .erase(F.page(1))])
        #expect(asked.map(\.operation) == [.delete, .update])
        #expect(asked.last?.written == [F.title])
    }

    @Test(
        "A user who may not write an object isn't told that a sum is too large or that an element belongs to another object",
        arguments: [
            Instruction.add(F.item(1), column: F.count, amount: .max), .add(F.item(1), column: F.small, amount: 128),
            F.createElement(F.element(1), owner: 2, target: 1),
        ])
    func permissionFirst(instruction: Instruction) throws {
        func refusal(_ permit: (WriteRequest) -> WriteDenial?) -> Refusal.Code? {
            var f = F()
            f.load(1, count: 1)
            f.load(2)
            f.loadElement(1, owner: 1, target: 1)
            return #expect(throws: Refusal.self) { _ = try f.apply([instruction], permit: permit) }?.code
        }
        #expect(refusal { _ in "no" } == .notPermitted)
        #expect(refusal { _ in nil } == .invalid)
    }

    @Test("An object the user may not read is left alone, and seen again by a later changeset of one who may")
    func unseen() throws {
        var f = F()
        f.load(1, title: "theirs", count: 1)
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        let instructions: [Instruction] = [
            F.set(1, F.title, .string("x")), .add(F.item(1), column: F.count, amount: .max), .erase(F.element(1)),
            F.createElement(F.element(2), owner: 1, target: 2), .erase(F.item(1)), F.set(2, F.parent, .int(1)),
        ]
        let isOther: (Int, Row) -> Bool = { $1[0] != .int(1) }
        let result = try f.apply(instructions, permit: { $0.old?[0] == .int(2) ? nil : "no" }, sees: isOther)
        #expect(result.writes == [F.update(2, F.parent, .int(1))], "A link to an unseen object is kept.")
        #expect(result.lost == 3)
        #expect(try f.apply([F.set(1, F.title, .string("y"))], by: F.b).writes == [F.update(1, F.title, .string("y"))])
    }

    @Test("A create of an unseen object is judged like that of a new one, and then refused because of its key")
    func unseenCreate() throws {
        func refusal(_ permit: (WriteRequest) -> WriteDenial?) -> Refusal? {
            var f = F()
            f.load(1, title: "theirs")
            let instructions = [F.create(F.item(1), title: "mine"), F.set(1, F.count, .int(2))]
            return #expect(throws: Refusal.self) {
                _ = try f.apply(instructions, permit: permit, sees: { _, _ in false })
            }
        }
        #expect(refusal { $0.old == nil && $0.new?[F.title] == .string("mine") ? "no" : nil }?.message == "no")
        #expect(
            refusal { $0.operation == .create ? nil : "no" }
                == Refusal(.constraint, "Another Item already has this primary key.", className: "Item", key: .int(1))
        )
    }

    @Test("A changeset may still write an object that it has itself made unreadable")
    func becomesUnseen() throws {
        var f = F()
        f.load(1, title: "open")
        let result = try f.apply(
            [F.set(1, F.title, .string("secret")), F.set(1, F.count, .int(2))],
            sees: { $1[F.title] != .string("secret") })
        #expect(result.writes.count == 2)
    }

    @Test("Erasing a list element needs permission to update its owner")
    func elementPermission() throws {
        var f = F()
        f.load(1, title: "owner")
        f.load(2)
        f.loadElement(1, owner: 1, target: 2)
        var asked: [WriteRequest] = []
        _ = try f.apply(
            [.erase(F.element(1))],
            permit: {
                asked.append($0)
                return nil
            })
        #expect(asked.map(\.operation) == [.update])
        #expect(asked.first?.classIndex == 0)
        #expect(asked.first?.new?[F.title] == .string("owner"))
    }

    @Test("Erasing an object with its elements needs permission to delete, and nothing else")
    func deletePermission() throws {
        var f = F()
        f.load(1)
        f.loadElement(1, owner: 1, target: 1)
        var asked: [WriteRequest] = []
        _ = try f.apply(
            [.erase(F.element(1)), .erase(F.item(1))],
            permit: {
                asked.append($0)
                return nil
            })
        #expect(asked.map(\.operation) == [.delete])
    }

    @Test("An object both created and erased by a changeset needs permission to create")
    func createPermission() throws {
        var f = F()
        let asked = try f.requests([F.create(F.item(1), title: "new"), F.set(1, F.count, .int(7)), .erase(F.item(1))])
        #expect(asked.map(\.operation) == [.create])
        #expect(asked[0].classIndex == 0)
        #expect(asked[0].new == Row([.int(1), .string("new"), .int(7), .null, .int(0)]))
        #expect(throws: Refusal.self) {
            _ = try f.apply([F.create(F.item(2), title: "new"), .erase(F.item(2))], permit: { _ in "no" })
        }
    }

    @Test("An object erased and created again needs permission to delete and to create")
    func recreatePermission() throws {
        var f = F()
        f.load(1, title: "theirs")
        let asked = try f.requests([.erase(F.item(1)), F.create(F.item(1), title: "mine")])
        #expect(asked.map(\.operation) == [.delete, .create])
        #expect(asked[0].old?[F.title] == .string("theirs"))
        #expect(asked[1].new?[F.title] == .string("mine"))
    }

    @Test("Moving an element to another list needs permission to update both owners")
    func movePermission() throws {
        var f = F()
        f.load(1, title: "theirs")
        f.load(2, title: "mine")
        f.loadElement(1, owner: 1, target: 2)
        let asked = try f.requests([.erase(F.element(1)), F.createElement(F.element(1), owner: 2, target: 2)])
        #expect(asked.map(\.operation) == [.update, .update])
        #expect(asked.map { $0.old?[F.title] } == [.string("theirs"), .string("mine")])
    }
}
