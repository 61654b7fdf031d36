/// A checked set of classes: model classes and the element classes of their lists.
public struct Schema: Hashable, Sendable {
    /// Classes by name order, each model class followed by its element classes; positions are `classIndex`.
    public let classes: [ClassSchema]
    private let indexByName: [String: Int]

    /// - Parameter classes: model classes only; element classes are added here.
    /// - Throws: ``SchemaError`` listing every problem found.
    public init(_ classes: [ClassSchema]) throws(SchemaError) {
        var all: [ClassSchema] = []
        let keyTypes = Dictionary(
            classes.map { ($0.name, $0.primaryKey?.type) }, uniquingKeysWith: { first, _ in first })
        for item in classes.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            all.append(item)
            for list in item.lists { all.append(Self.elementClass(of: item, list)) }
        }
        let problems = Self.problems(in: all, keyTypes: keyTypes)
        guard problems.isEmpty else { throw SchemaError(problems: problems) }
        self.classes = all
        self.indexByName = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.name, $0) })
    }

    public func index(of className: String) -> Int? { indexByName[className] }

    public subscript(className: String) -> ClassSchema? { indexByName[className].map { classes[$0] } }

    public subscript(index: Int) -> ClassSchema { classes[index] }

    /// The positions of the element classes of a class's lists, in the order of its lists.
    public func elementClassIndexes(of classIndex: Int) -> [Int] {
        let count = classes[classIndex].lists.count
        return count == 0 ? [] : Array((classIndex + 1)...(classIndex + count))
    }

    /// The class whose object decides who sees a row: the owner's for an element, otherwise the class itself.
    public func rootClassIndex(of classIndex: Int) -> Int {
        guard let owner = classes[classIndex].owner, let index = indexByName[owner.className] else {
            return classIndex
        }
        return index
    }

    /// The primary key's type of the class that a link column points to.
    public func keyType(ofLink column: Column) -> PropertyType? {
        column.linkTarget.flatMap { self[$0]?.primaryKey?.type }
    }

    /// The type of a column's stored value: that of the target's key for a link.
    public func storedType(of column: Column) -> PropertyType {
        keyType(ofLink: column) ?? column.type
    }

    /// One line for each class and column: what the ``fingerprint`` is taken of and what mismatches are shown with.
    public var canonicalText: String {
        classes.map { item in
            let columns = item.columns.map { column in
                "  \(column.name): \(column.type.name)\(column.isOptional ? "?" : "")"
                    + "\(column.isPrimaryKey ? " primary key" : "")\(column.isIndexed ? " indexed" : "")"
            }
            let unique = item.uniqueColumns.map { "  unique \($0.map { item.columns[$0].name })" }
            let title = "class \(item.name) table \(item.table)\(item.isTrashable ? " trashable" : "")"
            return ([title] + columns + unique).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// A stable 64-bit hash (FNV-1a) of ``canonicalText``.
    public var fingerprint: UInt64 { canonicalText.stableHash }

    private static func elementClass(of item: ClassSchema, _ list: ListProperty) -> ClassSchema {
        ClassSchema(
            name: "\(item.name).\(list.name)",
            table: "\(item.table)_\(Column.sqlName(for: list.name))",
            columns: [
                Column(name: "_id", type: .objectId, isPrimaryKey: true),
                Column(name: "owner", type: .link(to: item.name), isIndexed: true),
                Column(name: "rank", type: .string),
                Column(name: "target", type: .link(to: list.target), isIndexed: true),
            ],
            owner: ElementOwner(className: item.name, property: list.name))
    }

    private static func problems(in classes: [ClassSchema], keyTypes: [String: PropertyType?]) -> [String] {
        var problems: [String] = []
        var tables: [String: String] = [:]
        for item in classes {
            if let other = tables.updateValue(item.name, forKey: item.table) {
                problems.append(
                    other == item.name
                        ? "Class \(item.name) is given twice."
                        : "Classes \(other) and \(item.name) both have the table '\(item.table)'; rename one.")
            }
            var columns: [String: String] = [:]
            for column in item.columns {
                if let other = columns.updateValue(column.name, forKey: column.sqlName) {
                    problems.append(
                        "\(item.name).\(other) and \(item.name).\(column.name) share the column '\(column.sqlName)'.")
                }
                if let target = column.linkTarget {
                    switch keyTypes[target] {
                    case nil:
                        problems.append("\(item.name).\(column.name) links to \(target), which is not in the schema.")
                    case .some(nil):
                        problems.append("\(item.name).\(column.name) links to \(target), which has no primary key.")
                    default: break
                    }
                }
                if column.isPrimaryKey {
                    switch column.type {
                    case .objectId, .uuid, .string, .int: break
                    default:
                        problems.append(
                            "\(item.name).\(column.name) is a \(column.type.name); a primary key is an ObjectId, "
                                + "UUID, String or Int.")
                    }
                    if column.isOptional {
                        problems.append("\(item.name).\(column.name) is the primary key and cannot be optional.")
                    }
                }
            }
            if item.columns.filter(\.isPrimaryKey).count > 1 {
                problems.append("\(item.name) has more than one primary key.")
            }
            for list in item.lists {
                if item.primaryKeyIndex == nil {
                    problems.append("\(item.name).\(list.name) is a list; its class needs a primary key.")
                }
                if keyTypes[list.target] == nil {
                    problems.append("\(item.name).\(list.name) lists \(list.target), which is not in the schema.")
                }
            }
        }
        return problems
    }
}

extension String {
    /// FNV-1a, 64 bits: the same on every machine and in every run.
    package var stableHash: UInt64 {
        utf8.reduce(into: 0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
    }
}
