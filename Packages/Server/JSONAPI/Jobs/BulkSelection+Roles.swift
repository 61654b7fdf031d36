import PostgresClient
import PostgresValues
import TomboloModel
package import TomboloRules

extension BulkSelection {
    /// Whether objects that give roles are in the trash groups of the selected objects.
    func givesRoles(_ connection: PostgresConnection) async throws -> Bool {
        let (sql, parameters) = try condition(firstParameter: 1)
        for item in view.rules.classesThatGiveRoles {
            let found = try await connection.query(
                """
                SELECT EXISTS (SELECT 1 FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "g"
                    WHERE "g".trashed_at IS NOT NULL AND "g".trash_group IN (
                        SELECT \(PostgresSQL.quoteIdentifier(ResourcePlan.alias, "trash_group")) \(sql)))
                """, parameters)
            if try found[0, 0].bool { return true }
        }
        return false
    }
}

extension OwnJobs {
    /// Whether undoing a job restores objects that give roles, together with what the job moved to the trash.
    package func undoGivesRoles(_ id: Int64, under rules: Rules) async throws -> Bool {
        try await pool.withConnection { connection in
            let job = try await JobStore.job(id, of: user, connection)
            guard job.kind == .trash else { return false }
            for item in rules.classesThatGiveRoles {
                let found = try await connection.query(
                    """
                    SELECT EXISTS (SELECT 1 FROM \(PostgresSQL.quoteIdentifier(item.table)) AS "g"
                        WHERE "g".trashed_at IS NOT NULL AND "g".trash_group IN (
                            SELECT (r.old::json ->> 'group')::uuid FROM tombolo.job_row r
                            WHERE r.job = $1 AND r.outcome = 'd'))
                    """, [.int64(id)])
                if try found[0, 0].bool { return true }
            }
            return false
        }
    }
}

extension Rules {
    /// The classes with a trash whose objects give roles.
    fileprivate var classesThatGiveRoles: [ClassSchema] {
        Set(grantColumns.map(\.classIndex)).sorted().map { schema[$0] }.filter(\.isTrashable)
    }
}
