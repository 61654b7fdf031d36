import PostgresClient
import TestSupport
import Testing
import TomboloHTTP
import TomboloModel

@Suite struct RowReaderTests {
    @Test("Decimals are filtered, sorted and read as numbers")
    func decimals() async throws {
        let schema = try Schema([
            ClassSchema(
                name: "Article",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "price", type: .decimal128, isOptional: true),
                ])
        ])
        let pool = PostgresPool(
            configuration: try await TestCluster.shared().createDatabase(), options: .patient(2))
        try await pool.execute("CREATE TABLE article (_id bigint PRIMARY KEY, price numeric)")
        try await pool.execute(
            "INSERT INTO article VALUES (1, 9.90), (2, 10), (3, 10.00), (4, NULL), (5, 'NaN'), (6, '-Infinity')")
        let reader = RowReader(schema: schema, pool: pool)
        func keys(_ filter: TomboloModel.Predicate) async throws -> [Value] {
            try await reader.objects("Article", matching: filter, sortedBy: ["price"]).map { $0[0] }
        }
        let price = PropertyPath("price")
        #expect(try await keys(.constant(true)) == [4, 5, 6, 1, 2, 3].map { .int($0) })
        #expect(try await keys(.compare(price, .equal, .decimal("1E+1"))) == [2, 3].map { .int($0) })
        #expect(try await keys(.compare(price, .less, .decimal(10))) == [5, 6, 1].map { .int($0) })
        #expect(try await keys(.isIn(price, [.decimal("9.9"), .decimal(.nan), .null])) == [4, 5, 1].map { .int($0) })
        let rows = try await reader.objects("Article", matching: .constant(true))
        #expect(rows.map { JSON($0[1]) } == ["9.90", "10", "10.00", nil, "NaN", "-Inf"])
        await pool.shutdown()
    }
}
