import Foundation
import RandomValues
import Synchronization
import TomboloChangesets
import TomboloModel
import TomboloSyncClient
import TomboloSyncProtocol
import TomboloSyncSession

@testable import TomboloSQLiteStore

/// A device of an app that has no Swift classes: the real file and the real engine, with the schema of a model
/// document. It writes random objects that belong to its user.
final class AnyDevice {
    /// The properties that the rules use, which every class of a random app has.
    static let ownerName = "ownerID"
    static let sharedName = "isShared"

    private static let deviceCount = Atomic(0)

    let name: String
    /// This device's number within the process, so that no two devices make the same key.
    private let number = deviceCount.add(1, ordering: .relaxed).newValue
    let schema: Schema
    let reports = DeviceReports()
    private let engine: SyncEngine
    private let file: StoreFile
    private let writer: InstructionWriter
    private let owner: String
    private var values: RandomValues
    private var made: [Int: [Value]] = [:]
    private var count = 0

    /// - Parameters:
    ///   - owner: the user's id, which is written to the objects.
    ///   - subscriptionVersion: must grow when a file subscribes to other classes.
    init(
        _ name: String, schema: Schema, url: URL, token: String, owner: String, folder: URL, values: RandomValues,
        subscriptionVersion: Int64 = 1
    ) async throws {
        self.name = name
        self.schema = schema
        self.owner = owner
        self.values = values
        let path = folder.appending(path: "\(name).tombolo").path()
        var generator = SystemRandomNumberGenerator()
        let client = ClientID.random(using: &generator)
        let reports = reports
        engine = try SyncEngine(
            configuration: SyncEngine.Configuration(url: url, accessToken: { token }),
            makeStore: { try SQLiteDeviceStore(path: path, schema: schema, newClient: client) },
            onReport: { reports.note($0) })
        file = try StoreFile(
            path: path, schema: schema, options: StoreOptions(isSynced: true, durability: .normal), newClient: client)
        writer = InstructionWriter(file)
        let everything = schema.classes.filter { $0.owner == nil }.map {
            Subscription(name: $0.name, className: $0.name, predicate: .constant(true))
        }
        try await engine.setSubscriptions(SubscriptionSet(version: subscriptionVersion, subscriptions: everything))
        await engine.start()
    }

    func close() { engine.close() }

    // MARK: Rows

    /// The rows of a class, in no particular order.
    func rows(ofClass classIndex: Int) throws -> [Row] {
        let table = file.layout.tables[classIndex]
        let statement = try file.connection.statement("SELECT \(table.columnList) FROM \(table.table)")
        defer { statement.reset() }
        var rows: [Row] = []
        while try statement.step() { rows.append(statement.row(table.storedTypes)) }
        return rows
    }

    // MARK: Writing

    /// Writes a few transactions: new objects with their lists, changes, and now and then an erasure.
    /// - Parameter erases: whether to erase objects too. The server then sets links to them to nil, and so does the
    ///   device once it has the server's rows.
    func write(transactions: Int, erases: Bool = true) async throws {
        for _ in 0..<transactions {
            var instructions: [Instruction] = []
            for _ in 0..<values.int(1...3) { instructions += create() }
            if values.flag(2) { instructions += change() }
            if values.flag(4), erases { instructions += erase() }
            try file.writeTransaction {
                for instruction in instructions { try writer.perform(instruction) }
                try ChangesetQueue(file).append(
                    ChangesetWriter(schema: schema, instructions), wallMicroseconds: Date().microsecondsSince1970)
            }
            await engine.changesetQueued()
        }
    }

    private func create() -> [Instruction] {
        let roots = schema.classes.indices.filter { schema[$0].owner == nil }
        let index = values.pick(roots)
        guard let key = schema[index].primaryKey else { return [] }
        let reference = ObjectReference(classIndex: index, key: newKey(key))
        var instructions = [Instruction.create(reference, fields(of: index, keys: [:]))]
        made[index, default: []].append(reference.key)
        var elements: [String: Value] = [:]
        for elementIndex in schema.elementClassIndexes(of: index) {
            let item = schema[elementIndex]
            var fixed: [Int: Value] = [ElementColumn.owner: reference.key, ElementColumn.rank: .string("V")]
            if let column = item.parentColumn {
                guard let parent = item.owner?.parent.flatMap({ elements[$0] }) else { continue }
                fixed[column] = parent
            }
            guard values.flag(2) else { continue }
            let key = Value.objectId(.generate())
            elements[item.name] = key
            // A list can't hold a nil link.
            if case .link(let target)? = item.owner?.element {
                guard let key = anyKey(of: target) else { continue }
                fixed[ElementColumn.target] = key
            }
            instructions.append(
                .create(
                    ObjectReference(classIndex: elementIndex, key: key), fields(of: elementIndex, keys: fixed)))
        }
        return instructions
    }

    private func change() -> [Instruction] {
        guard let index = made.filter({ !$0.value.isEmpty }).keys.sorted().first, let keys = made[index] else {
            return []
        }
        let columns = schema[index].columns.indices.filter { isPlain(schema[index].columns[$0]) }
        guard !columns.isEmpty else { return [] }
        let column = values.pick(columns)
        return [
            .set(
                ObjectReference(classIndex: index, key: values.pick(keys)),
                [FieldWrite(column: column, value: value(of: schema[index].columns[column]))])
        ]
    }

    private func erase() -> [Instruction] {
        guard let index = made.filter({ $0.value.count > 2 }).keys.sorted().first, var keys = made[index] else {
            return []
        }
        let key = keys.removeFirst()
        made[index] = keys
        return [.erase(ObjectReference(classIndex: index, key: key))]
    }

    /// Whether a column is neither a key, a link, part of an embedded object, nor used by the rules.
    private func isPlain(_ column: Column) -> Bool {
        guard !column.isPrimaryKey, !column.name.contains("."), column.name != Self.ownerName,
            column.name != Self.sharedName
        else { return false }
        switch column.type {
        case .link, .embedded, .array: return false
        default: return true
        }
    }

    private func fields(of classIndex: Int, keys fixed: [Int: Value]) -> [FieldWrite] {
        let item = schema[classIndex]
        var absent: Set<String> = []
        return item.columns.indices.filter { $0 != item.primaryKeyIndex }.map { position in
            let column = item.columns[position]
            let found: Value
            if let value = fixed[position] {
                found = value
            } else if absent.contains(where: { column.name.hasPrefix($0 + ".") }) {
                found = .null
            } else {
                found = value(of: column)
            }
            if case .embedded = column.type, found == .null { absent.insert(column.name) }
            return FieldWrite(column: position, value: found)
        }
    }

    private func value(of column: Column) -> Value {
        if column.name == Self.ownerName { return .string(owner) }
        if column.name == Self.sharedName { return .bool(values.flag(2)) }
        switch column.type {
        case .link(let target): return anyKey(of: target) ?? .null
        case .embedded: return values.flag(2) ? .bool(true) : .null
        case .array: return .data(ArrayCoding.empty)
        case .float: return .double(Double(Float(values.int(-1_000...1_000))))
        default:
            if column.isOptional, !column.isRequiredWhenPresent, values.flag(4) { return .null }
            return values.value(column.type)
        }
    }

    private func anyKey(of className: String) -> Value? {
        guard let keys = schema.index(of: className).flatMap({ made[$0] }), !keys.isEmpty else { return nil }
        return values.pick(keys)
    }

    private func newKey(_ column: Column) -> Value {
        count += 1
        switch column.type {
        case .int: return .int(Int64(number) * 1_000_000 + Int64(count))
        case .string: return .string("\(name) \(count)")
        case .uuid: return .uuid(UUID())
        default: return .objectId(.generate())
        }
    }
}
