import TomboloHTTP
import TomboloModel

extension ImportMapping {
    /// - Throws: ``RequestFailure`` with everything that is wrong.
    func change(_ members: JSON) throws -> ResourceChange {
        var change = ResourceChange(type, view)
        change.isOwn = true
        change.read(members, at: RequestPointer())
        try change.check()
        return change
    }

    /// The members of a new resource. Embedded objects get the members that they need and an export leaves out.
    func creation(_ parsed: Parsed) -> JSON {
        var parsed = parsed
        for member in members {
            guard let value = parsed.attributes[member.field.name] else { continue }
            parsed.attributes[member.field.name] = Self.merged(value, .null, member.field)
        }
        return parsed.members
    }

    /// The part of a resource's change that can be checked without reading the resource: members that depend on its
    /// other values are left out.
    func checkable(_ parsed: Parsed) -> JSON {
        var parsed = parsed
        for member in members {
            guard let value = parsed.attributes[member.field.name], !Self.isWhole(value, member.field) else { continue }
            parsed.attributes[member.field.name] = nil
        }
        return parsed.members
    }

    /// Whether the value contains every member of an embedded object.
    private static func isWhole(_ value: JSON, _ field: ResourceField) -> Bool {
        switch (field.content, value) {
        case (.embedded(_, let inner), .object(let members)): return isWhole(members, inner)
        case (.objects(_, let inner), .array(let items)):
            return items.allSatisfy { item in
                if case .object(let members) = item { isWhole(members, inner) } else { true }
            }
        default: return true
        }
    }

    private static func isWhole(_ members: [String: JSON], _ fields: [ResourceField]) -> Bool {
        fields.allSatisfy { part in members[part.name].map { isWhole($0, part) } ?? false }
    }

    /// What a row changes in a resource. Everything else stays untouched, above all what the user can't see, such as a
    /// link to something in the trash.
    func difference(_ parsed: Parsed, from old: ResourceMembers) -> ResourceMembers {
        let now = old.json
        var changed = Parsed()
        for member in members {
            let name = member.field.name
            if let value = parsed.attributes[name] {
                let before = now["attributes"]?[name] ?? .null
                let merged = Self.merged(Self.restored(value, before, member), before, member.field)
                if !Self.isSame(merged, before, member) { changed.attributes[name] = merged }
            }
            if let value = parsed.relationships[name], value != now["relationships"]?[name] {
                changed.relationships[name] = value
            }
        }
        return ResourceMembers(changed.members)
    }

    /// Null in the columns of an embedded object's members sets only those members to null, if the object has other
    /// members.
    private static func restored(_ value: JSON, _ old: JSON, _ member: Member) -> JSON {
        guard value == .null, case .object = old, case .object(let inner) = member.node,
            case .embedded(_, let fields) = member.field.content
        else { return value }
        let values = inner.map { ($0.field.name, restored(.null, old[$0.field.name] ?? .null, $0)) }
        guard inner.count < fields.count || values.contains(where: { $1 != .null }) else { return value }
        return .object(Dictionary(values) { first, _ in first })
    }

    /// An embedded object keeps the members that the file doesn't name. A new one has empty lists, which exports leave
    /// out.
    private static func merged(_ value: JSON, _ old: JSON, _ field: ResourceField) -> JSON {
        switch (field.content, value) {
        case (.embedded(_, let inner), .object(let members)): return .object(merged(members, old, inner))
        case (.objects(_, let inner), .array(let items)): return .array(merged(items, old.items, inner))
        default: return value
        }
    }

    /// The elements of a list. Each is matched to the old element with its id. Without an id, it's matched to the old
    /// element in its position, if all values in the file are equal.
    private static func merged(_ items: [JSON], _ old: [JSON], _ inner: [ResourceField]) -> [JSON] {
        let named = Dictionary(old.map { ($0[ResourceField.elementID], $0) }) { first, _ in first }
        return items.enumerated().map { index, item in
            guard case .object(var members) = item else { return item }
            let id = members[ResourceField.elementID] ?? .null
            if id == .null {
                members[ResourceField.elementID] = nil
                if index < old.count, members.allSatisfy({ $0.value.isEqual(to: old[index][$0.key] ?? .null) }) {
                    return old[index]
                }
            }
            return .object(merged(members, named[id] ?? .null, inner))
        }
    }

    private static func merged(_ said: [String: JSON], _ old: JSON, _ inner: [ResourceField]) -> [String: JSON] {
        var members = said
        for part in inner {
            let before = old[part.name]
            if let value = members[part.name] {
                members[part.name] = merged(value, before ?? .null, part)
            } else if let before {
                members[part.name] = before
            } else if case .array = part.content {
                members[part.name] = []
            }
        }
        return members
    }

    private static func isSame(_ one: JSON, _ other: JSON, _ member: Member) -> Bool {
        // A table writes a missing object like an object of nulls.
        if case .object = member.node, one.isBlank, other.isBlank { return true }
        // Answers have null for an infinite number.
        if case .value(_, let type) = member.field.content, type == .double || type == .float, one == .null,
            case .string = other
        {
            return true
        }
        // 1.0 and 1.00 are the same decimal, so nothing would be written.
        if case .value(_, .decimal128) = member.field.content, let value = one.decimal {
            return value == other.decimal
        }
        return one.isEqual(to: other)
    }
}

extension JSON {
    fileprivate var decimal: TomboloModel.Value? {
        switch self {
        case .string(let text): return ValueText.value(text, .decimal128)
        case .int(let number): return ValueText.value("\(number)", .decimal128)
        case .null, .bool, .double, .array, .object: return nil
        }
    }

    fileprivate var items: [JSON] { if case .array(let items) = self { items } else { [] } }

    /// Whether both are the same value: 1 equals 1.0, and a missing member is null.
    fileprivate func isEqual(to other: JSON) -> Bool {
        switch (self, other) {
        case (.int(let one), .double(let other)), (.double(let other), .int(let one)): return Double(one) == other
        case (.array(let one), .array(let other)):
            return one.count == other.count && zip(one, other).allSatisfy { $0.isEqual(to: $1) }
        case (.object(let one), .object(let other)):
            return Set(one.keys).union(other.keys).allSatisfy {
                (one[$0] ?? .null).isEqual(to: other[$0] ?? .null)
            }
        default: return self == other
        }
    }
}
