import DeviceStoreConformance
import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncProtocol
import TomboloSyncSession

@Suite("SQLite files")
struct SQLiteFileTests {
    private let folder: TemporaryFolder
    private let schema: Schema

    init() throws {
        folder = try TemporaryFolder()
        schema = try ConformanceSchema.make()
    }

    private var path: String { folder.path("device.tombolo") }

    private func text(_ sql: String) throws -> [String] {
        let connection = try SQLiteConnection(path: path, durability: .normal)
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        var lines: [String] = []
        while try statement.step() { lines.append(statement.text(at: 0)) }
        return lines
    }

    @Test("Classes are tables with real columns that any SQLite tool can read")
    func tables() throws {
        _ = try SQLiteDeviceStore(path: path, schema: schema)
        let columns = try text(
            "SELECT m.name || '.' || c.name || ' ' || c.type || iif(c.pk, ' key', '') "
                + "|| iif(c.\"notnull\", ' required', '') "
                + "FROM sqlite_schema m JOIN pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.name NOT LIKE 'tombolo%' ORDER BY m.name, c.cid")
        #expect(
            columns == [
                "room._id BLOB key required", "room.name TEXT required", "room.is_open INTEGER required",
                "room.plan BLOB", "session._id TEXT key required", "session.title TEXT required", "session.room BLOB",
                "session.seats INTEGER required", "session.starts_at INTEGER", "session.rating REAL",
                "session.price TEXT",
                "session_speakers._id BLOB key required", "session_speakers.owner TEXT required",
                "session_speakers.rank TEXT required", "session_speakers.target INTEGER required",
                "speaker._id INTEGER key required", "speaker.name TEXT required", "speaker.badge BLOB",
                "ticket._id INTEGER key required", "ticket.holder TEXT required", "ticket.seats INTEGER required",
                "ticket.note TEXT",
            ])
        #expect(try text("PRAGMA journal_mode") == ["wal"])
        #expect(try text("PRAGMA integrity_check") == ["ok"])
    }

    @Test("Every value round-trips through the file")
    func values() throws {
        let store = try SQLiteDeviceStore(path: path, schema: schema)
        let texts = ["", "a", "é", "e\u{301}", "\u{1F3DD}\u{FE0F}", String(repeating: "x", count: 100_000), "'\"%_"]
        let decimals: [Decimal128] = ["1.50", "-0", "1E+3", .min, "1E-6176", .nan]
        let rows = texts.enumerated().map { index, text in
            Row([
                .string("key\(index)"), .string(text), .null, .int(index % 2 == 0 ? .min : .max),
                .date(index % 2 == 0 ? Value.dateRange.lowerBound : Value.dateRange.upperBound),
                .double([0, -0.5, .infinity, -.infinity, .leastNonzeroMagnitude, 1e300, 3][index]),
                index == 6 ? .null : .decimal(decimals[index]),
            ])
        }
        var block = RowBlock(
            schema: schema, classIndex: ConformanceSchema.session, columns: [0, 1, 2, 3, 4, 5, 6], isWhole: true)
        for row in rows { block.append(row) }
        _ = try store.apply(Self.end(1), frames: [BatchFrame(sequence: 0, blocks: [block])], wallMicroseconds: 0)
        let file = try open(isSynced: true)
        let table = file.layout.tables[ConformanceSchema.session]
        let statement = try file.connection.statement("SELECT \(table.columnList) FROM \(table.table) ORDER BY rowid")
        var found: [Row] = []
        while try statement.step() { found.append(statement.row(table.storedTypes)) }
        #expect(found == rows)
        #expect(
            try text("SELECT price FROM session WHERE price IS NOT NULL ORDER BY rowid") == decimals.map(\.description))
    }

    @Test("A local file has no queue and can't be opened as a device store")
    func localFile() throws {
        _ = try open(isSynced: false)
        let error = #expect(throws: SQLiteStoreError.self) { try SQLiteDeviceStore(path: path, schema: schema) }
        #expect(error?.code == .incompatibleHistory)
    }

    @Test("Table names reserved by the store are refused")
    func reservedNames() throws {
        let schema = try Schema([
            ClassSchema(
                name: "Meta", table: "tombolo_meta",
                columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true)])
        ])
        let error = #expect(throws: SQLiteStoreError.self) { try SQLiteDeviceStore(path: path, schema: schema) }
        #expect(error?.message.contains("reserved") == true)
    }

    @Test("A batch for an unknown subscription set changes nothing")
    func unknownSubscriptions() throws {
        let store = try SQLiteDeviceStore(path: path, schema: schema)
        let before = try store.state()
        var end = Self.end(1)
        end.position.subscriptionVersion = 9
        end.frameCount = 0
        #expect(throws: SQLiteStoreError.self) { try store.apply(end, frames: [], wallMicroseconds: 0) }
        #expect(try store.state() == before)
    }

    @Test("A file in a newer format is refused with advice")
    func newerFormat() throws {
        _ = try SQLiteDeviceStore(path: path, schema: schema)
        try SQLiteConnection(path: path, durability: .normal).execute("UPDATE tombolo_meta SET format = 99")
        let error = #expect(throws: SQLiteStoreError.self) { try SQLiteDeviceStore(path: path, schema: schema) }
        #expect(error?.code == .unsupportedFormat)
    }

    @Test(
        "A process killed while applying a batch leaves all of it or none",
        arguments: [300, 3_000, 9_000, 20_000, 60_000] as [UInt32])
    func killed(afterMicroseconds delay: UInt32) async throws {
        let path = path
        let store = try SQLiteDeviceStore(path: path, schema: schema)
        try Self.apply(tick: 1, rowCount: 10, to: store)
        await #expect(processExitsWith: .signal(9)) { [path = path as String, delay = delay as UInt32] in
            let store = try SQLiteDeviceStore(path: path, schema: ConformanceSchema.make())
            let rowCount = 20_000
            Thread.detachNewThread {
                usleep(delay)
                kill(getpid(), 9)
            }
            try SQLiteFileTests.apply(tick: 2, rowCount: rowCount, to: store)
            while true { pause() }
        }
        let count = try text("SELECT count(*) FROM speaker").first
        let tick = try store.state().position.tick
        #expect((tick == 1 && count == "10") || (tick == 2 && count == "20000"), "tick \(tick), \(count ?? "no") rows")
        #expect(try text("PRAGMA integrity_check") == ["ok"])
    }

    private func open(isSynced: Bool) throws -> StoreFile {
        try StoreFile(
            path: path, schema: schema, options: StoreOptions(isSynced: isSynced, durability: .normal),
            newClient: ClientID(rawValue: 1))
    }

    private static func end(_ tick: Int64) -> BatchEnd {
        BatchEnd(
            position: Position(
                tick: tick, token: tick, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0),
            serverTime: Stamp(microseconds: tick), acknowledged: 0, frameCount: 1)
    }

    private static func apply(tick: Int64, rowCount: Int, to store: SQLiteDeviceStore) throws {
        var block = RowBlock(
            schema: store.schema, classIndex: ConformanceSchema.speaker, columns: [0, 1, 2], isWhole: true)
        for number in 0..<rowCount { block.append(Row([.int(Int64(number)), .string("Ada"), .null])) }
        _ = try store.apply(end(tick), frames: [BatchFrame(sequence: 0, blocks: [block])], wallMicroseconds: 0)
    }
}
