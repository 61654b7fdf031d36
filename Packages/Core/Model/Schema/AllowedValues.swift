/// The values that a property can have if it can't have all values of its type: the cases of an enumeration.
///
/// Devices store whatever other versions of an app have written. Servers refuse other values only from people: in
/// JSON:API, imports and the panel.
public struct AllowedValues: Hashable, Sendable {
    /// The maximum number of values for one property.
    public static let maximumCount = 1_000
    /// The maximum length of a string in UTF-8 bytes.
    public static let maximumByteCount = 256

    /// Strings or integers in declaration order, without duplicates.
    public let values: [Value]

    /// - Returns: nil, which allows all values, if `values` is nil, has values that aren't strings or integers, or
    ///   exceeds the limits of model documents.
    public init?(_ values: [Value]?) {
        guard let values, Self.problem(of: values) == nil else { return nil }
        self.values = values
    }

    public func contains(_ value: Value) -> Bool { values.contains(value) }

    /// The reason why values can't be declared as allowed, or nil.
    static func problem(of values: [Value]) -> Wording? {
        guard !values.isEmpty else { return Wording("There must be at least one value.") }
        guard values.count <= maximumCount else {
            return Wording("There are \(values.count) values; the limit is \(maximumCount).")
        }
        guard Set(values).count == values.count else { return Wording("A value is listed twice.") }
        for value in values {
            switch value {
            case .int: continue
            case .string(let text) where text.utf8.count <= maximumByteCount && !text.containsNull: continue
            case .string: return Wording("A value has more than \(maximumByteCount) bytes, or contains U+0000.")
            default: return Wording("The values must be strings or whole numbers.")
            }
        }
        return nil
    }

    /// The reason why the values don't fit a type, or nil. For a list, its element type counts.
    func problem(in type: PropertyType) -> Wording? {
        let element: PropertyType =
            switch type {
            case .list(let element, _): element
            case .array(let types) where types.count == 1: types[0]
            default: type
            }
        for value in values {
            switch (element, value) {
            case (.string, .string): continue
            case (.int(let bits), .int(let number)) where bits == 64 || number >> Int64(bits - 1) == number >> 63:
                continue
            default: return Wording("'\(element.name)' can't have the value \(value).")
            }
        }
        return nil
    }
}
