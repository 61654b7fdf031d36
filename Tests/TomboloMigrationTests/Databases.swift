import Foundation
import OpenEventImport
import PostgresClient
import TestSupport

@testable import TomboloMigration

/// Databases of a throw-away server, and the export that ships with the project.
enum Databases {
    static func withEmpty(_ body: (PostgresConnection) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let connection = try await PostgresConnection.connect(database)
        try await body(connection)
        await connection.close()
    }

    static func withMigrated(_ body: (PostgresPool) async throws -> Void) async throws {
        let database = try await TestCluster.shared().createDatabase()
        let pool = PostgresPool(configuration: database)
        try await pool.withConnection { connection in _ = try await Migrator(connection).apply() }
        try await body(pool)
        await pool.shutdown()
    }

    static func sampleExport() throws -> OpenEventExport {
        let repository = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        return try OpenEventImporter.read(repository.appendingPathComponent("Apps/MigrationTool/Samples/TideConf").path)
    }
}
