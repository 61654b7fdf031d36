import Foundation
import RandomValues
import TomboloModel

/// An object as plain Swift data, for evaluating conditions without SQL.
final class Document {
    indirect enum Field {
        case value(Value)
        /// The class and key of an object, which might not exist.
        case link(String, Value)
        case embedded(Document?)
        /// A list of values, links or embedded objects.
        case list([Field])
    }

    let className: String
    let key: Value
    var fields: [String: Field] = [:]

    init(_ className: String, _ key: Value = .null) {
        self.className = className
        self.key = key
    }
}

/// Random objects of two classes that use every kind of property, both as documents and as rows.
///
/// A `Parent` has scalars, links, an embedded `home`, and lists of links, scalars and embedded objects that contain
/// lists themselves. A `Child` has no primary key. Some links are dangling.
struct FilterWorld {
    let schema: Schema
    private(set) var documents: [String: [Document]] = [:]
    /// Rows by class name, in the order of the tables.
    private(set) var rows: [String: [Row]] = [:]
    private var generator: SeededGenerator
    private var elementCount: UInt32 = 0

    static let parentCount = 25
    static let childCount = 12

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        let stop = ClassSchema(
            name: "Stop",
            columns: [
                Column(name: "n", type: .int(bits: 64), isOptional: true),
                Column(name: "child", type: .link(to: "Child"), isOptional: true),
            ], isEmbedded: true)
        let visit = ClassSchema(
            name: "Visit",
            columns: [
                Column(name: "place", type: .string), Column(name: "cost", type: .int(bits: 32), isOptional: true),
                Column(name: "child", type: .link(to: "Child"), isOptional: true),
            ],
            lists: [
                ListProperty(name: "stops", element: .embedded(stop)),
                ListProperty(name: "guests", target: "Child"),
            ], isEmbedded: true)
        schema = try Schema([
            ClassSchema(
                name: "Parent",
                columns: [
                    Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                    Column(name: "order", type: .string),
                    Column(name: "nick", type: .string, isOptional: true),
                    Column(name: "age", type: .int(bits: 64)),
                    Column(name: "limit", type: .int(bits: 8), isOptional: true),
                    Column(name: "ratio", type: .float, isOptional: true),
                    Column(name: "score", type: .double),
                    Column(name: "price", type: .decimal128, isOptional: true),
                    Column(name: "isActive", type: .bool),
                    Column(name: "born", type: .date, isOptional: true),
                    Column(name: "photo", type: .data, isOptional: true),
                    Column(name: "best", type: .link(to: "Child"), isOptional: true),
                    Column(name: "boss", type: .link(to: "Parent"), isOptional: true),
                    Column(name: "home", type: .embedded("Home"), isOptional: true),
                    Column(name: "home.city", type: .string, isOptional: true),
                    Column(name: "home.floor", type: .int(bits: 64), isOptional: true),
                    Column(name: "home.owner", type: .link(to: "Parent"), isOptional: true),
                ],
                lists: [
                    ListProperty(name: "home.guests", target: "Child"),
                    ListProperty(name: "children", target: "Child"),
                    ListProperty(name: "numbers", element: .scalar(.int(bits: 64), isOptional: true)),
                    ListProperty(name: "weights", element: .scalar(.double, isOptional: false)),
                    ListProperty(name: "prices", element: .scalar(.decimal128, isOptional: false)),
                    ListProperty(name: "words", element: .scalar(.string, isOptional: true)),
                    ListProperty(name: "visits", element: .embedded(visit)),
                ]),
            ClassSchema(
                name: "Child",
                columns: [
                    Column(name: "name", type: .string, isOptional: true), Column(name: "age", type: .int(bits: 64)),
                    Column(name: "weight", type: .double, isOptional: true),
                    Column(name: "friend", type: .link(to: "Child"), isOptional: true),
                ],
                lists: [ListProperty(name: "pets", target: "Child")],
                linkingObjects: [
                    "parents": LinkOrigin(className: "Parent", property: "children"),
                    "fans": LinkOrigin(className: "Parent", property: "best"),
                ]),
        ])
        for key in 1...Self.childCount { add("Child", .int(Int64(key))) }
        for key in 1...Self.parentCount { add("Parent", .int(Int64(key))) }
        addLinkingObjects()
    }

    func document(_ className: String, _ key: Value) -> Document? {
        documents[className]?.first { $0.key == key }
    }

    // MARK: Values

    private mutating func int(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &generator) }
    mutating func flag(_ oneIn: Int = 2) -> Bool { int(1...oneIn) == 1 }
    mutating func pick<T>(_ values: [T]) -> T { values[int(0...values.count - 1)] }
    mutating func number(_ range: ClosedRange<Int>) -> Int { int(range) }

    mutating func text() -> String {
        (0..<int(0...3)).map { _ in pick(["a", "A", "b", "é", "É", "e\u{301}", "*", "?", "ß", "%", "'"]) }.joined()
    }

    mutating func value(_ type: PropertyType) -> Value {
        switch type {
        case .bool: .bool(flag())
        case .int: .int(Int64(int(-3...5)))
        case .float, .double: .double(pick([0, -0.0, 0.25, -1.5, 2, 3, 4.75, 1_000]))
        case .decimal128: .decimal(pick([0, 1, 1.50, -2, 3, 2.5, 100]))
        case .string: .string(text())
        case .date: .date(Int64(int(-2...3)) * 1_000_000)
        case .data: .data(Data((0..<int(1...2)).map { _ in pick([1, 2, 0xff]) }))
        case .link(to: "Child"): .int(Int64(int(1...Self.childCount + 2)))
        case .link: .int(Int64(int(1...Self.parentCount + 3)))
        default: .null
        }
    }

    /// A literal to compare with. It is never the key of a missing object.
    mutating func literal(_ type: PropertyType) -> Value {
        switch type {
        case .link(to: "Child"): .int(Int64(int(1...Self.childCount)))
        case .link: .int(Int64(int(1...Self.parentCount)))
        default: value(type)
        }
    }

    // MARK: Objects

    private mutating func add(_ className: String, _ key: Value) {
        guard let item = schema[className] else { return }
        let document = Document(className, key)
        let columns = item.columns.indices.map { (item.columns[$0], $0) }
        rows[className, default: []].append(
            fill(document, columns.map(\.0), item, root: (className, key), parent: nil, key))
        documents[className, default: []].append(document)
    }

    /// Random values for the columns and lists of a class or of an embedded object.
    private mutating func fill(
        _ document: Document, _ columns: [Column], _ item: ClassSchema, root: (String, Value), parent: Value?,
        _ key: Value
    ) -> Row {
        var values: [Value] = []
        var home: Document?
        for column in columns {
            if column.isPrimaryKey {
                values.append(key)
                document.fields[column.name] = .value(key)
                continue
            }
            if case .embedded = column.type {
                home = flag(3) ? nil : Document("Home")
                document.fields[column.name] = .embedded(home)
                values.append(home == nil ? .null : .bool(true))
                continue
            }
            let names = column.name.split(separator: ".").map(String.init)
            if names.count == 2, home == nil {
                values.append(.null)
                continue
            }
            let value: Value = column.isOptional && flag(3) ? .null : self.value(column.type)
            values.append(value)
            let field: Document.Field = column.linkTarget.map { .link($0, value) } ?? .value(value)
            if let name = names.last { (names.count == 2 ? home ?? document : document).fields[name] = field }
        }
        for list in item.lists {
            let names = list.name.split(separator: ".").map(String.init)
            guard let holder = names.count == 2 ? home : document, let elements = schema["\(item.name).\(list.name)"],
                let name = names.last
            else { continue }
            holder.fields[name] = .list(add(list, elements, root: root, parent: parent))
        }
        return Row(values)
    }

    private mutating func add(
        _ list: ListProperty, _ elements: ClassSchema, root: (String, Value), parent: Value?
    ) -> [Document.Field] {
        (0..<int(0...3)).map { _ in
            elementCount += 1
            let id = Value.objectId(ObjectId(high: 0, low: elementCount))
            let system: [Value] = [id, root.1, .string("r\(elementCount)")]
            let end: [Value] = elements.owner?.parent == nil ? [] : [parent ?? .null]
            switch list.element {
            case .link(let target):
                let value = value(.link(to: target))
                rows[elements.name, default: []].append(Row(system + [value] + end))
                return .link(target, value)
            case .scalar(let type, let isOptional):
                let value = isOptional && flag(3) ? .null : value(type)
                rows[elements.name, default: []].append(Row(system + [value] + end))
                return .value(value)
            case .embedded(let embedded):
                let document = Document(elements.name, id)
                let row = fill(document, embedded.columns, elements, root: root, parent: id, id)
                rows[elements.name, default: []].append(Row(system + row.values + end))
                return .embedded(document)
            }
        }
    }

    private func addLinkingObjects() {
        for child in documents["Child"] ?? [] {
            var parents: [Document.Field] = []
            var fans: [Document.Field] = []
            for parent in documents["Parent"] ?? [] {
                if case .list(let elements)? = parent.fields["children"] {
                    for case .link(_, child.key) in elements { parents.append(.link("Parent", parent.key)) }
                }
                if case .link(_, child.key)? = parent.fields["best"] { fans.append(.link("Parent", parent.key)) }
            }
            child.fields["parents"] = .list(parents)
            child.fields["fans"] = .list(fans)
        }
    }
}
