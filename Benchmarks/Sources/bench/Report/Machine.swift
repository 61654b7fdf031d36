import Foundation
import PostgresClient

/// The machine and software that the figures were measured on.
struct Machine: Codable, Sendable {
    var system: String
    var processors: Int
    var memoryBytes: UInt64
    var postgres: String
    /// The PostgreSQL settings that affect the figures.
    var postgresSettings: [String: String]
    var sqlite: String
    var isOptimized: Bool

    static func describe(_ database: BenchDatabase) async throws -> Machine {
        let names = ["fsync", "synchronous_commit", "shared_buffers", "wal_level", "server_version", "data_checksums"]
        var settings: [String: String] = [:]
        let found = try await database.pool.query(
            "SELECT name, current_setting(name) FROM unnest($1::text[]) AS t (name)", [.textArray(names)])
        for row in found { settings[try row[0].string] = try row[1].string }
        return Machine(
            system: ProcessInfo.processInfo.operatingSystemVersionString,
            processors: ProcessInfo.processInfo.activeProcessorCount,
            memoryBytes: ProcessInfo.processInfo.physicalMemory, postgres: settings["server_version"] ?? "",
            postgresSettings: settings, sqlite: SQLiteFile.libraryVersion, isOptimized: isOptimizedBuild)
    }

    /// Whether the compiler optimised; if so, `assert` isn't evaluated.
    private static var isOptimizedBuild: Bool {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }())
        return !isDebug
    }

    /// The load average over the last minute.
    static var loadAverage: Double {
        var loads = [0.0]
        return getloadavg(&loads, 1) == 1 ? loads[0] : 0
    }
}
