/// A validated set of classes: model classes and the element classes of their lists.
public struct Schema: Hashable, Sendable {
    /// The classes sorted by name, each model class followed by its element classes. A `classIndex` is a position here.
    public let classes: [ClassSchema]
    private let indexByName: [String: Int]

    /// - Parameter classes: model classes only; element classes are added automatically.
    /// - Throws: ``SchemaError`` listing every problem found.
    public init(_ classes: [ClassSchema]) throws(SchemaError) {
        var all: [ClassSchema] = []
        for item in classes.sorted(by: { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }) {
            all.append(item)
            Self.appendElementClasses(of: item, root: item, paths: [""], to: &all)
        }
        let problems = Self.problems(in: all)
        guard problems.isEmpty else { throw SchemaError(problems: problems) }
        self.classes = all
        var indexes = Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.name, $0) })
        for (index, item) in all.enumerated() {
            for name in item.previousNames where indexes[name] == nil { indexes[name] = index }
        }
        self.indexByName = indexes
    }

    /// The same classes with other names in SQL. Swift names and all positions stay the same.
    /// - Parameter names: returns a table's name and those of its columns, given the class's position.
    package func renamedInSQL(_ names: (Int) -> (table: String, columns: [String])) -> Schema {
        Schema(
            renamed: classes.enumerated().map { index, item in
                let (table, columns) = names(index)
                return item.renamedInSQL(table, columns)
            }, indexByName)
    }

    private init(renamed classes: [ClassSchema], _ indexByName: [String: Int]) {
        self.classes = classes
        self.indexByName = indexByName
    }

    /// The schema without classes.
    public static let empty = Schema()

    private init() {
        classes = []
        indexByName = [:]
    }

    /// The position of the class that has this name now or had it before.
    public func index(of className: String) -> Int? { indexByName[className] }

    /// The class that has this name now or had it before.
    public subscript(className: String) -> ClassSchema? { indexByName[className].map { classes[$0] } }

    /// Inlined, because copying a whole class for each look at one of its properties costs more than the look itself.
    @inlinable public subscript(index: Int) -> ClassSchema { classes[index] }

    /// The positions of the element classes of all lists in a class, including lists inside their elements. For an
    /// element class: those of the lists inside its elements.
    public func elementClassIndexes(of classIndex: Int) -> [Int] {
        let prefix = "\(classes[classIndex].name)."
        var end = classIndex + 1
        while end < classes.count, classes[end].name.hasPrefix(prefix) { end += 1 }
        return Array((classIndex + 1)..<end)
    }

    /// The position of the element class of a list, given the list's position in ``ClassSchema/lists``.
    public func elementClassIndex(of classIndex: Int, list: Int) -> Int? {
        index(of: "\(classes[classIndex].name).\(classes[classIndex].lists[list].name)")
    }

    /// The class whose objects decide who sees a row: for an element the class that owns the list, otherwise the class
    /// itself.
    public func rootClassIndex(of classIndex: Int) -> Int {
        guard let owner = classes[classIndex].owner, let index = indexByName[owner.className] else {
            return classIndex
        }
        return index
    }

    /// The type of the target's primary key for a link column; if the target has no primary key, integer (its rowid).
    public func keyType(ofLink column: Column) -> PropertyType? {
        column.linkTarget.flatMap { self[$0] }.map { $0.primaryKey?.type ?? .int(bits: 64) }
    }

    /// The type of a column's stored value. For a link, that's the type of the target's key.
    public func storedType(of column: Column) -> PropertyType {
        keyType(ofLink: column) ?? column.type.stored
    }

    /// One line for each class and column. The ``fingerprint`` is computed from it, and mismatches are shown with it.
    public var canonicalText: String {
        classes.map { item in
            let columns = item.columns.map { column in
                "  \(column.name): \(column.type.name)\(column.isOptional ? "?" : "")"
                    + "\(column.isPrimaryKey ? " primary key" : "")\(column.isIndexed ? " indexed" : "")"
                    + "\(column.deleteRule == .cascade ? " cascade" : "")"
            }
            let unique = item.uniqueColumns.map { "  unique \($0.map { item.columns[$0].name })" }
            let title = "class \(item.name) table \(item.table)\(item.isTrashable ? " trashable" : "")"
            return ([title] + columns + unique).joined(separator: "\n")
        }.joined(separator: "\n")
    }

    /// A stable 64-bit hash (FNV-1a) of ``canonicalText``.
    public var fingerprint: UInt64 { canonicalText.stableHash }

    /// Appends element classes after the class that has the lists. Those of lists inside elements follow their element class.
    private static func appendElementClasses(
        of item: ClassSchema, root: ClassSchema, paths: [String], to all: inout [ClassSchema]
    ) {
        for list in item.lists {
            let paths = paths.flatMap { path in ([list.name] + list.previousNames).map { path + $0 } }
            let elements = ClassSchema.elements(
                of: list, root: root, paths: paths, parent: item.owner == nil ? nil : item)
            all.append(elements)
            appendElementClasses(of: elements, root: root, paths: paths.map { "\($0)." }, to: &all)
        }
    }

    /// Previous names that could mean two classes or two properties.
    private static func previousNameProblems(in classes: [ClassSchema]) -> [String] {
        var problems: [String] = []
        func check(_ items: [(name: String, previousNames: [String])], _ place: String) {
            var owners = Dictionary(items.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
            for item in items {
                for previous in item.previousNames {
                    guard let owner = owners.updateValue(item.name, forKey: previous) else { continue }
                    problems.append(
                        owner == item.name
                            ? "\(place)\(item.name) lists the previous name '\(previous)' twice, or still has it."
                            : "\(place)\(item.name) has the previous name '\(previous)', which also means "
                                + "\(place)\(owner): remove it from one of them.")
                }
            }
        }
        // Element classes are derived from the class and its lists.
        check(classes.filter { $0.owner == nil }.map { ($0.name, $0.previousNames) }, "")
        for item in classes {
            check(
                item.columns.map { ($0.name, $0.previousNames) } + item.lists.map { ($0.name, $0.previousNames) },
                "\(item.name).")
        }
        return problems
    }

    private static func problems(in classes: [ClassSchema]) -> [String] {
        var problems = previousNameProblems(in: classes)
        let names = Set(classes.map(\.name))
        var tables: [String: String] = [:]
        for item in classes {
            problems += item.problems
            if let other = tables.updateValue(item.name, forKey: item.table) {
                problems.append(
                    other == item.name
                        ? "Class \(item.name) is declared twice."
                        : "Classes \(other) and \(item.name) both use the table '\(item.table)'; rename one.")
            }
            var columns: [String: String] = [:]
            for column in item.columns {
                if let other = columns.updateValue(column.name, forKey: column.sqlName) {
                    problems.append(
                        "\(item.name).\(other) and \(item.name).\(column.name) share the column '\(column.sqlName)'.")
                }
                if Column.systemNames.contains(column.sqlName) {
                    problems.append(
                        "\(item.name).\(column.name) can't use the column name '\(column.sqlName)', which is reserved "
                            + "by the database: choose another one in propertiesMapping().")
                }
                if let target = column.linkTarget, !names.contains(target) {
                    problems.append("\(item.name).\(column.name) links to \(target), which is not in the schema.")
                }
                if column.deleteRule == .cascade, column.linkTarget == nil {
                    problems.append("\(item.name).\(column.name) is not a link, but onDelete applies only to links.")
                }
                if column.isEncrypted {
                    if column.isPrimaryKey || column.isIndexed {
                        problems.append(
                            "\(item.name).\(column.name) is encrypted, so it can't be the primary key or indexed.")
                    }
                    switch column.type {
                    case .string, .data: break
                    default:
                        problems.append(
                            "\(item.name).\(column.name) is encrypted, but only String and Data properties can be.")
                    }
                }
                if column.isPrimaryKey {
                    switch column.type {
                    case .objectId, .uuid, .string, .int: break
                    default:
                        problems.append(
                            "\(item.name).\(column.name) is a \(column.type.name); a primary key must be an ObjectId, "
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
        }
        return problems
    }
}

extension String {
    /// A 64-bit FNV-1a hash: the same on every machine and in every run.
    package var stableHash: UInt64 {
        utf8.reduce(into: 0xcbf2_9ce4_8422_2325 as UInt64) { hash, byte in
            hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3
        }
    }
}
