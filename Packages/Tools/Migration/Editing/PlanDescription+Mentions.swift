import PostgresClient
import TomboloModel

extension PlanDescription {
    /// The most functions and views to list.
    private static let mentionLimit = 20
    /// Functions that Tombolo generates for each table, and regenerates.
    private static let generated = "^(audit|group|image|log|log_truncate|trash)_"

    /// The app's functions and views whose text contains a column name that a renaming removes. They may mean another
    /// table's column: PostgreSQL doesn't know what a function's body refers to.
    /// - Parameter columns: the old names.
    static func mentions(of columns: Set<String>, _ connection: PostgresConnection) async throws -> [String] {
        var found: [String] = []
        for column in columns.sorted() {
            let rows = try await connection.query(
                """
                SELECT 'function ' || n.nspname || '.' || p.proname FROM pg_proc p
                JOIN pg_namespace n ON n.oid = p.pronamespace
                WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND p.prosrc ~ ('\\m' || $1 || '\\M')
                    AND NOT (n.nspname = 'tombolo' AND p.proname ~ $2)
                UNION SELECT 'view ' || schemaname || '.' || viewname FROM pg_views
                WHERE schemaname NOT IN ('pg_catalog', 'information_schema', 'tombolo')
                    AND definition ~ ('\\m' || $1 || '\\M')
                ORDER BY 1 LIMIT \(mentionLimit)
                """, [.text(column), .text(generated)])
            found += try rows.map {
                "The \(try $0[0].string) has the word '\(column)'. If that's this column, it will fail from then on, "
                    + "and so will everything that calls it."
            }
        }
        return found
    }
}
