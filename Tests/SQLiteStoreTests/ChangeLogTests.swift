import DeviceStoreConformance
import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloSQLiteStore

@Suite("Change log")
struct ChangeLogTests {
    private let folder: TemporaryFolder
    private let schema: Schema

    init() throws {
        folder = try TemporaryFolder()
        schema = try ConformanceSchema.make()
    }

    private func open(_ path: String = "log.tombolo", synced: Bool = false) throws -> StoreFile {
        let file = try StoreFile(
            path: folder.path(path), schema: schema, options: StoreOptions(isSynced: synced, durability: .off),
            newClient: ClientID(rawValue: 1))
        #expect(try file.log.advance() == .nothing)
        return file
    }

    private var rooms: Int { schema.index(of: "Room")! }

    private func room(_ file: StoreFile, _ sql: String) throws {
        try file.writeTransaction { try file.connection.execute(sql) }
    }

    private func insertRoom(_ file: StoreFile) throws {
        try room(file, "INSERT INTO room (_id, name, is_open) VALUES (randomblob(12), 'A', 1)")
    }

    private func changes(_ advance: ChangeLog.Advance) -> ClassChanges? {
        if case .changes(let set) = advance { set[rooms] } else { nil }
    }

    @Test("Another connection learns what several transactions changed, merged")
    func otherConnection() throws {
        let (writer, reader) = (try open(), try open())
        try insertRoom(writer)
        try insertRoom(writer)
        try insertRoom(writer)
        let inserted = changes(try reader.log.advance())
        #expect(inserted?.inserted == [1, 2, 3])
        #expect(try reader.log.advance() == .nothing)
        try room(writer, "UPDATE room SET name = 'B' WHERE rowid = 2")
        try room(writer, "DELETE FROM room WHERE rowid = 1")
        let later = changes(try reader.log.advance())
        #expect(later?.deleted == [1])
        #expect(later?.modified.rowIDs == [2])
        // The writer knows its own changes.
        #expect(try writer.log.advance() == .nothing)
        #expect(writer.log.number == reader.log.number)
    }

    @Test("A connection tells its own commits from others' by counting them")
    func standing() throws {
        let (mine, other) = (try open(), try open())
        for _ in 0..<3 {
            try insertRoom(mine)
            #expect(mine.log.standing == .newest)
        }
        try mine.writeTransaction {}
        try mine.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(mine.log.standing == .newest)
        guard case .behind(let first) = other.log.standing else {
            Issue.record("The other connection doesn't know that it is behind.")
            return
        }
        try insertRoom(mine)
        #expect(other.log.standing == .behind(first + 1))
        _ = try other.beginReading()
        #expect(other.log.standing == .newest)
        // A program that doesn't write the log.
        try SQLiteConnection(path: mine.path, durability: .off).execute("UPDATE room SET name = 'C'")
        for file in [mine, other] {
            guard case .behind = file.log.standing else {
                Issue.record("A commit by another program wasn't noticed.")
                return
            }
        }
    }

    @Test("A transaction that fails or writes nothing leaves no entry")
    func noEntry() throws {
        let (writer, reader) = (try open(), try open())
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try writer.writeTransaction {
                try writer.connection.execute("INSERT INTO room (_id, name, is_open) VALUES (x'00', 'A', 1)")
                throw Stop()
            }
        }
        try writer.writeTransaction {}
        #expect(try reader.log.advance() == .nothing)
        try insertRoom(writer)
        #expect(changes(try reader.log.advance())?.inserted == [1])
    }

    @Test("A writer that doesn't keep the log is noticed by readers and by the next writer that does")
    func outsideWriter() throws {
        let (writer, reader, late) = (try open(), try open(), try open())
        let outside = try SQLiteConnection(path: folder.path("log.tombolo"), durability: .off)
        try outside.execute("INSERT INTO room (_id, name, is_open) VALUES (x'00', 'A', 1)")
        #expect(try reader.log.advance() == .unknown(isOutsideWriter: true))
        try insertRoom(writer)
        // A reader that hadn't looked in between learns about it from the writer, which had to look.
        #expect(changes(try late.log.advance()) == .everything)
        try insertRoom(writer)
        #expect(changes(try late.log.advance())?.inserted == [3])
    }

    /// Writes so much that SQLite restarts the write-ahead log before the transaction ends.
    private static func startLogAnew(_ file: StoreFile) throws {
        try file.connection.execute("PRAGMA wal_checkpoint(FULL)")
        try file.connection.execute("PRAGMA cache_size = 1")
        _ = try file.beginWriting()
        try file.connection.execute(
            "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 200) "
                + "INSERT INTO room (_id, name, is_open) SELECT randomblob(12), hex(randomblob(2000)), 1 FROM n")
    }

    private func version(_ file: StoreFile) throws -> Int64? {
        try file.connection.integer("PRAGMA data_version")
    }

    @Test("A transaction that restarts the WAL is reported when it commits, and not if it's rolled back")
    func logAnew() throws {
        let (writer, reader) = (try open(), try open())
        try insertRoom(writer)
        #expect(changes(try reader.log.advance())?.inserted == [1])
        let before = try version(reader)
        try Self.startLogAnew(writer)
        #expect(try version(reader) != before, "Nothing is visible yet, but SQLite has counted another version.")
        #expect(try reader.log.advance() == .nothing)
        #expect(try reader.beginReading() == .nothing)
        reader.connection.rollback()
        writer.connection.rollback()
        #expect(try reader.log.advance() == .nothing)
        try Self.startLogAnew(writer)
        #expect(try reader.log.advance() == .nothing)
        try writer.commitWriting()
        #expect(changes(try reader.log.advance())?.inserted.count == 200)
        #expect(try writer.log.advance() == .nothing)
    }

    @Test("A process that dies while restarting the WAL changes nothing")
    func killedWriter() async throws {
        let reader = try open()
        try insertRoom(reader)
        let before = try version(reader)
        let path = folder.path("log.tombolo")
        await #expect(processExitsWith: .exitCode(7)) { [path = path as String] in
            let writer = try StoreFile(
                path: path, schema: ConformanceSchema.make(),
                options: StoreOptions(isSynced: false, durability: .off), newClient: ClientID(rawValue: 1))
            try Self.startLogAnew(writer)
            _exit(7)
        }
        #expect(try version(reader) != before)
        #expect(try reader.log.advance() == .nothing)
        try insertRoom(try open())
        #expect(changes(try reader.log.advance())?.inserted == [2])
    }

    @Test("After a checkpoint nothing counts as changed, and an outside writer is still noticed")
    func checkpoint() throws {
        let (writer, reader) = (try open(), try open())
        try insertRoom(writer)
        #expect(changes(try reader.log.advance())?.inserted == [1])
        let outside = try SQLiteConnection(path: folder.path("log.tombolo"), durability: .off)
        for file in [reader, writer] {
            let before = try version(file)
            try outside.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            #expect(try version(file) != before)
            #expect(try file.log.advance() == .nothing)
            try insertRoom(writer)
            _ = try reader.log.advance()
        }
        try outside.execute("INSERT INTO room (_id, name, is_open) VALUES (x'00', 'A', 1)")
        try outside.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        #expect(try reader.log.advance() == .unknown(isOutsideWriter: true))
        #expect(try reader.beginReading() == .nothing)
    }

    @Test("Reading a file without a WAL creates no files next to it")
    func noLog() throws {
        let path = folder.path("log.tombolo")
        do { try insertRoom(try open()) }
        try FileCopy.settle(path)
        let reader = try StoreFile(
            path: path, schema: schema, options: StoreOptions(isSynced: false, isReadOnly: true, durability: .off),
            newClient: ClientID(rawValue: 1))
        #expect(try reader.beginReading() == .nothing)
        #expect(try reader.connection.integer("SELECT count(*) FROM room") == 1)
        reader.connection.rollback()
        for suffix in ["-wal", "-shm", "-journal"] {
            #expect(!FileManager.default.fileExists(atPath: path + suffix))
        }
    }

    @Test("The log is bounded, and a reader older than its first entry learns that it missed changes")
    func trimming() throws {
        let (writer, reader) = (try open(), try open())
        let last = ChangeLog.maximumCount + 2 * ChangeLog.trimInterval
        for _ in 0..<last { try room(writer, "INSERT INTO room (_id, name, is_open) VALUES (randomblob(12), 'A', 1)") }
        #expect(try reader.log.advance() == .unknown(isOutsideWriter: false))
        #expect(reader.log.number == last)
        let kept = try writer.connection.integer("SELECT count(*) FROM tombolo_commit") ?? 0
        #expect((ChangeLog.maximumCount...ChangeLog.maximumCount + ChangeLog.trimInterval).contains(kept))
        #expect(try reader.log.changes(after: last - ChangeLog.maximumCount, through: last) != nil)
    }

    @Test("The log is bounded in bytes")
    func trimmingBytes() throws {
        let writer = try open()
        var wide = ClassChanges()
        // Nearly the longest entry.
        wide.deleted = RowIDSet(stride(from: 0 as Int64, to: 200_000, by: 1).map { $0 * 1_000 })
        for _ in 0..<12 {
            try writer.connection.writeTransaction { _ = try writer.log.append(ChangeSet([rooms: wide])) }
        }
        let bytes = try writer.connection.integer("SELECT sum(length(changes)) FROM tombolo_commit") ?? 0
        #expect(bytes <= ChangeLog.maximumByteCount)
        #expect(try writer.connection.integer("SELECT max(number) FROM tombolo_commit") == 12)
    }

    @Test("A damaged entry counts as missing")
    func damage() throws {
        let (writer, reader) = (try open(), try open())
        try insertRoom(writer)
        try writer.connection.execute("UPDATE tombolo_commit SET changes = x'ff'")
        #expect(try reader.log.advance() == .unknown(isOutsideWriter: false))
    }

    @Test("Changing elements changes their list, and erasing an object changes the lists it's in")
    func lists() throws {
        let (writer, reader) = (try open(), try open())
        let instructions = InstructionWriter(writer)
        let sessions = try #require(schema.index(of: "Session"))
        let speakers = try #require(schema.index(of: "Speaker"))
        let elements = try #require(schema.index(of: "Session.speakers"))
        let element = ObjectReference(classIndex: elements, key: .objectId(.generate()))
        let session = ObjectReference(classIndex: sessions, key: .string("one"))
        let speaker = ObjectReference(classIndex: speakers, key: .int(5))
        try writer.writeTransaction {
            try instructions.perform(.create(session, Self.fields(schema[sessions])))
            try instructions.perform(.create(speaker, Self.fields(schema[speakers])))
        }
        _ = try reader.log.advance()
        try writer.writeTransaction {
            try instructions.perform(
                .create(
                    element,
                    [
                        FieldWrite(column: ElementColumn.owner, value: session.key),
                        FieldWrite(column: ElementColumn.rank, value: .string("a")),
                        FieldWrite(column: ElementColumn.target, value: speaker.key),
                    ]))
        }
        let list = ColumnSet([schema[sessions].columns.count])
        guard case .changes(let created) = try reader.log.advance() else {
            Issue.record("No changes.")
            return
        }
        #expect(created[sessions].modified == [1: list])
        #expect(created[elements].inserted == [1])
        try writer.writeTransaction { try instructions.perform(.erase(speaker)) }
        guard case .changes(let erased) = try reader.log.advance() else {
            Issue.record("No changes.")
            return
        }
        #expect(erased[sessions].modified == [1: list])
        #expect(erased[elements].deleted == [1])
        #expect(erased[speakers].deleted == [5])
    }

    /// Zeros for all required columns but the key.
    private static func fields(_ item: ClassSchema) -> [FieldWrite] {
        item.columns.enumerated().filter { !$1.isPrimaryKey && !$1.isOptional }.map {
            FieldWrite(column: $0, value: $1.type.zero)
        }
    }
}
