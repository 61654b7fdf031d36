import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncProtocol

@testable import Tombolo

/// Objects move to other rows when the server sends everything again: after a client reset, or at the first connection of a device
/// that has already created objects.
@Suite("Notifications of a synced Realm whose rows are replaced")
struct ReplacedRowsTests {
    private let folder: TemporaryFolder
    private let realm: Realm
    private let store: SQLiteDeviceStore
    private let texts = Texts()

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm.fresh(folder.configuration(synced: true, types: [Pantry.self, JamJar.self]))
        store = try SQLiteDeviceStore(path: realm.core.file.path, schema: realm.core.schema)
    }

    private func block(_ name: String, _ rows: [[Value]]) throws -> RowBlock {
        let schema = realm.core.schema
        let index = try #require(schema.index(of: name))
        var block = RowBlock(
            schema: schema, classIndex: index, columns: Array(schema[index].columns.indices), isWhole: true)
        for row in rows { block.append(Row(row)) }
        return block
    }

    private func pantries(_ rows: [(key: String, title: String)]) throws -> RowBlock {
        try block("Pantry", rows.map { [.string($0.key), .string($0.title)] })
    }

    private func apply(
        tick: Int64, _ blocks: [RowBlock], removing keys: [String] = [], replacesAll: Bool = false
    ) throws {
        let index = try #require(realm.core.schema.index(of: "Pantry"))
        let removals = keys.isEmpty ? [] : [ObjectRemoval(classIndex: index, keys: keys.map { .string($0) })]
        let end = BatchEnd(
            position: Position(
                tick: tick, token: tick, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0),
            serverTime: Stamp(microseconds: tick), acknowledged: 1, replacesAll: replacesAll, frameCount: 1)
        _ = try store.apply(
            end, frames: [BatchFrame(sequence: 0, blocks: blocks, removals: removals)], wallMicroseconds: 0)
        realm.refresh()
    }

    private func note<Collection: RealmCollection>(_ name: String, _ change: RealmCollectionChange<Collection>) {
        guard case .update(let collection, let deletions, let insertions, let modifications) = change else { return }
        let count = collection.isInvalidated ? "gone" : "\(collection.count)"
        texts.append("\(name) -\(deletions) +\(insertions) ~\(modifications) \(count)")
    }

    private func told() -> [String] { texts.take().sorted() }

    private func pantry(_ key: String) throws -> Pantry {
        try #require(realm.object(ofType: Pantry.self, forPrimaryKey: key))
    }

    @Test("Listeners of an object, its list and LinkingObjects keep following that object, and no other")
    func everything() throws {
        let pantry = Pantry(value: ["_id": "m", "title": "Mine", "labels": ["x"]])
        try realm.write { realm.add(JamJar(value: ["_id": "v", "pantry": pantry])) }
        let tokens = [
            pantry.observe { [texts] change in
                switch change {
                case .change(let pantry, let properties):
                    texts.append("\(pantry._id) \(pantry.title) \(properties.map(\.name))")
                case .deleted: texts.append("deleted")
                case .error(let error): texts.append("\(error)")
                }
            },
            pantry.labels.observe { note("labels", $0) },
            pantry.jars.observe { note("jars", $0) },
        ]
        realm.refresh()
        let labels = [("a", "1"), ("a", "2"), ("a", "3"), ("m", "x"), ("m", "y")].enumerated().map { index, label in
            [
                Value.objectId(ObjectId(high: 1, low: UInt32(index))), .string(label.0), .string("r\(index)"),
                .string(label.1),
            ]
        }
        let jars = [("u", "a"), ("v", "m"), ("w", "m")].map { [Value.string($0.0), .string($0.1)] }
        try apply(
            tick: 1,
            [
                pantries([("a", "Another"), ("m", "Sent")]), block("Pantry.labels", labels), block("JamJar", jars),
            ], replacesAll: true)
        #expect(
            told() == ["jars -[0] +[0, 1] ~[] 2", "labels -[0] +[0, 1] ~[] 2", #"m Sent ["_id", "title", "labels"]"#])
        #expect(pantry.title == "Sent" && Array(pantry.labels) == ["x", "y"] && pantry.jars.map(\._id) == ["v", "w"])

        try apply(tick: 2, [pantries([("a", "Other title")])])
        #expect(told() == [])
        try apply(tick: 3, [pantries([("m", "Own title")])])
        #expect(told().filter { $0.hasPrefix("m ") } == [#"m Own title ["title"]"#])
        // The object leaves and comes back as another row.
        try apply(tick: 4, [pantries([("m", "Back")])], removing: ["m"])
        #expect(told().contains(#"m Back ["_id", "title", "labels"]"#))
        try apply(tick: 5, [], removing: ["m"])
        #expect(told().contains("deleted"))
        for token in tokens { token.invalidate() }
    }

    @Test("An object created here keeps its identity, whether or not it has been read since", arguments: [false, true])
    func made(isRead: Bool) throws {
        let mine = Pantry(value: ["_id": "m", "title": "Mine"])
        try realm.write { realm.add(mine) }
        if isRead { #expect(mine.title == "Mine") }
        let known: Set<Pantry> = [mine]
        try apply(tick: 1, [pantries([("a", "Another"), ("m", "Sent")])], replacesAll: true)
        let another = try pantry("a")
        #expect(try mine != another && mine == pantry("m"))
        #expect(try !known.contains(another) && known.contains(pantry("m")))
        #expect(mine.title == "Sent")
        try realm.write { mine.title = "Changed" }
        #expect(another.title == "Another")
    }
}

private final class Pantry: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var title: String
    @Persisted var labels: List<String>
    @Persisted(originProperty: "pantry") var jars: LinkingObjects<JamJar>
}

private final class JamJar: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var pantry: Pantry?
}
