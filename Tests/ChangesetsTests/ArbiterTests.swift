import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// The rules in ``Arbiter``'s comment.
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

    // MARK: The order of a changeset

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
            // Seen by the base, or the device's own.
            f.log(1, .create, marks, xid: author == F.a ? 20 : 7, at: 5, by: author)
            let result = try f.apply([.create(F.item(1), fields)])
            #expect(result.writes == [F.update(1, F.count, .int(7))])
        }
        // The changelog has nothing about older edits.
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

    // MARK: Erasing

    @Test(
        "A concurrent erase wins over every instruction",
        arguments: [
            .create(F.item(1), []), F.set(1, F.title, .string("new")),
            .add(F.item(1), column: F.count, amount: 1), .erase(F.item(1)),
        ] as [Instruction])
    func concurrentErase(instruction: Instruction) throws {
        var f = F()
        f.log(1, .erase, at: 1, by: F.b)
        let result = try f.apply([instruction], at: 999)
        #expect(result.writes.isEmpty)
        #expect(result.lost == 1)
    }

    @Test("A concurrent erase wins even if the object has since been created again")
    func eraseBeforeRecreation() throws {
        var f = F()
        f.load(1, title: "second life")
        f.log(1, .erase, at: 1, by: F.b)
        f.log(1, .create, at: 2, by: F.b)
        #expect(try f.apply([F.set(1, F.title, .string("new"))], at: 999).writes.isEmpty)
    }

    @Test("A create whose base sees the erase makes a new object")
    func createAfterErase() throws {
        var f = F()
        f.log(1, .erase, xid: 3, at: 999, by: F.b)
        let result = try f.apply([.create(F.item(1), [FieldWrite(column: F.title, value: .string("new"))])], at: 1)
        #expect(
            result.writes == [
                .insert(
                    F.item(1), Row([.int(1), .string("new"), .int(0), .null, .int(0)]),
                    defaults: [F.count, F.parent, F.small])
            ])
    }

    @Test("An erase wins over concurrent edits with later stamps")
    func eraseWins() throws {
        var f = F()
        f.load(1)
        f.log(1, .update, [F.title: .set], at: 999, by: F.b)
        #expect(try f.apply([.erase(F.item(1))], at: 1).writes == [.erase(F.item(1))])
    }

    @Test("Erase and create in one changeset make a new object")
    func eraseAndCreate() throws {
        var f = F()
        f.load(1, count: 9)
        let result = try f.apply([.erase(F.item(1)), .create(F.item(1), [])])
        #expect(result.writes.count == 2)
        #expect(result.lost == 0)
    }

    @Test("Edits of an object that doesn't exist are lost")
    func missingObject() throws {
        var f = F()
        #expect(try f.apply([F.set(1, F.title, .string("x"))]).lost == 1)
        #expect(try f.apply([.add(F.item(1), column: F.count, amount: 1)]).lost == 1)
        #expect(try f.apply([.erase(F.item(1))]).writes.isEmpty)
    }

    // MARK: Links

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
                // Away and back, away for good, to it in the end, and to it before it exists.
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

    // MARK: Permissions and values

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
        #expect(try written(F.set(1, F.small, .int(3))) == [F.small], "It loses, which is nobody else's business.")
        #expect(try written(.add(F.item(1), column: F.small, amount: 1)) == [F.small])
        #expect(try written(F.set(1, F.title, .string("x"), isDefault: true)) == [], "It replaces nothing.")
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
        "Whoever may not write an object isn't told that a sum is too large or that an element is another's",
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

    @Test("What the user may not read is left alone, and seen again by the next changeset of somebody who may")
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
        #expect(result.writes == [F.update(2, F.parent, .int(1))], "Links are kept.")
        #expect(result.lost == 3)
        #expect(try f.apply([F.set(1, F.title, .string("y"))], by: F.b).writes == [F.update(1, F.title, .string("y"))])
    }

    @Test("A create of an unseen object is decided like that of a new one, and then refused for its key")
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
                == Refusal(.constraint, "There is another Item with this primary key.", className: "Item", key: .int(1))
        )
    }

    @Test("What a changeset itself makes unreadable it may still write")
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

    @Test(
        "A create that replaces a trashed object needs permission to restore and to update that object",
        arguments: [false, true])
    func trashedPermission(erased: Bool) throws {
        var f = F()
        f.arbiter.load(F.page(1), trashed: F.pageRow(1, "theirs"))
        let asked = try f.requests([F.create(F.page(1), title: "mine")] + (erased ? [.erase(F.page(1))] : []))
        try #require(asked.map(\.operation) == [.create, .restore, .update])
        #expect(asked[1].old == F.pageRow(1, "theirs"))
        #expect(asked[2].old == F.pageRow(1, "theirs"))
        #expect(asked[2].new == F.pageRow(1, "mine"))
        #expect(asked[2].written == [0, 1], "Hidden properties would be lost.")
        // Once replaced, it's as the changeset left it.
        let again = try f.requests(erased ? [F.create(F.page(1), title: "again")] : [.erase(F.page(1))])
        #expect(again.map(\.operation) == (erased ? [.create, .restore, .update] : [.delete]))
        #expect(again.last?.old == F.pageRow(1, "mine"))
    }

    @Test("What a changeset itself puts into the trash it needs no permission to restore")
    func trashedMeanwhile() throws {
        var f = F()
        f.arbiter.load(F.page(1), F.pageRow(1, "old"))
        let asked = try f.requests([.erase(F.page(1)), F.create(F.page(1), title: "new")])
        #expect(asked.map(\.operation) == [.delete, .create, .update])
        var g = F()
        g.arbiter.load(F.page(1), trashed: F.pageRow(1, "old"))
        let again = try g.requests([
            F.create(F.page(1), title: "1"), .erase(F.page(1)), F.create(F.page(1), title: "2"),
        ])
        #expect(again.map(\.operation) == [.create, .restore, .update, .create, .update])
    }

    @Test("An edit followed by an erase into the trash needs permission for both")
    func trashingPermission() throws {
        var f = F()
        f.arbiter.load(F.page(1), F.pageRow(1, "old"))
        let title = [FieldWrite(column: F.title, value: .string("new"))]
        let asked = try f.requests([.set(F.page(1), title), .erase(F.page(1))])
        #expect(asked.map(\.operation) == [.delete, .update])
        #expect(asked[1].new == F.pageRow(1, "new"))
    }

    /// An instruction that does nothing must not make the object count as written by the changeset.
    @Test("Editing the list of a trashed object asks for an update with neither row")
    func trashedList() throws {
        var f = F()
        f.arbiter.load(F.page(1), trashed: F.pageRow(1, "theirs"))
        f.load(1)
        f.loadElement(1, F.pageElementClass, owner: 1, target: 1)
        let title = [FieldWrite(column: F.title, value: .string("x"))]
        let asked = try f.requests([.set(F.page(1), title), .erase(F.element(1, F.pageElementClass))])
        #expect(asked.map(\.operation) == [.update])
        #expect(asked[0].classIndex == F.pageClass)
        #expect(asked[0].old == nil && asked[0].new == nil)
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
