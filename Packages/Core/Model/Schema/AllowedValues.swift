/// The values that a property can have if it hasn't all of its type: those of an enumeration's cases.
///
/// Devices store whatever other versions of an app have written. Servers refuse other values where people write: in
/// JSON:API, imports and the panel.
public struct AllowedValues: Hashable, Sendable {
    /// The most values of one property.
    public static let maximumCount = 1_000
    /// The most bytes of a text.
    public static let maximumByteCount = 256

    /// Texts or whole numbers in the order of their declaration, none of them twice.
    public let values: [Value]

    /// - Returns: nil for nil, for values that aren't texts or whole numbers, and for more or longer ones than documents
    ///   have: then all values are allowed.
    public init?(_ values: [Value]?) {
        guard let values, Self.problem(of: values) == nil else { return nil }
        self.values = values
    }

    public func contains(_ value: Value) -> Bool { values.contains(value) }

    /// What is wrong with values.
    static func problem(of values: [Value]) -> String? {
        guard !values.isEmpty else { return "There must be at least one value." }
        guard values.count <= maximumCount else {
            return "There are \(values.count) values; at most \(maximumCount) are possible."
        }
        guard Set(values).count == values.count else { return "A value is given twice." }
        for value in values {
            switch value {
            case .int: continue
            case .string(let text) where text.utf8.count <= maximumByteCount && !text.containsNull: continue
            case .string: return "A value has more than \(maximumByteCount) bytes, or U+0000."
            default: return "The values must be strings or whole numbers."
            }
        }
        return nil
    }

    /// What is wrong with values for a type; of a list, that of its elements.
    func problem(in type: PropertyType) -> String? {
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
            default: return "'\(element.name)' can't have the value \(value)."
            }
        }
        return nil
    }
}
