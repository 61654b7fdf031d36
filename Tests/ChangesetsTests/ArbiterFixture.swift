import TomboloChangesets
import TomboloModel

/// A small server for one arbiter: rows and entries are loaded by hand.
struct ArbiterFixture {
    static let schema = try! Schema([
        ClassSchema(
            name: "Item",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "title", type: .string),
                Column(name: "count", type: .int(bits: 64)),
                Column(name: "parent", type: .link(to: "Item"), isOptional: true),
                Column(name: "small", type: .int(bits: 8)),
            ],
            lists: [ListProperty(name: "parts", target: "Item")]),
        ClassSchema(
            name: "Page",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true), Column(name: "title", type: .string),
            ], lists: [ListProperty(name: "parts", target: "Item")], isTrashable: true),
    ])
    static let title = 1
    static let count = 2
    static let parent = 3
    static let small = 4
    static let elementClass = 1
    static let pageClass = 2
    static let pageElementClass = 3
    static let a = ClientID(rawValue: 1)
    static let b = ClientID(rawValue: 2)
    /// Sees transactions below 10; 8 was still running.
    static let base = Snapshot(xmin: 8, xmax: 10, running: [8])

    var arbiter = Arbiter(schema: Self.schema)

    static func item(_ key: Int64) -> ObjectReference { ObjectReference(classIndex: 0, key: .int(key)) }

    static func page(_ key: Int64) -> ObjectReference { ObjectReference(classIndex: pageClass, key: .int(key)) }

    static func element(_ number: UInt8, _ classIndex: Int = elementClass) -> ObjectReference {
        var bytes = [UInt8](repeating: 0, count: ObjectId.byteCount)
        bytes[11] = number
        return ObjectReference(
            classIndex: classIndex, key: ObjectId(bytes: bytes).map(Value.objectId) ?? .null)
    }

    mutating func load(_ key: Int64, title: String = "old", count: Int64 = 0, parent: Value = .null) {
        arbiter.load(Self.item(key), Row([.int(key), .string(title), .int(count), parent, .int(0)]))
    }

    mutating func loadElement(_ number: UInt8, _ classIndex: Int = elementClass, owner: Int64, target: Int64) {
        let reference = Self.element(number, classIndex)
        arbiter.load(reference, Row([reference.key, .int(owner), .string("a"), .int(target)]))
    }

    mutating func log(
        _ key: Int64, _ operation: LogEntry.Operation, _ marks: [Int: LogEntry.Mark] = [:], xid: UInt64 = 20,
        at microseconds: Int64, by client: ClientID?
    ) {
        arbiter.load(
            LogEntry(
                reference: Self.item(key), operation: operation, marks: marks, xid: xid,
                stamp: Stamp(microseconds: microseconds), client: client))
    }

    mutating func arbitrate(
        _ instructions: [Instruction], at microseconds: Int64 = 100, by client: ClientID = Self.a,
        number: Int64 = 1, permit: (WriteRequest) -> WriteDenial? = { _ in nil },
        sees: (Int, Row) -> Bool = { _, _ in true }
    ) -> Arbitration {
        let stamp = Stamp(microseconds: microseconds)
        return arbiter.apply(
            Changeset(number: number, base: 1, stamp: stamp, instructions: instructions), from: client, stamp: stamp,
            base: Self.base, permit: permit, sees: sees)
    }

    /// - Throws: the first ``Refusal``, if something was refused.
    mutating func apply(
        _ instructions: [Instruction], at microseconds: Int64 = 100, by client: ClientID = Self.a,
        number: Int64 = 1, permit: (WriteRequest) -> WriteDenial? = { _ in nil },
        sees: (Int, Row) -> Bool = { _, _ in true }
    ) throws -> Arbitration {
        let result = arbitrate(
            instructions, at: microseconds, by: client, number: number, permit: permit, sees: sees)
        if let refusal = result.refused.told.first { throw refusal }
        return result
    }

    /// The permissions requested.
    mutating func requests(_ instructions: [Instruction]) throws -> [WriteRequest] {
        var asked: [WriteRequest] = []
        _ = try apply(instructions) {
            asked.append($0)
            return nil
        }
        return asked
    }

    static func pageRow(_ key: Int64, _ title: String) -> Row { Row([.int(key), .string(title)]) }

    static func create(_ reference: ObjectReference, title: String) -> Instruction {
        .create(reference, [FieldWrite(column: Self.title, value: .string(title))])
    }

    static func createElement(_ reference: ObjectReference, owner: Int64, target: Int64) -> Instruction {
        .create(
            reference,
            [
                FieldWrite(column: ElementColumn.owner, value: .int(owner)),
                FieldWrite(column: ElementColumn.rank, value: .string("a")),
                FieldWrite(column: ElementColumn.target, value: .int(target)),
            ])
    }

    static func set(_ key: Int64, _ column: Int, _ value: Value, isDefault: Bool = false) -> Instruction {
        .set(item(key), [FieldWrite(column: column, value: value, isDefault: isDefault)])
    }

    static func update(
        _ key: Int64, _ column: Int, _ value: Value, _ mark: LogEntry.Mark = .set
    ) -> RowWrite {
        .update(item(key), [ColumnWrite(column: column, value: value, mark: mark)])
    }
}
