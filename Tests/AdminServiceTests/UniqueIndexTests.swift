import PostgresClient
import ServiceTestSupport
import Testing
import TomboloModel
import TomboloRules

/// Values are unique among live objects only: nothing in the trash can cause a write to be refused, now or later.
@Suite struct UniqueIndexTests {
    @Test("every unique index of a class with a trash, except its primary key, covers live rows only")
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
            // Unique and exclusion constraints can't have such a condition, so there must be none.
            let exclusions = try await fixture.pool.query(
                """
                SELECT k.conname::text FROM pg_constraint k WHERE k.contype IN ('u', 'x')
                    AND k.conrelid IN (SELECT to_regclass(t) FROM unnest($1::text[]) AS t)
                """, [.textArray(classes.map { PostgresSQL.quoteIdentifier("public", $0.table) })])
            #expect(exclusions.isEmpty)
        }
    }
}
