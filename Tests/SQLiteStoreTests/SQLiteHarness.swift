import DeviceStoreConformance
import Foundation
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
@testable import TomboloSQLiteStore

/// The SQLite store as the conformance suite drives it: the engine's connection and an app's connection on one file.
final class SQLiteHarness: DeviceStoreHarness {
    private let folder: TemporaryFolder
    private let schema: Schema
    private let client: ClientID
    private(set) var store: SQLiteDeviceStore
    private var file: StoreFile
    private var writer: InstructionWriter

    var path: String { folder.path("device.tombolo") }

    init(schema: Schema, client: ClientID) throws {
        folder = try TemporaryFolder()
        self.schema = schema
        self.client = client
        let path = folder.path("device.tombolo")
        store = try SQLiteDeviceStore(path: path, schema: schema, newClient: client)
        file = try Self.open(path, schema)
        writer = InstructionWriter(file)
    }

    /// One more connection to the file.
    func open() throws -> StoreFile { try Self.open(path, schema) }

    private static func open(_ path: String, _ schema: Schema) throws -> StoreFile {
        try StoreFile(
            path: path, schema: schema, options: StoreOptions(isSynced: true, durability: .normal),
            newClient: ClientID(rawValue: 1))
    }

    func write(_ instructions: [Instruction], wallMicroseconds: Int64) throws {
        try file.writeTransaction {
            for instruction in instructions { try writer.perform(instruction) }
            try ChangesetQueue(file).append(
                ChangesetWriter(schema: file.schema, instructions), wallMicroseconds: wallMicroseconds)
        }
    }

    func rows(ofClass classIndex: Int) throws -> [Row] {
        let table = file.layout.tables[classIndex]
        let statement = try file.connection.statement("SELECT \(table.columnList) FROM \(table.table)")
        defer { statement.reset() }
        var rows: [Row] = []
        while try statement.step() { rows.append(statement.row(table.storedTypes)) }
        return rows
    }

    func restart() throws {
        store = try SQLiteDeviceStore(path: path, schema: schema)
        file = try Self.open(path, schema)
        writer = InstructionWriter(file)
    }
}

/// A folder deleted with its owner.
final class TemporaryFolder: Sendable {
    private let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "tombolo-tests-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }
}
