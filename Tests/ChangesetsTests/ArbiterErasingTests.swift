import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// An object that is erased, created again, or missing.
@Suite struct ArbiterErasingTests {
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

    @Test("Edits to an object that doesn't exist are lost")
    func missingObject() throws {
        var f = F()
        #expect(try f.apply([F.set(1, F.title, .string("x"))]).lost == 1)
        #expect(try f.apply([.add(F.item(1), column: F.count, amount: 1)]).lost == 1)
        #expect(try f.apply([.erase(F.item(1))]).writes.isEmpty)
    }
}
