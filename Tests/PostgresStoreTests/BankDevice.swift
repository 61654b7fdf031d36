import Foundation
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncProtocol
import TomboloSyncSession

/// A device with permission to read everything: an SQLite file fed from ticks.
final class BankDevice {
    private let folder: String
    private let schema: Schema
    private let store: SQLiteDeviceStore
    private let reading: SQLiteConnection
    private let visibility: Visibility
    private let columns: [Int: [Int]]

    init(schema: Schema) throws {
        self.schema = schema
        folder = NSTemporaryDirectory() + "bank-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        let path = folder + "/device.sqlite"
        store = try SQLiteDeviceStore(path: path, schema: schema)
        reading = try SQLiteConnection(path: path, readOnly: true, durability: .normal)
        visibility = Visibility(
            predicates: Dictionary(
                uniqueKeysWithValues: schema.classes.indices.filter { schema[$0].owner == nil }
                    .map { ($0, .constant(true)) }))
        columns = Dictionary(
            uniqueKeysWithValues: schema.classes.indices.map { ($0, Array(schema[$0].columns.indices)) })
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    func bootstrap(_ reader: any TickReader) async throws {
        var frame = BatchFrame(sequence: 0)
        for index in schema.classes.indices where schema[index].owner == nil {
            let blocks = BlockCollector()
            try await reader.rows(
                classIndex: index, matching: .constant(true), columns: columns[index] ?? []
            ) { await blocks.add($0) }
            frame.blocks += await blocks.blocks
        }
        try apply([frame], tick: reader.tick, replacesAll: true)
    }

    func apply(_ difference: TickDifference, tick: Tick) throws {
        var builder = FrameBuilder(schema: schema, deviceColumns: columns)
        let visibility = RowVisibility(visibility, in: schema)
        for change in difference.changes { builder.add(change, old: visibility, new: visibility) }
        try apply(builder.frames(), tick: tick, replacesAll: false)
    }

    private func apply(_ frames: [BatchFrame], tick: Tick, replacesAll: Bool) throws {
        for frame in frames.dropLast() { try store.stage(frame) }
        let position = Position(
            tick: tick.number, token: tick.token, subscriptionVersion: 0, rulesFingerprint: 0,
            schemaFingerprint: schema.fingerprint)
        _ = try store.apply(
            BatchEnd(
                position: position, serverTime: tick.time, acknowledged: 0, replacesAll: replacesAll,
                frameCount: frames.count), frames: frames.suffix(1), wallMicroseconds: tick.time.microseconds)
    }

    /// Reads the file through a separate connection.
    func content() throws -> BankContent {
        var content = BankContent()
        let accounts = try reading.statement("SELECT _id, balance FROM account")
        while try accounts.step() { content.accounts[accounts.integer(at: 0)] = accounts.integer(at: 1) }
        accounts.reset()
        let parents = try reading.statement("SELECT _id FROM parent")
        while try parents.step() { content.parents.insert(parents.integer(at: 0)) }
        parents.reset()
        let children = try reading.statement("SELECT _id, title, parent FROM child")
        while try children.step() {
            content.children[children.integer(at: 0)] = .init(
                title: children.integer(at: 1), parent: children.current.isNull(at: 2) ? nil : children.integer(at: 2))
        }
        children.reset()
        return content
    }
}

/// Collects blocks.
actor BlockCollector {
    private(set) var blocks: [RowBlock] = []
    func add(_ block: RowBlock) { blocks.append(block) }
}
