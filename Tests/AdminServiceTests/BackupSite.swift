import Foundation
import Logging
import PostgresClient
import ServiceTestSupport
import TestSupport
import TomboloMigration
import TomboloModel

@testable import AdminService

/// A server's backups of a fixture's database, in their own folder, with a clock that tests set.
struct BackupSite: Sendable {
    /// Microseconds since 1970, on a whole second: 2026-05-28.
    static let start: Int64 = 1_780_000_000_000_000
    static let second: Int64 = 1_000_000
    static let hour = 3_600 * second

    let fixture: ServiceFixture
    let cluster: TestCluster
    let folder: URL
    let settings: BackupSettings
    let backups: Backups

    /// - Parameter change: changes the settings, which have no automatic backups by default.
    static func with(
        _ change: @Sendable (inout BackupSettings) throws -> Void = { _ in },
        _ body: @Sendable (BackupSite) async throws -> Void
    ) async throws {
        let cluster = try await TestCluster.shared()
        try await ServiceFixture.with { fixture in
            try await withTemporaryFolder { folder in
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path())
                var settings = BackupSettings(
                    folder: String(folder.path().trimming("/")), database: fixture.pool.configuration, interval: nil,
                    program: cluster.dumpProgram)
                try change(&settings)
                try await body(BackupSite(fixture, cluster, folder, settings))
            }
        }
    }

    private init(_ fixture: ServiceFixture, _ cluster: TestCluster, _ folder: URL, _ settings: BackupSettings) {
        self.fixture = fixture
        self.cluster = cluster
        self.folder = folder
        self.settings = settings
        backups = Backups(settings, pool: fixture.adminServer.pool, logger: Logger(label: "backups"))
    }

    var user: ObjectId { fixture.users["superAdmin"] ?? ObjectId() }

    /// Makes a manual backup.
    func make(at time: Int64) async throws {
        try await backups.ask(by: user, now: time)
        try await backups.step(now: time)
    }

    /// Names of the files in the folder.
    func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: folder.path()).sorted() }

    func path(of file: String) -> String { folder.appending(path: file).path() }

    /// The same backups, with restoring enabled.
    /// - Parameters:
    ///   - database: the connection of a user who may restore; by default the cluster's superuser.
    ///   - program: used instead of pg_restore.
    func restoring(as database: PostgresConfiguration? = nil, program: String? = nil) -> Backups {
        Backups(
            settings,
            restoring: RestoreSettings(
                database: database ?? fixture.pool.configuration.database("postgres"),
                program: program ?? cluster.restoreProgram
            ) { connection in try await Migrator.toDocuments([], on: connection).apply() },
            pool: fixture.adminServer.pool, logger: backups.logger)
    }

    /// A script, outside the folder, that replaces pg_dump.
    func program(_ text: String) throws -> String {
        let file = FileManager.default.temporaryDirectory.appending(path: "tombolo-dump-\(UUID().uuidString)")
        try ScriptFile.write(text, to: file.path())
        return file.path()
    }
}

extension String {
    /// Drops the last character if it is `suffix`.
    fileprivate func trimming(_ suffix: Character) -> Substring { last == suffix ? dropLast() : self[...] }
}
