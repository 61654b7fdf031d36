import ConferenceSetup
import Foundation
import OpenEventImport
import PostgresClient
import TestSupport
import TomboloMigration

/// Databases of a throw-away server with the conference's tables and everything that belongs to them.
enum Databases {
    static func withConference(_ body: (PostgresPool) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: database, options: .init(acquireTimeout: .seconds(600)))
        try await pool.withConnection { connection in _ = try await Conference.migrator(connection).apply() }
        try await body(pool)
        await pool.shutdown()
    }

    /// The export that ships with the project.
    static func sampleExport() throws -> OpenEventExport {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try OpenEventImporter.read(
            repository.appendingPathComponent("Apps/Conference/Tool/Samples/TideConf").path)
    }
}
