import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncProtocol

@testable import Tombolo

@Suite("The upload queue of a synced Realm, and the content it shows")
struct UploadQueueTests {
    let folder: TemporaryFolder
    let realm: Realm
    let store: SQLiteDeviceStore
    let schema: Schema
    let sessionClass: Int

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm.fresh(folder.configuration(synced: true))
        schema = realm.core.schema
        store = try SQLiteDeviceStore(path: realm.core.file.path, schema: schema)
        sessionClass = try #require(schema.index(of: "Session"))
    }

    private func queue() throws -> [Changeset] {
        try store.pendingChangesets(after: 0, maximumCount: .max, maximumByteCount: .max)
    }

    private func column(_ name: String) throws -> Int { try #require(schema[sessionClass].columnIndex(name)) }

    private func session(_ id: Int) -> ObjectReference {
        ObjectReference(classIndex: sessionClass, key: .int(Int64(id)))
    }

    /// The fields by property name, with defaults marked.
    private func fields(_ instruction: Instruction) -> [String: String] {
        switch instruction {
        case .create(let reference, let fields), .set(let reference, let fields):
            Dictionary(
                uniqueKeysWithValues: fields.map {
                    (
                        schema[reference.classIndex].columns[$0.column].name,
                        "\($0.value)\($0.isDefault ? " default" : "")"
                    )
                })
        case .add, .erase: [:]
        }
    }

    @Test("A new object queues all its fields and marks those the app didn't set")
    func defaults() throws {
        try realm.write {
            let session = Session(1, "Mine")
            session.rating = nil
            realm.add(session)
        }
        let instruction = try #require(try queue().first?.instructions.first)
        #expect(instruction.reference == session(1))
        var found = fields(instruction)
        #expect(found.removeValue(forKey: "token")?.hasSuffix(" default") == true)
        #expect(
            found == [
                "title": "\"Mine\"", "price": "10 default", "rating": "nil", "startsAt": "nil default",
                "level": "\"beginner\" default", "notes": "nil default", "isOpen": "true default",
                "room": "nil default",
            ])
    }

    @Test("Several sets of an object in a transaction are one instruction, and reading queues nothing")
    func coalescing() throws {
        try realm.write { realm.add(Session(1, "One")) }
        try realm.write {
            let one = realm.objects(Session.self)[0]
            one.title = "a"
            one.price = 1
            _ = realm.objects(Session.self).where { $0.price == 1 }.count
            one.title = "b"
        }
        try realm.write { _ = realm.objects(Session.self)[0].title }
        let changesets = try queue()
        #expect(changesets.map(\.number) == [1, 2])
        #expect(changesets[1].instructions.count == 1)
        #expect(fields(changesets[1].instructions[0]) == ["title": "\"b\"", "price": "1"])
    }

    @Test("Sets of an object merge across other objects' writes, but not across an addition or deletion")
    func coalescingAcrossOthers() throws {
        try realm.write {
            for id in 1...3 { realm.add(Session(id, "new")) }
            for session in realm.objects(Session.self) { session.title = "\(session._id)" }
            realm.objects(Session.self)[1].price = 7
        }
        let created = try queue()[0].instructions
        #expect(created.map(\.reference) == [session(1), session(2), session(3)])
        #expect(created.map { fields($0)["title"] } == ["\"1\"", "\"2\"", "\"3\""])
        #expect(created.map { fields($0)["price"] } == ["10 default", "7", "10 default"])
        try realm.write {
            let sessions = Array(realm.objects(Session.self))
            for session in sessions { session.title = "a" }
            for session in sessions { session.price = 1 }
            sessions[0].increment(\.price)
            sessions[0].title = "b"
            sessions[1].price = 2
            realm.delete(sessions[2])
            realm.add(Session(3, "again"))
        }
        let changed = try queue()[1].instructions
        #expect(
            changed.map(\.reference) == [1, 2, 3, 1, 1, 3, 3].map { session($0) })
        #expect(fields(changed[0]) == ["title": "\"a\"", "price": "1"])
        #expect(fields(changed[1]) == ["title": "\"a\"", "price": "2"])
        #expect(changed[3] == .add(session(1), column: try column("price"), amount: 1))
        #expect(fields(changed[4]) == ["title": "\"b\""])
        #expect(changed[5] == .erase(session(3)))
        #expect(fields(changed[6])["title"] == "\"again\"")
    }

    @Test("Objects that the server lacks disappear along with rejected edits, however they were created")
    func absences() throws {
        let ticks = Ticks(schema: schema)
        var row = Row(schema[sessionClass].columns.map { $0.isOptional ? .null : $0.type.zero })
        row[0] = .int(6)
        try ticks.apply(row, sessionClass, columns: nil, to: store)
        realm.refresh()
        try realm.write {
            for id in [1, 2, 3, 4, 9, 8, 7] { realm.add(Session(id, "mine")) }
            realm.objects(Session.self).where { $0._id == 2 }.first?.title = "changed"
            realm.objects(Session.self).where { $0._id == 6 }.first?.title = "changed"
            realm.delete(realm.objects(Session.self).where { $0._id == 3 || $0._id == 6 })
            realm.add(Session(3, "again"))
            realm.add(Session(5, "mine"))
            realm.delete(realm.objects(Session.self).where { $0._id == 9 })
            realm.add(Session(6, "again"))
        }
        #expect(realm.objects(Session.self).map(\._id).sorted() == [1, 2, 3, 4, 5, 6, 7, 8])
        // The server accepted none of it.
        try ticks.apply(nil, sessionClass, columns: nil, to: store, acknowledged: 1)
        realm.refresh()
        #expect(realm.objects(Session.self).map(\._id) == [6])
        #expect(realm.objects(Session.self)[0].title == "")
    }

    @Test("An upsert with .modified queues differences and .all queues everything, lists included")
    func upserts() throws {
        func make() -> Session {
            let session = Session(1, "One", price: 5)
            session.token = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 0, 1, 2, 3, 4, 5, 6))
            return session
        }
        func speakers(_ ids: String...) -> [Speaker] {
            ids.map { realm.object(ofType: Speaker.self, forPrimaryKey: $0) ?? Speaker(value: ["_id": $0]) }
        }
        try realm.write {
            let session = make()
            session.speakers.append(objectsIn: speakers("a", "b", "c"))
            realm.add(session)
        }
        try realm.write {
            let session = make()
            session.price = 6
            session.speakers.append(objectsIn: speakers("a", "c"))
            realm.add(session, update: .modified)
        }
        let modified = try queue()[1].instructions
        #expect(fields(modified[0]) == ["price": "6"])
        // The second element now links to another speaker, and the third is gone.
        #expect(modified.count == 3)
        #expect(fields(modified[1]) == ["target": "\"c\""])
        #expect(realm.objects(Session.self)[0].speakers.map(\._id) == ["a", "c"])
        try realm.write {
            let session = make()
            session.speakers.append(objectsIn: speakers("a", "c"))
            realm.add(session, update: .all)
        }
        let all = try queue()[2].instructions
        #expect(fields(all[0]).count == schema[sessionClass].columns.count - 1)
        #expect(!fields(all[0]).values.contains { $0.hasSuffix("default") })
        #expect(all.count == 5)
        try realm.write { realm.add(make(), update: .modified) }
        #expect(realm.objects(Session.self)[0].speakers.isEmpty)
    }

    @Test("create with .modified queues nothing for an unchanged list of links")
    func sameLinks() throws {
        let speakers = ["a", "b"].map { Speaker(value: ["_id": $0]) }
        try realm.write {
            let session = Session(1, "One")
            session.speakers.append(objectsIn: speakers)
            realm.add(session)
        }
        try realm.write {
            let value: [String: Any] = ["_id": 1, "speakers": speakers]
            let session = realm.create(Session.self, value: value, update: .modified)
            #expect(Array(session.speakers) == speakers)
        }
        #expect(try queue().count == 1)
    }

    @Test("increment queues an addition")
    func increments() throws {
        let one = Session(1, "One")
        one.increment(\.price, by: 2)
        #expect(one.price == 12)
        try realm.write { realm.add(one) }
        try realm.write {
            one.increment(\.price, by: 5)
            one.increment(\.price)
            #expect(one.price == 18)
        }
        #expect(
            try queue()[1].instructions == [
                .add(session(1), column: try column("price"), amount: 5),
                .add(session(1), column: try column("price"), amount: 1),
            ])
        #expect(try Realm.fresh(realm.configuration).objects(Session.self)[0].price == 18)
        #expect(throws: Realm.Error.self) { try realm.write { one.increment(\.price, by: .max) } }
        #expect(one.price == 18)
    }

    @Test("A cancelled or failed transaction queues nothing, and the next number follows")
    func cancelled() throws {
        struct Stop: Error {}
        try realm.write { realm.add(Session(1, "One")) }
        #expect(throws: Stop.self) {
            try realm.write {
                realm.add(Session(2, "Two"))
                _ = realm.objects(Session.self).count
                throw Stop()
            }
        }
        try realm.write { realm.delete(realm.objects(Session.self)[0]) }
        #expect(try queue().map(\.number) == [1, 2])
        #expect(try queue()[1].instructions == [.erase(session(1))])
    }

    @Test("An object too large for a message is refused when it's written, by add, create and set")
    func objectSize() throws {
        let long = String(repeating: "x", count: 10 << 20)
        func refused(_ write: () -> Void) throws {
            let error = #expect(throws: Realm.Error.self) { try realm.write(write) }
            #expect(error?.code == .invalidInput)
            #expect(error?.localizedDescription.contains("An object of Session would have 2") == true)
        }
        let session = Session(1, long)
        let data = Data(long.utf8)
        session.notes = data
        try refused { realm.add(session) }
        try refused { realm.create(Session.self, value: ["_id": 1, "title": long, "notes": data]) }
        try realm.write { realm.add(Session(2, long)) }
        let kept = realm.objects(Session.self)[0]
        try refused { kept.notes = data }
        #expect(kept.notes == nil)
        // Not refused yet inside the block, since only the committed state counts.
        try realm.write {
            kept.notes = data
            kept.title = "short"
        }
        #expect(try queue().count == 2)
    }

    @Test("A batch appears when the Realm refreshes, beneath pending edits")
    func batches() throws {
        let ticks = Ticks(schema: schema)
        let title = try column("title")
        let price = try column("price")
        var row = Row(schema[sessionClass].columns.map { $0.isOptional ? .null : $0.type.zero })
        row[0] = .int(1)
        row[title] = .string("Server")
        try ticks.apply(row, sessionClass, columns: nil, to: store)
        #expect(realm.objects(Session.self).isEmpty)
        var heard = 0
        let token = realm.observe { _, _ in heard += 1 }
        #expect(realm.refresh())
        #expect(heard == 1)
        let one = try #require(realm.objects(Session.self).first)
        #expect(one.title == "Server" && one.level == .beginner)
        try realm.write { one.title = "Mine" }
        #expect(try queue().map(\.base) == [1])
        row[title] = .string("Server again")
        row[price] = .int(77)
        try ticks.apply(row, sessionClass, columns: [0, title, price], to: store)
        realm.refresh()
        #expect(one.title == "Mine" && one.price == 77)
        try ticks.apply(nil, sessionClass, columns: nil, to: store, acknowledged: 1)
        realm.refresh()
        #expect(one.title == "Server again")
        #expect(try queue().isEmpty)
        withExtendedLifetime(token) {}
    }

    @Test("A synced Realm and its sync engine write to one file concurrently and lose nothing")
    func concurrentBatches() async throws {
        let configuration = realm.configuration
        let path = realm.core.file.path
        let schema = schema
        let sessionClass = sessionClass
        async let engine: Void = Task.detached {
            let store = try SQLiteDeviceStore(path: path, schema: schema)
            let ticks = Ticks(schema: schema)
            for number in 0..<60 {
                var row = Row(schema[sessionClass].columns.map { $0.isOptional ? .null : $0.type.zero })
                row[0] = .int(Int64(1_000 + number))
                try whenFree { try ticks.apply(row, sessionClass, columns: nil, to: store) }
            }
        }.value
        let writer = try await Realm.open(configuration: configuration)
        for number in 0..<60 { try whenFree { try writer.write { writer.add(Session(number, "mine")) } } }
        try await engine
        writer.refresh()
        #expect(writer.objects(Session.self).count == 120)
        #expect(try queue().map(\.number) == Array(1...60))
    }
}

/// Batches of a fake server.
private final class Ticks {
    private let schema: Schema
    private var tick: Int64 = 0

    init(schema: Schema) { self.schema = schema }

    /// Applies a batch with one row, or without rows.
    func apply(
        _ row: Row?, _ classIndex: Int, columns: [Int]?, to store: SQLiteDeviceStore, acknowledged: Int64 = 0
    ) throws {
        tick += 1
        var frames: [BatchFrame] = []
        if let row {
            var block = RowBlock(
                schema: schema, classIndex: classIndex,
                columns: columns ?? Array(schema[classIndex].columns.indices), isWhole: columns == nil)
            block.append(row)
            frames = [BatchFrame(sequence: 0, blocks: [block])]
        }
        _ = try store.apply(
            BatchEnd(
                position: Position(
                    tick: tick, token: tick, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0),
                serverTime: Stamp(microseconds: tick), acknowledged: acknowledged, frameCount: frames.count),
            frames: frames, wallMicroseconds: 0)
    }
}
