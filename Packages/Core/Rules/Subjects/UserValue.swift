internal import TomboloModel

/// A JSON value in what is known about a user: their data or custom data.
public enum UserValue: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case array([UserValue])
    case object([String: UserValue])
}

/// Strings are compared by their bytes, as in the databases.
extension UserValue: Hashable {
    public static func == (left: UserValue, right: UserValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int(let a), .int(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a.hasBytes(of: b)
        case (.array(let a), .array(let b)): a == b
        case (.object(let a), .object(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .array(let values): hasher.combine(values)
        case .object(let values): hasher.combine(values)
        }
    }
}

extension UserValue {
    /// Compares like rules do: a whole number equals the same number with a fraction of zero.
    func equals(_ other: UserValue) -> Bool {
        switch (self, other) {
        case (.int(let a), .double(let b)), (.double(let b), .int(let a)): Double(a) == b && Int64(exactly: b) == a
        case (.array(let a), .array(let b)): a.count == b.count && zip(a, b).allSatisfy { $0.equals($1) }
        default: self == other
        }
    }

    /// -1, 0 or 1 for two numbers or two strings; nil if rules define no order.
    func order(_ other: UserValue) -> Int? {
        switch (self, other) {
        case (.int(let a), .int(let b)): a == b ? 0 : a < b ? -1 : 1
        case (.int(let a), .double(let b)): Value.double(Double(a)).order(.double(b))
        case (.double(let a), .int(let b)): Value.double(a).order(.double(Double(b)))
        case (.double(let a), .double(let b)): Value.double(a).order(.double(b))
        case (.string(let a), .string(let b)): Value.string(a).order(.string(b))
        default: nil
        }
    }

    var isNull: Bool { if case .null = self { true } else { false } }

    /// The value with its nulls removed; nil for null.
    var withoutNulls: UserValue? {
        switch self {
        case .null: nil
        case .array(let values): .array(values.compactMap(\.withoutNulls))
        case .object(let values): .object(values.compactMapValues(\.withoutNulls))
        default: self
        }
    }

    /// The value at a path of names inside nested objects; nil if there is none.
    func value(at path: some Collection<String>) -> UserValue? {
        guard let first = path.first else { return self }
        guard case .object(let values) = self, let next = values[first] else { return nil }
        return next.value(at: path.dropFirst())
    }
}

extension UserValue: CustomStringConvertible {
    /// A short form for messages.
    public var description: String {
        switch self {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): Value.string(value).description
        case .array(let values): "a list of \(values.count)"
        case .object(let values): "an object with \(values.count) keys"
        }
    }
}
