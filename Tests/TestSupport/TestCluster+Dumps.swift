public import PostgresClient

/// Dumps that belong to the tests' own user, like those that an admin server makes.
extension TestCluster {
    /// The path of this version's pg_dump.
    nonisolated public var dumpProgram: String { binaries.dump }
    /// The folder with this version's programs.
    nonisolated public var programs: String { binaries.directory }
    /// The path of this version's pg_restore.
    nonisolated public var restoreProgram: String { binaries.restore }

    /// Restores a dump into a new database, as docs/backups.md describes.
    public func restoreAnew(_ path: String) async throws -> PostgresConfiguration {
        let database = try await createDatabase()
        try Command.run(
            [binaries.restore, "--exit-on-error"] + client(of: database.database ?? "postgres") + [path])
        return database
    }

    /// The output of `pg_restore --list` for a dump.
    public func contents(of path: String) throws -> String { try Command.run([binaries.restore, "--list", path]) }
}
