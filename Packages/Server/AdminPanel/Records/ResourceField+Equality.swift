import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

extension ResourceField {
    /// Whether two values of the API have the same meaning: `1.50` and `1.5`, `09:00:00Z` and `09:00:00.000000Z`. The
    /// ids of list elements aren't compared.
    func isSame(_ one: JSON, _ other: JSON) -> Bool {
        switch content {
        case .value(_, let type): Self.isSame(one, other, type)
        case .array(_, let types):
            Self.areSame(one, other) { first, second in
                guard types.count > 1 else { return Self.isSame(first, second, types[0]) }
                return zip(types, zip(first.items, second.items)).allSatisfy { Self.isSame($1.0, $1.1, $0) }
            }
        case .values(_, let type): Self.areSame(one, other) { Self.isSame($0, $1, type) }
        case .embedded(_, let fields): (one == .null) == (other == .null) && Self.areSame(one, other, fields)
        case .objects(_, let fields): Self.areSame(one, other) { Self.areSame($0, $1, fields) }
        case .toOne, .toMany: one == other
        }
    }

    /// Compares the members of an object. A missing member is null.
    private static func areSame(_ one: JSON, _ other: JSON, _ fields: [ResourceField]) -> Bool {
        fields.allSatisfy { $0.isSame(one[$0.name] ?? .null, other[$0.name] ?? .null) }
    }

    /// Compares the elements of a list.
    private static func areSame(_ one: JSON, _ other: JSON, _ isSame: (JSON, JSON) -> Bool) -> Bool {
        one.items.count == other.items.count && zip(one.items, other.items).allSatisfy(isSame)
    }

    private static func isSame(_ one: JSON, _ other: JSON, _ type: PropertyType) -> Bool {
        if one == other { return true }
        guard let first = value(one, type), let second = value(other, type) else { return false }
        if case .float = type, case .double(let first) = first, case .double(let second) = second {
            return Float(first) == Float(second)
        }
        return first == second
    }

    private static func value(_ json: JSON, _ type: PropertyType) -> Value? {
        switch json {
        case .int(let number): ValueText.value("\(number)", type.stored)
        case .double(let number): .double(number)
        case .string(let text): ValueText.value(text, type.stored)
        case .null, .bool, .array, .object: nil
        }
    }
}
