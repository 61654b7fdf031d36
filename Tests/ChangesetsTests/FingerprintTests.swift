import Testing
import TomboloChangesets
import TomboloModel

private typealias F = ArbiterFixture

@Suite struct FingerprintTests {
    private func changeset(
        number: Int64 = 1, base: Int64 = 1, stamp: Int64 = 5,
        _ instruction: Instruction = F.set(1, F.title, .string("a"))
    ) -> Changeset {
        Changeset(
            number: number, base: base, stamp: Stamp(microseconds: stamp), instructions: [instruction])
    }

    private func fingerprint(_ changeset: Changeset) -> Int64 { changeset.fingerprint(in: F.schema) }

    @Test("The fingerprint doesn't depend on the base")
    func base() {
        #expect(fingerprint(changeset(base: 1)) == fingerprint(changeset(base: 9)))
    }

    @Test("Changing anything else changes the fingerprint")
    func sensitivity() {
        let all = [
            changeset(), changeset(number: 2), changeset(stamp: 6), changeset(F.set(1, F.title, .string("b"))),
            changeset(F.set(2, F.title, .string("a"))), changeset(F.set(1, F.title, .string("a"), isDefault: true)),
            changeset(F.set(1, F.count, .int(1))), changeset(F.set(1, F.parent, .int(1))),
            changeset(F.set(1, F.parent, .null)), changeset(.add(F.item(1), column: F.count, amount: 1)),
            changeset(.add(F.item(1), column: F.count, amount: -1)), changeset(.erase(F.item(1))),
            changeset(.create(F.item(1), [])), changeset(.set(F.item(1), [])),
        ]
        #expect(Set(all.map(fingerprint)).count == all.count)
    }

    @Test("Another name for the class or a property doesn't change the fingerprint")
    func renaming() throws {
        func schema(_ name: String, _ former: [String], _ column: String, _ formerColumn: [String]) throws -> Schema {
            try Schema([
                ClassSchema(
                    name: name,
                    columns: [
                        Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                        Column(name: column, type: .string, previousNames: formerColumn),
                    ], previousNames: former)
            ])
        }
        let set = changeset(
            .set(ObjectReference(classIndex: 0, key: .int(1)), [FieldWrite(column: 1, value: .string("a"))]))
        let schemas = [
            try schema("A", [], "x", []), try schema("B", ["A"], "y", ["x"]),
            try schema("C", ["B", "A"], "z", ["y", "x"]),
        ]
        #expect(Set(schemas.map { set.originalFingerprint(in: $0) }).count == 1)
        #expect(set.originalFingerprint(in: try schema("C", [], "z", [])) != set.originalFingerprint(in: schemas[0]))
    }

    @Test("The fingerprint of a known changeset never changes")
    func stability() {
        #expect(fingerprint(changeset()) == -8_527_108_716_313_975_875)
    }
}
