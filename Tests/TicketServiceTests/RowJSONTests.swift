import Foundation
import PostgresClient
import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloModel
import TomboloRules

@Suite struct RowJSONTests {
    private static func encoded(_ json: JSON) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(json), as: UTF8.self)
    }

    @Test("Rows of every class are written as the JSON of their values, along with members of the service's own")
    func rows() async throws {
        try await ServiceFixture.with { fixture in
            let schema = fixture.rules.schema
            let reader = RowReader(schema: schema, pool: fixture.pool)
            var count = 0
            for item in schema.classes where item.primaryKey != nil {
                let result = try await fixture.pool.query(
                    """
                    SELECT \(RowReader.columns(of: item, alias: "o"))
                    FROM \(PostgresSQL.quoteIdentifier(item.table)) AS o
                    """)
                let rows = RowJSON(item, schema: schema, with: ["zzz", "A own"])
                for row in result {
                    var json = JSONBytes()
                    try rows.append(row, own: [7, -8], to: &json)
                    guard case .object(var members) = JSON(try reader.row(row, of: item), of: item) else { continue }
                    members["zzz"] = 7
                    members["A own"] = -8
                    let expected = try Self.encoded(.object(members))
                    #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
                    count += 1
                }
            }
            #expect(count > 20)
        }
    }
}
