import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import DeviceStoreConformance
@testable import TomboloSQLiteStore

@Suite("Batches under queued edits")
struct RebasedRowsTests {
    @Test("A batch is recorded as its net change, and objects that stay keep their rowids")
    func randomHistories() throws { try DeviceStoreCheck.randomHistories.run(ObservedHarness.self) }

    private let schema: Schema
    private let harness: ObservedHarness
    private var server: ConformanceServer

    init() throws {
        schema = try ConformanceSchema.make()
        harness = try ObservedHarness(schema: schema, client: ClientID(rawValue: 5))
        server = ConformanceServer(schema: schema)
    }

    private func room(_ number: UInt32) -> Value { .objectId(ObjectId(high: 7, low: number)) }

    private func create(_ number: UInt32) -> Instruction {
        .create(
            ObjectReference(classIndex: ConformanceSchema.room, key: room(number)),
            [FieldWrite(column: 1, value: .string("Mine")), FieldWrite(column: 2, value: .bool(true))])
    }

    @Test("Objects made on this device keep their identity when the server sends them back")
    mutating func ownObjects() throws {
        try harness.write([create(1), create(2), create(3)], wallMicroseconds: 1)
        // Another device's object, and the second of ours with a different name.
        server.put(ConformanceSchema.room, Row([room(9), .string("Theirs"), .bool(true), .null]))
        server.put(ConformanceSchema.room, Row([room(2), .string("Renamed"), .bool(true), .null]))
        let frames = server.frames(from: [:])
        _ = try harness.store.apply(server.end(frameCount: 1), frames: [frames[0]], wallMicroseconds: 2)
        let changes = try #require(harness.store.lastChanges)[ConformanceSchema.room]
        #expect(changes.deleted.isEmpty)
        #expect(changes.inserted == [4])
        // Our queued name still hides the server's.
        #expect(changes.modified.isEmpty)
        _ = try harness.store.apply(server.end(acknowledged: 1, frameCount: 0), frames: [], wallMicroseconds: 3)
        let later = try #require(harness.store.lastChanges)[ConformanceSchema.room]
        // The first and the third were refused.
        #expect(later.deleted == [1, 3])
        #expect(later.inserted.isEmpty)
        #expect(later.modified == [2: [1]])
    }
}

extension RebasedRowsTests {
    @Test("Many new objects are written together, even among objects that the device has")
    mutating func manyObjects() throws {
        for number in stride(from: UInt32(0), to: 300, by: 3) {
            server.put(ConformanceSchema.room, Row([room(number), .string("Old"), .bool(true), .null]))
        }
        _ = try harness.store.apply(server.end(frameCount: 1), frames: server.frames(from: [:]), wallMicroseconds: 1)
        #expect(try #require(harness.store.lastChanges)[ConformanceSchema.room].inserted.count == 100)
        for number in UInt32(0)..<300 {
            server.put(ConformanceSchema.room, Row([room(number), .string("New"), .bool(false), .data(Data([1]))]))
        }
        _ = try harness.store.apply(server.end(frameCount: 1), frames: server.frames(from: [:]), wallMicroseconds: 2)
        let changes = try #require(harness.store.lastChanges)[ConformanceSchema.room]
        #expect(changes.inserted.count == 200 && changes.deleted.isEmpty && changes.modified.count == 100)
        #expect(try Set(harness.rows(ofClass: ConformanceSchema.room)) == Set(server.rows.values))
    }

    @Test("A batch leaves alone the queued edits of objects that it isn't about")
    mutating func untouchedObjects() throws {
        let tickets = (1...4).map { ObjectReference(classIndex: ConformanceSchema.ticket, key: .int($0)) }
        func row(_ ticket: ObjectReference, _ holder: String, seats: Int64 = 0) -> Row {
            Row([ticket.key, .string(holder), .int(seats), .null])
        }
        for ticket in tickets { server.put(ConformanceSchema.ticket, row(ticket, "Server")) }
        _ = try harness.store.apply(server.end(frameCount: 1), frames: server.frames(from: [:]), wallMicroseconds: 1)
        for ticket in tickets {
            try harness.write([.set(ticket, [FieldWrite(column: 1, value: .string("Mine"))])], wallMicroseconds: 2)
        }
        try harness.write([.add(tickets[0], column: 2, amount: 2)], wallMicroseconds: 2)
        // The outcome of the first edit, which lost.
        let delivered = server.rows
        server.put(ConformanceSchema.ticket, row(tickets[0], "Theirs", seats: 5))
        _ = try harness.store.apply(
            server.end(acknowledged: 1, frameCount: 1), frames: server.frames(from: delivered), wallMicroseconds: 3)
        let changes = try #require(harness.store.lastChanges)[ConformanceSchema.ticket]
        #expect(changes.inserted.isEmpty && changes.deleted.isEmpty)
        #expect(changes.modified == [1: [1, 2]])
        #expect(
            try Set(harness.rows(ofClass: ConformanceSchema.ticket))
                == Set([row(tickets[0], "Theirs", seats: 7)] + tickets.dropFirst().map { row($0, "Mine") }))
        // An object whose edit is refused goes back to the server's value.
        _ = try harness.store.apply(server.end(acknowledged: 2, frameCount: 0), frames: [], wallMicroseconds: 4)
        #expect(try #require(harness.store.lastChanges)[ConformanceSchema.ticket].modified == [2: [1]])
        #expect(try harness.rows(ofClass: ConformanceSchema.ticket).contains(row(tickets[1], "Server")))
    }
}

extension RebasedRowsTests {
    @Test("Objects that come back as they were uploaded stay untouched, and those with later edits keep them")
    mutating func shownObjects() throws {
        let tickets = (1...6).map { ObjectReference(classIndex: ConformanceSchema.ticket, key: .int($0)) }
        func row(_ ticket: ObjectReference, _ holder: String, seats: Int64 = 0) -> Row {
            Row([ticket.key, .string(holder), .int(seats), .null])
        }
        // From here on, batches rebase only the objects that they are about.
        _ = try harness.store.apply(server.end(frameCount: 0), frames: [], wallMicroseconds: 1)
        for ticket in tickets {
            try harness.write(
                [
                    .create(
                        ticket,
                        [
                            FieldWrite(column: 1, value: .string("Mine")), FieldWrite(column: 2, value: .int(0)),
                            FieldWrite(column: 3, value: .null),
                        ])
                ], wallMicroseconds: 2)
        }
        try harness.write([.set(tickets[2], [FieldWrite(column: 1, value: .string("Later"))])], wallMicroseconds: 3)
        // Reading the changesets for the upload decodes them, so that the store knows which objects have queued edits.
        _ = try harness.store.pendingChangesets(after: 0, maximumCount: .max, maximumByteCount: .max)
        for ticket in tickets.prefix(3) { server.put(ConformanceSchema.ticket, row(ticket, "Mine")) }
        server.put(ConformanceSchema.ticket, row(tickets[3], "Theirs"))
        var delivered = server.rows
        _ = try harness.store.apply(
            server.end(acknowledged: 5, frameCount: 1), frames: [server.frames(from: [:])[0]], wallMicroseconds: 4)
        var changes = try #require(harness.store.lastChanges)[ConformanceSchema.ticket]
        // The fourth came back different, and the fifth was refused. The sixth is still waiting.
        #expect(changes.modified == [4: [1]])
        #expect(changes.deleted == [5] && changes.inserted.isEmpty)
        #expect(
            try Set(harness.rows(ofClass: ConformanceSchema.ticket))
                == Set([
                    row(tickets[0], "Mine"), row(tickets[1], "Mine"), row(tickets[2], "Later"),
                    row(tickets[3], "Theirs"), row(tickets[5], "Mine"),
                ]))
        // The later edit and the sixth object are refused: what is beneath them shows again. Nothing is beneath the others.
        _ = try harness.store.apply(
            server.end(acknowledged: 7, frameCount: 0), frames: [], wallMicroseconds: 5)
        changes = try #require(harness.store.lastChanges)[ConformanceSchema.ticket]
        #expect(changes.modified == [3: [1]])
        #expect(changes.deleted == [6])
        // Another device's edit to an object that was left alone.
        server.put(ConformanceSchema.ticket, row(tickets[0], "Theirs", seats: 1))
        _ = try harness.store.apply(
            server.end(acknowledged: 7, frameCount: 1), frames: [server.frames(from: delivered)[0]], wallMicroseconds: 6
        )
        delivered = server.rows
        #expect(try Set(harness.rows(ofClass: ConformanceSchema.ticket)) == Set(delivered.values))
    }
}

/// A store with a reader that compares the recorded changes of every batch with the actual ones.
final class ObservedStore: DeviceStore {
    private let store: SQLiteDeviceStore
    private let reader: StoreFile
    private(set) var lastChanges: ChangeSet?
    private(set) var staged: [BatchFrame] = []

    struct Mismatch: Error, CustomStringConvertible { let description: String }

    private struct Entry: Equatable {
        let rowID: Int64
        let row: Row
    }

    init(_ store: SQLiteDeviceStore, _ reader: StoreFile, staged: [BatchFrame] = []) throws {
        self.staged = staged
        self.store = store
        self.reader = reader
        _ = try reader.log.advance()
    }

    var schema: Schema { store.schema }
    func state() throws -> DeviceState { try store.state() }
    func pendingChangesets(after number: Int64, maximumCount: Int, maximumByteCount: Int) throws -> [Changeset] {
        try store.pendingChangesets(after: number, maximumCount: maximumCount, maximumByteCount: maximumByteCount)
    }
    func stage(_ frame: BatchFrame) throws {
        if frame.sequence == 0 { staged = [] }
        staged.append(frame)
        try store.stage(frame)
    }
    func setWantedSubscriptions(_ subscriptions: SubscriptionSet) throws {
        try store.setWantedSubscriptions(subscriptions)
    }
    func refuseSubscriptions(version: Int64, reason: String) throws {
        try store.refuseSubscriptions(version: version, reason: reason)
    }
    func untoldRefusals(after id: Int64) throws -> [UntoldRefusal] { try store.untoldRefusals(after: id) }
    func forgetRefusals(through id: Int64) throws { try store.forgetRefusals(through: id) }
    func noteReset() throws { try store.noteReset() }
    func reset(client: ClientID, discardsPending: Bool) throws {
        try store.reset(client: client, discardsPending: discardsPending)
    }
    func finishReset() throws { try store.finishReset() }

    func apply(_ end: BatchEnd, frames: [BatchFrame], wallMicroseconds: Int64) throws -> AppliedBatch {
        _ = try reader.log.advance()
        let before = try content()
        let queue = try store.pendingChangesets(after: 0, maximumCount: .max, maximumByteCount: .max)
        let result = try store.apply(end, frames: frames, wallMicroseconds: wallMicroseconds)
        let after = try content()
        guard case .changes(let changes) = try reader.log.advance() else { throw Mismatch(description: "no entry") }
        lastChanges = changes
        // While edits are replayed, a list may change and change back. That happens if an element is removed again, whose
        // list is then unknown, or if an object is erased and recreated.
        let passing = queue.flatMap(\.instructions).filter { instruction in
            let reference = instruction.reference
            if reference.classIndex == ConformanceSchema.element {
                return after[reference.classIndex][reference.key] == nil
            }
            if case .erase = instruction { return reference.classIndex == ConformanceSchema.speaker }
            return false
        }
        let repeated = repeated(in: (frames.count < end.frameCount ? staged : []) + frames)
        if !end.replacesAll {
            try check(changes, before, after, repeated, areListsExact: passing.isEmpty && repeated.isEmpty)
        }
        return result
    }

    /// The objects that appear more than once in batches that were applied as one. They may change and change back, or leave
    /// and come back as another row.
    private func repeated(in frames: [BatchFrame]) -> Set<ObjectReference> {
        var named: Set<ObjectReference> = []
        var repeated: Set<ObjectReference> = []
        func name(_ classIndex: Int, _ key: Value) {
            let reference = ObjectReference(classIndex: classIndex, key: key)
            if !named.insert(reference).inserted { repeated.insert(reference) }
        }
        for frame in frames {
            for removal in frame.removals { for key in removal.keys { name(removal.classIndex, key) } }
            for block in frame.blocks {
                for row in 0..<block.rowCount { name(block.classIndex, block.key(row: row, schema: schema)) }
            }
        }
        return repeated
    }

    private func isRepeated(_ classIndex: Int, _ key: Value, _ row: Row, _ repeated: Set<ObjectReference>) -> Bool {
        if repeated.contains(ObjectReference(classIndex: classIndex, key: key)) { return true }
        guard classIndex == ConformanceSchema.element else { return false }
        return repeated.contains(
            ObjectReference(classIndex: ConformanceSchema.session, key: row[ElementColumn.owner]))
    }

    private func content() throws -> [[Value: Entry]] {
        try reader.layout.tables.map { table in
            let statement = try reader.connection.statement("SELECT \(table.columnList), rowid FROM \(table.table)")
            defer { statement.reset() }
            var result: [Value: Entry] = [:]
            while try statement.step() {
                let row = statement.row(table.storedTypes)
                result[row[0]] = Entry(rowID: statement.integer(at: table.storedTypes.count), row: row)
            }
            return result
        }
    }

    private func check(
        _ changes: ChangeSet, _ before: [[Value: Entry]], _ after: [[Value: Entry]], _ repeated: Set<ObjectReference>,
        areListsExact: Bool
    ) throws {
        for (index, item) in schema.classes.enumerated() {
            let found = changes[index]
            var expected = (inserted: Set<Int64>(), deleted: Set<Int64>())
            for (key, old) in before[index] where after[index][key] == nil { expected.deleted.insert(old.rowID) }
            for (key, new) in after[index] {
                guard let old = before[index][key] else {
                    expected.inserted.insert(new.rowID)
                    continue
                }
                let isRepeated = isRepeated(index, key, new.row, repeated)
                if isRepeated, found.deleted.contains(old.rowID), found.inserted.contains(new.rowID) {
                    expected.deleted.insert(old.rowID)
                    expected.inserted.insert(new.rowID)
                    continue
                }
                guard old.rowID == new.rowID else {
                    throw Mismatch(description: "\(item.name) \(key): row \(old.rowID) became \(new.rowID)")
                }
                let told = found.modified[old.rowID] ?? ColumnSet()
                for (column, definition) in item.columns.enumerated() {
                    let isChanged = old.row[column] != new.row[column]
                    let isTold = told.contains(column)
                    guard isChanged == isTold || !isChanged && (isRepeated || definition.linkTarget != nil) else {
                        throw Mismatch(
                            description: "\(item.name) \(key).\(definition.name): \(isChanged), told \(isTold)")
                    }
                }
                guard index == ConformanceSchema.session else { continue }
                let isTold = told.contains(item.columns.count)
                let isChanged = elements(of: key, before) != elements(of: key, after)
                let areTargetsChanged =
                    Set(before[ConformanceSchema.speaker].keys)
                    != Set(after[ConformanceSchema.speaker].keys)
                guard isChanged == isTold || !isChanged && (areTargetsChanged || !areListsExact) else {
                    throw Mismatch(description: "list of \(key): \(isChanged), told \(isTold)")
                }
            }
            guard Set(found.inserted) == expected.inserted, Set(found.deleted) == expected.deleted else {
                throw Mismatch(
                    description: "\(item.name): +\(Array(found.inserted)) -\(Array(found.deleted)), not "
                        + "+\(expected.inserted.sorted()) -\(expected.deleted.sorted())")
            }
        }
    }

    private func elements(of session: Value, _ content: [[Value: Entry]]) -> [Value: Row] {
        content[ConformanceSchema.element].mapValues(\.row).filter { $0.value[ElementColumn.owner] == session }
    }
}

final class ObservedHarness: DeviceStoreHarness {
    private let harness: SQLiteHarness
    private(set) var store: ObservedStore

    init(schema: Schema, client: ClientID) throws {
        harness = try SQLiteHarness(schema: schema, client: client)
        store = try ObservedStore(harness.store, harness.open())
    }

    func write(_ instructions: [Instruction], wallMicroseconds: Int64) throws {
        try harness.write(instructions, wallMicroseconds: wallMicroseconds)
    }

    func rows(ofClass classIndex: Int) throws -> [Row] { try harness.rows(ofClass: classIndex) }

    func restart() throws {
        try harness.restart()
        store = try ObservedStore(harness.store, harness.open(), staged: store.staged)
    }
}
