import Foundation
import Synchronization
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloSQLiteStore

@Suite("App updates that rename classes and properties of a synced file")
struct RenamingTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private var path: String { folder.path("device.tombolo") }

    private static let key = Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)

    /// - Parameter isRenamed: whether the classes are those of the app's next version.
    private static func schema(_ isRenamed: Bool) throws -> Schema {
        func name(_ old: String, _ new: String) -> (name: String, previousNames: [String]) {
            isRenamed ? (new, [old]) : (old, [])
        }
        func column(
            _ old: String, _ new: String, _ type: PropertyType, isOptional: Bool = false, isIndexed: Bool = false,
            previous: [String]? = nil
        ) -> Column {
            let (name, names) = name(old, new)
            return Column(
                name: name, type: type, isOptional: isOptional, isIndexed: isIndexed,
                previousNames: isRenamed ? previous ?? names : [])
        }
        let (room, rooms) = (name("Room", "Hall"), name("rooms", "halls"))
        let (tags, talk) = (name("tags", "topics"), name("Talk", "Session"))
        return try Schema([
            ClassSchema(
                name: talk.name,
                columns: [
                    key, column("title", "headline", .string, isIndexed: true), column("cost", "price", .int(bits: 64)),
                    column("home", "base", .link(to: room.name), isOptional: true),
                    column("place", "address", .embedded(isRenamed ? "Address" : "Place"), isOptional: true),
                    column(
                        "place.zip", "address.code", .string, isOptional: true,
                        previous: ["address.zip", "place.code", "place.zip"]),
                    Column(name: "note", type: .string, isOptional: true),
                ],
                lists: [
                    ListProperty(name: rooms.name, element: .link(to: room.name), previousNames: rooms.previousNames),
                    ListProperty(
                        name: tags.name, element: .scalar(.string, isOptional: false),
                        previousNames: tags.previousNames),
                ], previousNames: talk.previousNames),
            ClassSchema(
                name: room.name, columns: [key, Column(name: "name", type: .string)],
                previousNames: room.previousNames),
        ])
    }

    private func open(
        _ schema: Schema, at path: String? = nil, onStep: (@Sendable (LocalMigrationPlan.Step) -> Void)? = nil
    ) throws -> StoreFile {
        try StoreFile(
            path: path ?? self.path, schema: schema,
            options: StoreOptions(
                isSynced: true, durability: .normal, migration: LocalMigrationPlan(onStep: onStep)),
            newClient: ClientID(rawValue: 1))
    }

    private func rows(_ file: StoreFile, _ className: String, beneath: Bool = false) throws -> Set<Row> {
        let table = file.layout.tables[try #require(file.schema.index(of: className))]
        let name = beneath ? table.beneath : table.table
        let statement = try file.connection.statement("SELECT \(table.columnList) FROM \(name)")
        defer { statement.reset() }
        var rows: Set<Row> = []
        while try statement.step() { rows.insert(statement.row(table.storedTypes)) }
        return rows
    }

    private func apply(_ file: StoreFile, tick: Int64, _ rows: [(String, Row)] = [], acknowledged: Int64 = 0) throws {
        let blocks = try rows.map { name, row in
            let index = try #require(file.schema.index(of: name))
            var block = RowBlock(
                schema: file.schema, classIndex: index, columns: Array(file.schema[index].columns.indices),
                isWhole: true)
            block.append(row)
            return block
        }
        let frames = blocks.isEmpty ? [] : [BatchFrame(sequence: 0, blocks: blocks)]
        _ = try SQLiteDeviceStore(file).apply(
            BatchEnd(
                position: Position(
                    tick: tick, token: tick, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0),
                serverTime: Stamp(microseconds: tick), acknowledged: acknowledged, frameCount: frames.count),
            frames: frames, wallMicroseconds: 0)
    }

    private static let talk = Row([
        .int(1), .string("Theirs"), .int(5), .int(1), .bool(true), .string("10115"), .string("stays"),
    ])
    private static let element = Value.objectId(ObjectId(high: 1, low: 1))
    private static let tag = Value.objectId(ObjectId(high: 1, low: 2))

    /// Stores rows from the server, and edits of every kind, under the old names.
    private func prepare() throws -> [Changeset] {
        let schema = try Self.schema(false)
        let file = try open(schema)
        try apply(
            file, tick: 1,
            [
                ("Room", Row([.int(1), .string("Aula")])), ("Talk", Self.talk),
                ("Talk.rooms", Row([Self.element, .int(1), .string("V"), .int(1)])),
            ])
        func reference(_ name: String, _ key: Value) throws -> ObjectReference {
            ObjectReference(classIndex: try #require(schema.index(of: name)), key: key)
        }
        let talk = try reference("Talk", .int(1))
        let transactions: [[Instruction]] = [
            [
                .set(
                    talk,
                    [FieldWrite(column: 1, value: .string("Mine")), FieldWrite(column: 5, value: .string("20095"))]),
                .add(talk, column: 2, amount: 2),
            ],
            [
                .create(
                    try reference("Talk.tags", Self.tag),
                    [
                        FieldWrite(column: 1, value: .int(1)), FieldWrite(column: 2, value: .string("V")),
                        FieldWrite(column: 3, value: .string("swift")),
                    ]), .erase(try reference("Talk.rooms", Self.element)),
                .create(try reference("Room", .int(2)), [FieldWrite(column: 1, value: .string("Attic"))]),
            ],
        ]
        let writer = InstructionWriter(file)
        for instructions in transactions {
            try file.connection.writeTransaction {
                for instruction in instructions { try writer.perform(instruction) }
                try ChangesetQueue(file).append(ChangesetWriter(schema: schema, instructions), wallMicroseconds: 10)
            }
        }
        let store = try SQLiteDeviceStore(file)
        try store.setWantedSubscriptions(
            SubscriptionSet(
                version: 1,
                subscriptions: [
                    Subscription(
                        name: "mine", className: "Talk",
                        predicate: .or([
                            .compare(PropertyPath("cost"), .less, .int(9)),
                            .not(.isIn(PropertyPath("place.zip"), [.string("1")])),
                        ]))
                ]))
        return try store.pendingChangesets(after: 0, maximumCount: .max, maximumByteCount: .max)
    }

    private static let edited = Row([
        .int(1), .string("Mine"), .int(7), .int(1), .bool(true), .string("20095"), .string("stays"),
    ])

    @Test("Rows, the server's rows beneath them, lists and links keep their values under the new names")
    func valuesStay() throws {
        _ = try prepare()
        let file = try open(Self.schema(true))
        #expect(try rows(file, "Session") == [Self.edited])
        #expect(try rows(file, "Session", beneath: true) == [Self.talk])
        #expect(
            try rows(file, "Hall") == [Row([.int(1), .string("Aula")]), Row([.int(2), .string("Attic")])])
        #expect(try rows(file, "Session.halls").isEmpty)
        #expect(
            try rows(file, "Session.halls", beneath: true) == [Row([Self.element, .int(1), .string("V"), .int(1)])])
        #expect(
            try rows(file, "Session.topics") == [Row([Self.tag, .int(1), .string("V"), .string("swift")])])
        let tables = try names(file, "table")
        #expect(tables.isSuperset(of: ["session", "hall", "session_halls", "session_topics"]))
        #expect(tables.isDisjoint(with: ["talk", "room", "talk_rooms", "talk_tags"]))
        let indexes = try names(file, "index").filter { $0.hasPrefix("tombolo_") }
        let fresh = try names(open(Self.schema(true), at: folder.path("fresh.tombolo")), "index")
            .filter { $0.hasPrefix("tombolo_") }
        #expect(indexes == fresh)
    }

    private func names(_ file: StoreFile, _ kind: String) throws -> Set<String> {
        let statement = try file.connection.statement("SELECT name FROM sqlite_schema WHERE type = '\(kind)'")
        defer { statement.reset() }
        var names: Set<String> = []
        while try statement.step() { names.insert(statement.text(at: 0)) }
        return names
    }

    @Test("Edits under the old names stay visible until the server has them, and reach it unchanged")
    func editsStay() throws {
        let queued = try prepare()
        let new = try Self.schema(true)
        let file = try open(new)
        let pending = try SQLiteDeviceStore(file).pendingChangesets(
            after: 0, maximumCount: .max, maximumByteCount: .max)
        let bytes = MessageCodec(schema: new).encode(.upload(pending))
        guard case .upload(let sent) = try MessageCodec(schema: new).decodeClientMessage(bytes) else {
            return #expect(Bool(false))
        }
        #expect(sent.map(\.instructions.count) == queued.map(\.instructions.count))
        #expect(sent.allSatisfy { $0.defect == nil })
        // To the server they look like what the earlier version would have sent.
        guard
            case .upload(let earlier) = try MessageCodec(schema: new).decodeClientMessage(
                MessageCodec(schema: Self.schema(false)).encode(.upload(queued)))
        else { return #expect(Bool(false)) }
        #expect(sent.map { $0.originalFingerprint(in: new) } == earlier.map { $0.originalFingerprint(in: new) })
        // A receipt from before the server's own renaming is still valid.
        let old = try Self.schema(false)
        #expect(queued.map { $0.originalFingerprint(in: old) } == pending.map { $0.originalFingerprint(in: new) })
        // A batch puts the server's rows back and the edits on top of them.
        try apply(file, tick: 2, [("Hall", Row([.int(3), .string("Cellar")]))])
        #expect(try rows(file, "Session") == [Self.edited])
        #expect(try rows(file, "Session.topics").count == 1)
        #expect(try rows(file, "Hall").count == 3)
        try apply(file, tick: 3, acknowledged: 2)
        #expect(try rows(file, "Session") == [Self.talk])
        #expect(try rows(file, "Session.halls").count == 1)
        #expect(try rows(file, "Session.topics").isEmpty)
    }

    @Test("Subscriptions use the new names, and keep their version")
    func subscriptions() throws {
        _ = try prepare()
        let wanted = try SQLiteDeviceStore(open(Self.schema(true))).state().wanted
        #expect(
            wanted
                == SubscriptionSet(
                    version: 1,
                    subscriptions: [
                        Subscription(
                            name: "mine", className: "Session",
                            predicate: .or([
                                .compare(PropertyPath("price"), .less, .int(9)),
                                .not(.isIn(PropertyPath("address.code"), [.string("1")])),
                            ]))
                    ]))
    }

    @Test("A process that dies during the update leaves either the old file or the new one intact")
    func interrupted() throws {
        let queued = try prepare()
        let steps = Mutex<[LocalMigrationPlan.Step]>([])
        let (path, folder) = (path, folder)
        _ = try open(Self.schema(true)) { step in
            steps.withLock { $0.append(step) }
            // Copy what another process would find now.
            for suffix in ["", "-wal"] {
                try? FileManager.default.copyItem(
                    atPath: path + suffix, toPath: folder.path("\(step).tombolo") + suffix)
            }
        }
        #expect(steps.withLock { $0 } == [.began, .tablesPrepared, .tablesFinished, .committed])
        for step in [LocalMigrationPlan.Step.began, .tablesPrepared, .tablesFinished] {
            let file = try open(Self.schema(false), at: folder.path("\(step).tombolo"))
            #expect(try rows(file, "Talk") == [Self.edited])
            #expect(try rows(file, "Talk", beneath: true) == [Self.talk])
            #expect(try ChangesetQueue(file).changesets(after: 0) == queued)
        }
        for step in LocalMigrationPlan.Step.allCases where step != .blockRan {
            let file = try open(Self.schema(true), at: folder.path("\(step).tombolo"))
            #expect(try rows(file, "Session") == [Self.edited])
            #expect(try ChangesetQueue(file).changesets(after: 0).map(\.number) == [1, 2])
        }
    }

    @Test("Nothing is renamed if the file has the new name already, or none of the former names")
    func notRenamed() throws {
        func item(_ name: String, _ columns: [Column], previous: [String] = []) -> ClassSchema {
            ClassSchema(name: name, columns: [Self.key] + columns, previousNames: previous)
        }
        let (a, b) = (Column(name: "a", type: .string), Column(name: "b", type: .string))
        let first = try open(Schema([item("Old", [a, b]), item("Kept", [a])]))
        try apply(
            first, tick: 1,
            [("Old", Row([.int(1), .string("a"), .string("b")])), ("Kept", Row([.int(2), .string("k")]))])
        let renamed = Column(name: "b", type: .string, previousNames: ["a"])
        let second = try open(
            Schema([item("Old", [renamed]), item("Kept", [a]), item("New", [a], previous: ["Older", "Oldest"])]))
        #expect(try rows(second, "Old") == [Row([.int(1), .string("b")])])
        #expect(try rows(second, "Kept") == [Row([.int(2), .string("k")])])
        #expect(try rows(second, "New").isEmpty)
    }

    @Test("The name of an embedded class doesn't matter to a synced file, but other types still do")
    func typesStill() throws {
        func schema(_ type: PropertyType, _ embedded: String) throws -> Schema {
            try Schema([
                ClassSchema(
                    name: "Talk",
                    columns: [
                        Self.key, Column(name: "price", type: type, previousNames: ["cost"]),
                        Column(name: "place", type: .embedded(embedded), isOptional: true),
                    ])
            ])
        }
        let old = try Schema([
            ClassSchema(
                name: "Talk",
                columns: [
                    Self.key, Column(name: "cost", type: .int(bits: 64)),
                    Column(name: "place", type: .embedded("Place"), isOptional: true),
                ])
        ])
        try apply(open(old), tick: 1, [("Talk", Row([.int(1), .int(5), .bool(true)]))])
        let error = #expect(throws: SQLiteStoreError.self) { try open(schema(.string, "Place")) }
        #expect(error?.code == .schemaMismatch)
        #expect(try rows(open(old), "Talk") == [Row([.int(1), .int(5), .bool(true)])])
        #expect(try rows(open(schema(.int(bits: 64), "Address")), "Talk") == [Row([.int(1), .int(5), .bool(true)])])
    }

    @Test("A read-only file isn't renamed, and the error says what to do")
    func readOnly() throws {
        _ = try prepare()
        let error = #expect(throws: SQLiteStoreError.self) {
            try StoreFile(
                path: path, schema: Self.schema(true),
                options: StoreOptions(isSynced: true, isReadOnly: true, durability: .normal),
                newClient: ClientID(rawValue: 1))
        }
        #expect(error?.message.contains("Open it for writing once") == true)
    }
}
