import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

@testable import TomboloSQLiteStore

@Suite("App updates on a synced file with queued edits")
struct SchemaChangeTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    /// One release of the app: a schema, the engine's connection and the app's.
    private struct Release {
        let schema: Schema
        let store: SQLiteDeviceStore
        private let file: StoreFile
        private let writer: InstructionWriter

        init(_ path: String, _ classes: [ClassSchema]) throws {
            schema = try Schema(classes)
            file = try StoreFile(
                path: path, schema: schema, options: StoreOptions(isSynced: true, durability: .normal),
                newClient: ClientID(rawValue: 1))
            writer = InstructionWriter(file)
            store = try SQLiteDeviceStore(path: path, schema: schema)
        }

        func reference(_ className: String, _ key: Value) throws -> ObjectReference {
            ObjectReference(classIndex: try #require(schema.index(of: className)), key: key)
        }

        func set(_ className: String, _ key: Value, _ property: String, _ value: Value) throws -> Instruction {
            let reference = try reference(className, key)
            let column = try #require(schema[reference.classIndex].columnIndex(property))
            return .set(reference, [FieldWrite(column: column, value: value)])
        }

        func write(_ instructions: Instruction...) throws {
            try file.connection.writeTransaction {
                for instruction in instructions { try writer.perform(instruction) }
                try ChangesetQueue(file).append(ChangesetWriter(schema: schema, instructions), wallMicroseconds: 10)
            }
        }

        func apply(
            tick: Int64, _ rows: [(String, Row)] = [], acknowledged: Int64 = 0, replacesAll: Bool = false
        ) throws {
            let blocks = try rows.map { name, row in
                let index = try #require(schema.index(of: name))
                var block = RowBlock(
                    schema: schema, classIndex: index, columns: Array(schema[index].columns.indices), isWhole: true)
                block.append(row)
                return block
            }
            let frames = blocks.isEmpty ? [] : [BatchFrame(sequence: 0, blocks: blocks)]
            _ = try store.apply(
                BatchEnd(
                    position: Position(
                        tick: tick, token: tick, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0),
                    serverTime: Stamp(microseconds: tick), acknowledged: acknowledged, replacesAll: replacesAll,
                    frameCount: frames.count), frames: frames, wallMicroseconds: 0)
        }

        func queue() throws -> [Changeset] {
            try store.pendingChangesets(after: 0, maximumCount: .max, maximumByteCount: .max)
        }

        func rows(_ className: String) throws -> [Row] {
            let table = file.layout.tables[try #require(schema.index(of: className))]
            let statement = try file.connection.statement("SELECT \(table.columnList) FROM \(table.table)")
            defer { statement.reset() }
            var rows: [Row] = []
            while try statement.step() { rows.append(statement.row(table.storedTypes)) }
            return rows
        }
    }

    private func open(_ classes: ClassSchema...) throws -> Release {
        try Release(folder.path("device.tombolo"), classes)
    }

    private static let key = Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)

    private static func talk(_ columns: Column..., lists: [ListProperty] = []) -> ClassSchema {
        ClassSchema(name: "Talk", columns: [key, Column(name: "title", type: .string)] + columns, lists: lists)
    }

    private static let room = ClassSchema(name: "Room", columns: [key, Column(name: "name", type: .string)])

    @Test("A required property added under queued edits gets its zero in the server's rows too")
    func requiredPropertyAdded() throws {
        let first = try open(Self.talk())
        try first.apply(tick: 1, [("Talk", Row([.int(1), .string("Theirs")]))])
        try first.write(
            try first.set("Talk", .int(1), "title", .string("Mine")), .erase(first.reference("Talk", .int(2))))

        let second = try open(
            Self.talk(
                Column(name: "seats", type: .int(bits: 64)), Column(name: "place", type: .string),
                Column(name: "token", type: .uuid), Column(name: "note", type: .string, isOptional: true)))
        let zeros: [Value] = [.int(0), .string(""), PropertyType.uuid.zero, .null]
        try second.apply(tick: 2, [("Talk", Row([.int(3), .string("New"), .int(5), .string("Hall")] + zeros[2...]))])
        #expect(try second.rows("Talk").map { $0[1] } == [.string("Mine"), .string("New")])
        try second.apply(tick: 3, acknowledged: 1)
        #expect(try second.rows("Talk").first == Row([.int(1), .string("Theirs")] + zeros))
        #expect(try second.queue().isEmpty)
    }

    @Test("Removing a class drops only its queued edits, and the class comes back with the server's rows")
    func classRemoved() throws {
        let first = try open(Self.talk(), Self.room)
        try first.apply(
            tick: 1, [("Talk", Row([.int(1), .string("Theirs")])), ("Room", Row([.int(1), .string("Hall")]))])
        try first.write(
            try first.set("Room", .int(1), "name", .string("Cellar")),
            try first.set("Talk", .int(1), "title", .string("Mine")),
            .create(first.reference("Room", .int(2)), [FieldWrite(column: 1, value: .string("Attic"))]))
        try first.write(.erase(first.reference("Room", .int(1))))

        let second = try open(Self.talk())
        #expect(
            try second.queue().map(\.instructions) == [
                [try second.set("Talk", .int(1), "title", .string("Mine"))], [],
            ])
        try second.apply(tick: 2, [("Talk", Row([.int(2), .string("New")]))])
        #expect(try second.rows("Talk").map { $0[1] } == [.string("Mine"), .string("New")])
        try second.apply(tick: 3, acknowledged: 2)
        #expect(try second.rows("Talk").map { $0[1] } == [.string("Theirs"), .string("New")])

        let third = try open(Self.talk(), Self.room)
        #expect(try third.rows("Room") == [Row([.int(1), .string("Hall")])])
    }

    @Test("Removing a list drops only its queued edits")
    func listRemoved() throws {
        let lists = [ListProperty(name: "rooms", target: "Room")]
        let first = try open(Self.talk(lists: lists), Self.room)
        try first.apply(tick: 1, [("Talk", Row([.int(1), .string("Theirs")]))])
        let element = Value.objectId(ObjectId(high: 1, low: 1))
        try first.write(
            .create(
                first.reference("Talk.rooms", element),
                [
                    FieldWrite(column: 1, value: .int(1)), FieldWrite(column: 2, value: .string("a0")),
                    FieldWrite(column: 3, value: .int(1)),
                ]), try first.set("Talk", .int(1), "title", .string("Mine")))
        let second = try open(Self.talk(), Self.room)
        #expect(try second.queue().map(\.instructions) == [[second.set("Talk", .int(1), "title", .string("Mine"))]])
        try second.apply(tick: 2, [("Talk", Row([.int(2), .string("New")]))])
        #expect(try second.rows("Talk").map { $0[1] } == [.string("Mine"), .string("New")])
    }

    @Test("An app update doesn't alter a queued changeset the server may have, not even under a new number")
    func queuedBytesStay() throws {
        let extra = Column(name: "seats", type: .int(bits: 64))
        let first = try open(Self.talk(extra), Self.room)
        try first.apply(tick: 1, [("Talk", Row([.int(1), .string("Theirs"), .int(4)]))])
        try first.write(.erase(first.reference("Talk", .int(9))))
        try first.write(
            try first.set("Talk", .int(1), "title", .string("Mine")),
            try first.set("Talk", .int(1), "seats", .int(5)),
            .create(first.reference("Room", .int(2)), [FieldWrite(column: 1, value: .string("Attic"))]))
        let before = try first.queue()

        let second = try open(Self.talk())
        let after = try second.queue()
        #expect(after[1].instructions == [try second.set("Talk", .int(1), "title", .string("Mine"))])
        // The server gets exactly what the first release would have sent.
        let (device, server) = (MessageCodec(schema: second.schema), MessageCodec(schema: first.schema))
        func sent(_ changesets: [Changeset]) throws -> [Changeset] {
            guard case .upload(let sent) = try server.decodeClientMessage(device.encode(.upload(changesets))) else {
                return []
            }
            return sent
        }
        #expect(try sent(after) == before)
        #expect(
            try sent(after).map { $0.fingerprint(in: first.schema) } == before.map { $0.fingerprint(in: first.schema) })

        // The first is acknowledged; after a reset the second has the number 1.
        try second.apply(tick: 2, acknowledged: 1)
        try second.store.reset(client: ClientID(rawValue: 2), discardsPending: false)
        let renumbered = try sent(try second.queue())
        #expect(renumbered.map(\.number) == [1] && renumbered.map(\.base) == [0])
        #expect(renumbered.first?.instructions == before[1].instructions)
    }

    @Test("Queued edits of a class that comes back are visible again with the next batch")
    func classComesBack() throws {
        let first = try open(Self.talk(), Self.room)
        try first.apply(tick: 1, [("Room", Row([.int(1), .string("Hall")]))])
        try first.write(try first.set("Room", .int(1), "name", .string("Cellar")))
        _ = try open(Self.talk())
        let third = try open(Self.talk(), Self.room)
        try third.apply(tick: 2, [("Talk", Row([.int(2), .string("New")]))])
        #expect(try third.rows("Room") == [Row([.int(1), .string("Cellar")])])
        try third.apply(tick: 3, acknowledged: 1)
        #expect(try third.rows("Room") == [Row([.int(1), .string("Hall")])])
    }

    /// Changes a row behind the store's back. Replaying the row's queued edits would undo that.
    private func slip(_ name: String, intoRoom key: Int) throws {
        let connection = try SQLiteConnection(path: folder.path("device.tombolo"), durability: .normal)
        try connection.execute("UPDATE Room SET name = '\(name)' WHERE _id = \(key)")
    }

    @Test("A restarted app replays its queue only if its classes have changed")
    func replaysAfterUpdatesOnly() throws {
        let news = ("Talk", Row([.int(2), .string("New")]))
        let first = try open(Self.talk(), Self.room)
        try first.apply(tick: 1, [("Room", Row([.int(1), .string("Hall")]))])
        try first.write(try first.set("Room", .int(1), "name", .string("Cellar")))
        try slip("As it was", intoRoom: 1)
        let second = try open(Self.talk(), Self.room)
        try second.apply(tick: 2, [news])
        #expect(try second.rows("Room") == [Row([.int(1), .string("As it was")])])

        // A class goes and comes back. Once its edits have been replayed, they aren't replayed again.
        _ = try open(Self.talk())
        let third = try open(Self.talk(), Self.room)
        try third.apply(tick: 3, [news])
        #expect(try third.rows("Room") == [Row([.int(1), .string("Cellar")])])
        try slip("As it was", intoRoom: 1)
        let fourth = try open(Self.talk(), Self.room)
        try fourth.apply(tick: 4, [news])
        #expect(try fourth.rows("Room") == [Row([.int(1), .string("As it was")])])

        // Adding a property changes the class.
        let fifth = try open(Self.talk(Column(name: "note", type: .string, isOptional: true)), Self.room)
        try fifth.apply(tick: 5, [("Talk", Row([.int(2), .string("New"), .null]))])
        #expect(try fifth.rows("Room") == [Row([.int(1), .string("Cellar")])])
    }

    @Test("A first batch without objects leaves offline writes as they are, and makes its tick their base")
    func emptyFirstBatch() throws {
        let first = try open(Self.room)
        for key in 1...3 {
            try first.write(
                .create(
                    try first.reference("Room", .int(Int64(key))), [FieldWrite(column: 1, value: .string("Mine"))]))
        }
        try slip("As it was", intoRoom: 2)
        try first.apply(tick: 5, replacesAll: true)
        #expect(try first.rows("Room").map { $0[1] } == [.string("Mine"), .string("As it was"), .string("Mine")])
        #expect(try first.queue().map(\.base) == [5, 5, 5])
        // A second such batch replaces a state that came from the server, so the queue is replayed.
        try first.apply(tick: 6, replacesAll: true)
        #expect(try first.rows("Room").map { $0[1] } == [.string("Mine"), .string("Mine"), .string("Mine")])
        try first.apply(tick: 7, acknowledged: 3)
        #expect(try first.rows("Room").isEmpty && first.queue().isEmpty)
    }

    @Test("Removing a class without queued edits keeps its rows and writes nothing")
    func classRemovedWithoutEdits() throws {
        let first = try open(Self.talk(), Self.room)
        try first.apply(tick: 1, [("Room", Row([.int(1), .string("Hall")]))])
        let blocker = try SQLiteConnection(path: folder.path("device.tombolo"), durability: .normal)
        try blocker.writeTransaction { _ = try open(Self.talk()) }
        #expect(try open(Self.talk(), Self.room).rows("Room") == [Row([.int(1), .string("Hall")])])
    }
}
