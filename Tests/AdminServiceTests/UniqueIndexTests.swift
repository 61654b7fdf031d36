import PostgresClient
import ServiceTestSupport
import Testing
import TomboloModel
import TomboloRules

/// What is unique is so among live objects: no write is refused, sooner or later, because of what is in the trash.
@Suite struct UniqueIndexTests {
    @Test("every unique index of a class with a trash, but its key's, has live rows alone")
    func live() async throws {
        try await ServiceFixture.with { fixture in
            let classes = fixture.rules.schema.classes.filter { $0.isTrashable && $0.owner == nil }
            #expect(classes.count >= 11)
            for item in classes {
                let found = try await fixture.pool.query(
                    """
                    SELECT x.indexrelid::regclass::text, pg_get_expr(x.indpred, x.indrelid)
                    FROM pg_index x WHERE x.indrelid = to_regclass($1) AND x.indisunique AND NOT x.indisprimary
                    """, [.text(PostgresSQL.quoteIdentifier("public", item.table))])
                #expect(found.count >= item.uniqueColumns.count, "\(item.name)")
                for row in found {
                    let (name, condition) = (try row[0].string, try row[1].nonNull?.string)
                    #expect(condition == "(trashed_at IS NULL)", "\(name) of \(item.name)")
                }
            }
            // What else keeps rows apart isn't an index with a condition.
            let exclusions = try await fixture.pool.query(
                """
                SELECT k.conname::text FROM pg_constraint k WHERE k.contype IN ('u', 'x')
                    AND k.conrelid IN (SELECT to_regclass(t) FROM unnest($1::text[]) AS t)
                """, [.textArray(classes.map { PostgresSQL.quoteIdentifier("public", $0.table) })])
            #expect(exclusions.isEmpty)
        }
    }
}
