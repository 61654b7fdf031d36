public import TomboloModel

/// The classes of every simulation.
public enum SimulatedSchema {
    /// `Item` has every kind of column, a unique rule, a link and a list; `Vault` has balances, whose sum transfers
    /// preserve, and counters.
    public static let schema: Schema = {
        do {
            return try Schema([
                ClassSchema(
                    name: "Item",
                    columns: [
                        Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                        Column(name: "title", type: .string),
                        Column(name: "group", type: .int(bits: 64)),
                        Column(name: "note", type: .string, isOptional: true),
                        Column(name: "count", type: .int(bits: 64)),
                        Column(name: "parent", type: .link(to: "Item"), isOptional: true),
                    ],
                    lists: [ListProperty(name: "links", target: "Item")],
                    uniqueProperties: [["title"]]),
                ClassSchema(
                    name: "Vault",
                    columns: [
                        Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                        Column(name: "balance", type: .int(bits: 64)),
                        Column(name: "hits", type: .int(bits: 64)),
                    ]),
            ])
        } catch {
            preconditionFailure("The simulated schema is invalid: \(error)")
        }
    }()

    static let item = 0
    static let link = 1
    static let vault = 2

    enum Item {
        static let title = 1
        static let group = 2
        static let note = 3
        static let count = 4
        static let parent = 5
    }

    enum Vault {
        static let balance = 1
        static let hits = 2
    }

    static func item(_ key: Int) -> ObjectReference { ObjectReference(classIndex: item, key: .int(Int64(key))) }
    static func vault(_ key: Int) -> ObjectReference { ObjectReference(classIndex: vault, key: .int(Int64(key))) }

    /// The order in which locks are taken: by class, then by key.
    static func precedes(_ left: ObjectReference, _ right: ObjectReference) -> Bool {
        left.classIndex != right.classIndex
            ? left.classIndex < right.classIndex : Value.sortsBefore(left.key, right.key)
    }
}
