import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// What a changeset needs permission for in the trash.
@Suite struct ArbiterTrashPermissionTests {
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
        #expect(asked[2].written == [0, 1], "All columns count as written, since hidden ones would be lost.")
        // Once replaced, the object is as the changeset left it.
        let again = try f.requests(erased ? [F.create(F.page(1), title: "again")] : [.erase(F.page(1))])
        #expect(again.map(\.operation) == (erased ? [.create, .restore, .update] : [.delete]))
        #expect(again.last?.old == F.pageRow(1, "mine"))
    }

    @Test(
        "A create with the key of a trashed object is refused exactly like one with the key of an unreadable object",
        arguments: [
            [F.create(F.page(1), title: "mine")],
            [
                F.create(F.page(1), title: "mine"),
                .set(F.page(1), [FieldWrite(column: F.title, value: .string("later"))]),
            ],
            [F.create(F.page(1), title: "mine"), .erase(F.page(1))],
            [F.create(F.page(1), title: "mine"), F.create(F.page(2), title: "another")],
            [F.create(F.page(1), title: "bad"), F.create(F.page(2), title: "another")],
        ])
    func secrecy(instructions: [Instruction]) throws {
        func permit(_ request: WriteRequest) -> WriteDenial? {
            if request.operation == .restore { return "Not permitted to restore this." }
            return request.new?[F.title] == .string("bad") ? "Not permitted to create this." : nil
        }
        var trashed = F()
        trashed.arbiter.load(F.page(1), trashed: F.pageRow(1, "theirs"))
        let ofTrashed = trashed.arbitrate(instructions, permit: permit)
        var unseen = F()
        unseen.arbiter.load(F.page(1), F.pageRow(1, "theirs"))
        let ofUnseen = unseen.arbitrate(instructions, permit: permit, sees: { _, _ in false })
        #expect(!ofTrashed.refused.told.isEmpty)
        #expect(ofTrashed.refused.told == ofUnseen.refused.told)
        #expect(ofTrashed.writes == ofUnseen.writes)
        #expect(ofTrashed.lost == ofUnseen.lost)
    }

    @Test("A changeset needs no permission to restore what it has itself put in the trash")
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
}
