public import PostgresClient

/// Dumps that the tests' own user has, as an admin server makes them.
extension TestCluster {
    /// The path of this version's pg_dump.
    nonisolated public var dumpProgram: String { binaries.dump }
    /// Where this version's programs are.
    nonisolated public var programs: String { binaries.directory }
    /// The path of this version's pg_restore.
    nonisolated public var restoreProgram: String { binaries.restore }

    /// Restores a dump into a database that wasn't there before, as docs/backups.md says.
    public func restoreAnew(_ path: String) async throws -> PostgresConfiguration {
        let database = try await createDatabase()
        try Command.run(
            [binaries.restore, "--exit-on-error"] + client(of: database.database ?? "postgres") + [path])
        return database
    }

    /// What `pg_restore --list` says of a dump.
    public func contents(of path: String) throws -> String { try Command.run([binaries.restore, "--list", path]) }
}
