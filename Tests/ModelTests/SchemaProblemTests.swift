import Testing
import TomboloModel

@Suite("Schema problems")
struct SchemaProblemTests {
    static let key = Column(name: "_id", type: .objectId, isPrimaryKey: true)

    @Test(
        "Each problem names class and property",
        arguments: [
            (
                [ClassSchema(name: "A", columns: [key]), ClassSchema(name: "A", columns: [key])],
                "Class A is declared twice."
            ),
            (
                [
                    ClassSchema(name: "A", table: "t", columns: [key]),
                    ClassSchema(name: "B", table: "t", columns: [key]),
                ],
                "Classes A and B both use the table 't'; rename one."
            ),
            (
                [
                    ClassSchema(
                        name: "A",
                        columns: [key, Column(name: "startsAt", type: .date), Column(name: "starts_at", type: .date)])
                ], "A.startsAt and A.starts_at share the column 'starts_at'."
            ),
            (
                [ClassSchema(name: "A", columns: [key, Column(name: "b", type: .link(to: "B"), isOptional: true)])],
                "A.b links to B, which is not in the schema."
            ),
            (
                [ClassSchema(name: "A", columns: [Column(name: "_id", type: .double, isPrimaryKey: true)])],
                "A._id is a double; a primary key must be an ObjectId, UUID, String or Int."
            ),
            (
                [
                    ClassSchema(
                        name: "A", columns: [Column(name: "_id", type: .uuid, isOptional: true, isPrimaryKey: true)])
                ], "A._id is the primary key and cannot be optional."
            ),
            (
                [ClassSchema(name: "A", columns: [key, Column(name: "other", type: .uuid, isPrimaryKey: true)])],
                "A has more than one primary key."
            ),
            (
                [ClassSchema(name: "A", columns: [key], lists: [ListProperty(name: "items", target: "B")])],
                "A.items.target links to B, which is not in the schema."
            ),
        ] as [([ClassSchema], String)])
    func problem(classes: [ClassSchema], message: String) {
        let error = #expect(throws: SchemaError.self) { try Schema(classes) }
        #expect(error?.problems.contains(message) == true, "\(error?.problems ?? [])")
    }

    @Test("All problems are reported at once")
    func several() {
        let error = #expect(throws: SchemaError.self) {
            try Schema([
                ClassSchema(
                    name: "A",
                    columns: [
                        Column(name: "_id", type: .bool, isPrimaryKey: true),
                        Column(name: "b", type: .link(to: "B"), isOptional: true),
                    ])
            ])
        }
        #expect(error?.problems.count == 2)
        #expect(error?.description.contains("- A.b links to B") == true)
    }
}
