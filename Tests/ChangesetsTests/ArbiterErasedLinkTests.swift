import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

/// Links to an object that the same changeset erases and creates again.
@Suite struct ArbiterErasedLinkTests {
    @Test("A link set before an erase doesn't lead to the object created afterwards")
    func aLinkEndsWithItsTarget() throws {
        var f = F()
        f.load(1)
        f.load(2)
        let writes = try f.apply([F.set(1, F.parent, .int(2)), .erase(F.item(2)), .create(F.item(2), [])]).writes
        #expect(writes.filter { $0.reference == F.item(1) } == [F.update(1, F.parent, .int(2))])
        #expect(writes.map(\.reference) == [F.item(1), F.item(2), F.item(2)])
    }

    @Test("A link waiting for its target becomes nil when the target is erased")
    func aWaitingLinkEndsWithItsTarget() throws {
        var f = F()
        f.load(1)
        let writes = try f.apply([
            F.set(1, F.parent, .int(2)), .create(F.item(2), []), .erase(F.item(2)), .create(F.item(2), []),
        ]).writes
        #expect(writes.filter { $0.reference == F.item(1) } == [F.update(1, F.parent, .null)])
        #expect(writes.count == 4)
    }

    @Test("A link to an object that doesn't exist yet survives an erase that finds nothing")
    func anEraseOfNothingEndsNoLink() throws {
        var f = F()
        f.load(1)
        let writes = try f.apply([F.set(1, F.parent, .int(2)), .erase(F.item(2)), .create(F.item(2), [])]).writes
        #expect(writes.last == F.update(1, F.parent, .int(2)))
    }

    @Test("A link made after the erase leads to the new object")
    func aLinkAfterTheEraseIsSet() throws {
        var f = F()
        f.load(1)
        f.load(2)
        let writes = try f.apply([
            F.set(1, F.parent, .int(2)), .erase(F.item(2)), F.set(1, F.parent, .int(2)), .create(F.item(2), []),
        ]).writes
        #expect(writes.last == F.update(1, F.parent, .int(2)))
    }

    @Test("A waiting link set again after the erase leads to the new object")
    func aWaitingLinkThatIsSetAnewIsKept() throws {
        var f = F()
        f.load(1)
        let writes = try f.apply([
            F.set(1, F.parent, .int(2)), .create(F.item(2), []), .erase(F.item(2)), F.set(1, F.parent, .int(2)),
            .create(F.item(2), []),
        ]).writes
        #expect(writes.last == F.update(1, F.parent, .int(2)))
    }

    @Test("A link to an object that is moved to the trash leads to the object that a create puts in its place")
    func theTrashKeepsLinks() throws {
        let schema = try Schema([
            ClassSchema(
                name: "Note",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "page", type: .link(to: "Page"), isOptional: true),
                ]),
            ClassSchema(
                name: "Page", columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)],
                isTrashable: true),
        ])
        let note = ObjectReference(classIndex: 0, key: .int(1))
        let page = ObjectReference(classIndex: 1, key: .int(2))
        var arbiter = Arbiter(schema: schema)
        let link = FieldWrite(column: 1, value: page.key)
        let changeset = Changeset(
            number: 1, base: 1, stamp: Stamp(microseconds: 1),
            instructions: [.create(note, [link]), .create(page, []), .erase(page), .create(page, [])])
        let writes = arbiter.apply(
            changeset, from: F.a, stamp: changeset.stamp, base: F.base, permit: { _ in nil }
        ).writes
        #expect(writes.last == .update(note, [ColumnWrite(column: 1, value: page.key, mark: .set)]))
    }
}
