import ChildPrograms
import Foundation
import PostgresClient
import Testing
import TomboloPostgresStore

extension Platform {
    /// Fills the audit log up to the newest tick and replays it, as an operator would. Later commits are left out of
    /// the comparison.
    func checkAudit(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let newest = try await count("SELECT coalesce(max(number), 0) FROM tombolo.tick")
        try await eventually("the audit log is as far as the newest tick") {
            // Does the work of an admin server, since none is running any more.
            try await AuditFollower(pool: self.pool).catchUp()
            return try await self.count("SELECT coalesce(max(tick), -1) FROM tombolo.audit_position") >= newest
        }
        let keywords = configuration.keywords
        let address =
            "host=\(keywords["host"] ?? "") port=\(keywords["port"] ?? "5432") user=\(configuration.user ?? "") "
            + "dbname=\(configuration.database ?? "")"
        let outcome = try await BuiltProgram("migration-tool", "MigrationTool").run(
            ["audit", "verify"], environment: ["TOMBOLO_DATABASE_URL": address])
        #expect(outcome.status == 0, "\(outcome.output) \(outcome.messages)", sourceLocation: sourceLocation)
        #expect(outcome.output.contains("matches the tables"), sourceLocation: sourceLocation)
    }
}
