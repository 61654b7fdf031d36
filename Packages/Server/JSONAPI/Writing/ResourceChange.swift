package import TomboloHTTP
package import TomboloModel

/// What a request sets of a resource, checked against the schema and against what the caller may see, but not yet
/// against the rules for writing.
package struct ResourceChange: Sendable {
    /// New values, by column.
    package private(set) var values: [Int: Value] = [:]
    /// The contents of lists, by the position of the element class.
    package private(set) var lists: [Int: [Value]] = [:]
    /// Where in the body a column's value is.
    package private(set) var pointers: [Int: RequestPointer] = [:]
    /// Objects that links lead to.
    package private(set) var links: [Link] = []
    /// Everything that is wrong.
    package private(set) var problems: [RequestFailure] = []

    package struct Link: Sendable {
        package let target: ResourceType
        package let key: Value
        package let pointer: RequestPointer
    }

    package let type: ResourceType
    private let view: CallerView
    private let fields: [ResourceField]
    /// The keys of objects that the same request makes, by type and local id.
    private let localKeys: [LocalIdentifier: Value]

    package struct LocalIdentifier: Hashable, Sendable {
        package let type: String
        package let lid: String
    }

    package init(_ type: ResourceType, _ view: CallerView, localKeys: [LocalIdentifier: Value] = [:]) {
        self.type = type
        self.view = view
        self.localKeys = localKeys
        fields = view.fields(of: type)
    }

    private mutating func refuse(
        _ pointer: RequestPointer, _ message: String, _ remedy: String, _ code: RequestFailure.Code = .unprocessable
    ) {
        // More than anybody reads helps nobody.
        guard problems.count < Self.maximumProblemCount else { return }
        problems.append(RequestFailure(code, message, hint: remedy, source: .pointer(pointer.description)))
    }

    package static let maximumProblemCount = 20

    /// Sets a column that the caller may read, to a value that didn't come as JSON.
    /// - Parameter pointer: where the body asks for it.
    package mutating func put(_ value: Value, in column: Int, at pointer: RequestPointer) {
        guard let field = Self.field(of: column, among: fields) else {
            return refuse(pointer, "\(type.name) have no such property.", "Leave it out.")
        }
        set(column, value, field, at: pointer)
        guard !value.isNull, case .toOne(_, let target) = field.content, let target = view.types[target] else { return }
        links.append(Link(target: target, key: value, pointer: pointer))
    }

    /// The field that has a column, in an embedded object perhaps.
    private static func field(of column: Int, among fields: [ResourceField]) -> ResourceField? {
        for field in fields {
            if field.column == column { return field }
            if case .embedded(_, let inner) = field.content, let found = Self.field(of: column, among: inner) {
                return found
            }
        }
        return nil
    }

    /// - Throws: what is wrong, if anything is.
    package func check() throws {
        guard var first = problems.first else { return }
        first.others = Array(problems.dropFirst())
        throw first
    }

    // MARK: Reading a resource object

    /// Reads `attributes` and `relationships`. Members that JSON:API doesn't know are ignored, as it wants.
    /// - Parameter pointer: where the resource object is.
    package mutating func read(_ resource: JSON, at pointer: RequestPointer) {
        switch resource["attributes"] {
        case .object(let attributes):
            for (name, value) in attributes.sorted(by: { $0.key < $1.key }) {
                readAttribute(name, value, at: pointer / "attributes" / name)
            }
        case nil: break
        default: refuse(pointer / "attributes", "'attributes' isn't a JSON object.", "Send {\"name\": value, …}.")
        }
        switch resource["relationships"] {
        case .object(let relationships):
            for (name, value) in relationships.sorted(by: { $0.key < $1.key }) {
                readRelationship(name, value, at: pointer / "relationships" / name)
            }
        case nil: break
        default:
            refuse(pointer / "relationships", "'relationships' isn't a JSON object.", "Send {\"name\": {\"data\": …}}.")
        }
    }

    private mutating func readAttribute(_ name: String, _ json: JSON, at pointer: RequestPointer) {
        guard let field = fields.first(where: { $0.name == name && !$0.isRelationship }) else {
            let isRelationship = fields.contains { $0.name == name }
            let known = fields.filter { !$0.isRelationship }.map(\.name)
            return refuse(
                pointer, "\(type.name) have no attribute '\(name.shortened(toByteCount: 60))'.",
                isRelationship ? "It's a relationship: send it there." : ResourceQuery.nearest(name, known))
        }
        readField(field, json, at: pointer)
    }

    private mutating func readField(_ field: ResourceField, _ json: JSON, at pointer: RequestPointer) {
        switch field.content {
        case .value(let column, let valueType):
            guard let value = value(json, valueType, at: pointer) else { return }
            set(column, value, field, at: pointer)
        case .array(let column, let types):
            guard json != .null else { return set(column, .null, field, at: pointer) }
            guard case .array(let elements) = json else {
                return refuse(pointer, "'\(field.name)' isn't a list.", "Send a list of values.")
            }
            var rows: [[Value]] = []
            for (index, element) in elements.enumerated() {
                let parts: [JSON] = if types.count > 1, case .array(let found) = element { found } else { [element] }
                let place = pointer / "\(index)"
                guard parts.count == types.count else {
                    return refuse(place, "An element has \(types.count) values.", "Send a list of as many.")
                }
                var row: [Value] = []
                for (part, type) in zip(parts, types) {
                    guard let value = value(part, type, at: place) else { return }
                    guard !value.isNull else {
                        return refuse(place, "An element can't be null.", "Send \(ValueText.expected(type)).")
                    }
                    row.append(value)
                }
                rows.append(row)
            }
            set(column, .data(ArrayCoding.encode(rows, types)), field, at: pointer)
        case .embedded(let column, let inner): readEmbedded(field, column, inner, json, at: pointer)
        case .values(let elements, _):
            guard case .array(let items) = json, items.count <= ResourcePlan.maximumElementCount else {
                return refuse(
                    pointer, "'\(field.name)' isn't a list of at most \(ResourcePlan.maximumElementCount) values.",
                    "Send a list of values.")
            }
            let column = view.schema[elements].columns[ElementColumn.content]
            var contents: [Value] = []
            for (index, item) in items.enumerated() {
                guard let value = value(item, view.schema.storedType(of: column), at: pointer / "\(index)") else {
                    return
                }
                do throws(ValueError) {
                    try column.validate(value, linkKeyType: view.schema.keyType(ofLink: column))
                } catch {
                    return refuse(pointer / "\(index)", error.message, "Send a value that fits.")
                }
                contents.append(value)
            }
            lists[elements] = contents
        case .toOne, .toMany: break
        }
    }

    /// An embedded object is written as a whole: what isn't said of it is null.
    private mutating func readEmbedded(
        _ field: ResourceField, _ column: Int, _ inner: [ResourceField], _ json: JSON, at pointer: RequestPointer
    ) {
        let members: [String: JSON]
        switch json {
        case .null: members = [:]
        case .object(let found): members = found
        default:
            return refuse(pointer, "'\(field.name)' isn't a JSON object or null.", "Send {\"name\": value, …} or null.")
        }
        let isThere = json != .null
        set(column, isThere ? .bool(true) : .null, field, at: pointer)
        for (name, _) in members where !inner.contains(where: { $0.name == name }) {
            refuse(
                pointer / name, "'\(field.name)' has no attribute '\(name.shortened(toByteCount: 60))'.",
                ResourceQuery.nearest(name, inner.map(\.name)))
        }
        for part in inner {
            let isRequired = part.column.map { type.item.columns[$0].isRequiredWhenPresent } ?? false
            if let value = members[part.name], !(isRequired && value == .null) {
                readField(part, value, at: pointer / part.name)
            } else if isThere, isRequired {
                refuse(
                    pointer / part.name, "'\(field.name)' needs '\(part.name)'.",
                    "Send it, or null for the whole '\(field.name)'.")
            } else if let elements = part.elements {
                lists[elements] = []
            } else {
                readField(part, .null, at: pointer / part.name)
            }
        }
    }

    private mutating func set(_ column: Int, _ value: Value, _ field: ResourceField, at pointer: RequestPointer) {
        let property = type.item.columns[column]
        do throws(ValueError) {
            try property.validate(value, linkKeyType: view.schema.keyType(ofLink: property))
        } catch {
            return refuse(
                pointer, error.message, value.isNull ? "Send a value." : "Send \(ValueText.expected(property.type)).")
        }
        values[column] = value
        pointers[column] = pointer
    }

    /// - Returns: nil after a problem.
    private mutating func value(_ json: JSON, _ type: PropertyType, at pointer: RequestPointer) -> Value? {
        let value: Value? =
            switch (json, type) {
            case (.null, _): .null
            case (.bool(let flag), .bool): .bool(flag)
            case (.int(let number), .int): .int(number)
            case (.int(let number), .double), (.int(let number), .float): .double(Double(number))
            case (.double(let number), .double), (.double(let number), .float): .double(number)
            case (.int(let number), .decimal128): ValueText.value("\(number)", .decimal128)
            case (_, .bool), (_, .int), (_, .double), (_, .float): nil
            case (.string(let text), .string): .string(text)
            case (.string(let text), _): ValueText.value(text, type)
            default: nil
            }
        if value == nil {
            refuse(
                pointer, "The value isn't \(ValueText.expected(type)).",
                "Send \(ValueText.expected(type))\(Self.form(type)).")
        }
        return value
    }

    /// How JSON has values of a type.
    private static func form(_ type: PropertyType) -> String {
        switch type {
        case .bool, .int, .double, .float: ", without quotes"
        default: ", as a JSON string"
        }
    }

    // MARK: Relationships

    /// Reads a relationship object: `{"data": …}`.
    package mutating func readRelationship(_ name: String, _ json: JSON, at pointer: RequestPointer) {
        guard let field = fields.first(where: { $0.name == name && $0.isRelationship }),
            let target = field.target.flatMap({ view.types[$0] })
        else {
            let known = fields.filter(\.isRelationship).map(\.name)
            return refuse(
                pointer, "\(type.name) have no relationship '\(name.shortened(toByteCount: 60))'.",
                ResourceQuery.nearest(name, known))
        }
        guard let data = json["data"] else {
            return refuse(
                pointer, "The relationship '\(field.name)' has no 'data'.",
                "Send {\"data\": …}: \(Self.example(field, target)).")
        }
        let place = pointer / "data"
        switch (field.content, data) {
        case (.toOne(let column, _), .null): set(column, .null, field, at: place)
        case (.toOne(let column, _), .object):
            if let key = key(data, target, at: place) { set(column, key, field, at: place) }
        case (.toMany(let elements, _), .array(let items)) where items.count <= ResourcePlan.maximumElementCount:
            var keys: [Value] = []
            for (index, item) in items.enumerated() {
                guard let key = key(item, target, at: place / "\(index)") else { return }
                keys.append(key)
            }
            lists[elements] = keys
        case (.toMany, .array(let items)):
            refuse(
                place,
                "The list has \(items.count) elements, and at most \(ResourcePlan.maximumElementCount) are possible.",
                "Write longer lists through sync.")
        default:
            refuse(place, "'\(field.name)' takes other data.", "Send \(Self.example(field, target)).")
        }
    }

    private static func example(_ field: ResourceField, _ target: ResourceType) -> String {
        let identifier = "{\"type\": \"\(target.name)\", \"id\": …}"
        if case .toMany = field.content { return "[\(identifier), …]" }
        return field.isOptional ? "\(identifier) or null" : identifier
    }

    /// The key that a resource identifier names.
    private mutating func key(_ json: JSON, _ target: ResourceType, at pointer: RequestPointer) -> Value? {
        guard case .string(let name) = json["type"], view.types[name]?.classIndex == target.classIndex else {
            refuse(
                pointer / "type", "The relationship leads to '\(target.name)'.", "Send \"type\": \"\(target.name)\".")
            return nil
        }
        if case .string(let lid) = json["lid"], json["id"] == nil {
            guard let key = localKeys[LocalIdentifier(type: target.name, lid: lid)] else {
                refuse(
                    pointer / "lid", "No earlier operation makes a resource with this 'lid'.",
                    "Add it in the same request, before it's used.")
                return nil
            }
            // A later operation may have removed it.
            links.append(Link(target: target, key: key, pointer: pointer))
            return key
        }
        guard case .string(let id) = json["id"], let key = target.keyValue(id) else {
            refuse(
                pointer / "id", "'id' isn't \(ValueText.expected(target.keyType)).",
                "Send the id of one of the \(target.name), as a JSON string.")
            return nil
        }
        links.append(Link(target: target, key: key, pointer: pointer))
        return key
    }
}
