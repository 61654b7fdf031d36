public import Foundation

/// One field of a row, on the device, on the wire and on the server. `docs/values.md` lists the form of each case in
/// SQLite and PostgreSQL.
///
/// Equality and order are those of the databases, not of Swift: strings are compared by their UTF-8 bytes (`COLLATE
/// "C"`), so `é` as one code point and as two are different values; null equals null.
public enum Value: Sendable {
    case null
    case bool(Bool)
    case int(Int64)
    case double(Double)
    case string(String)
    case data(Data)
    /// Microseconds since 1970-01-01T00:00:00Z.
    case date(Int64)
    case objectId(ObjectId)
    case uuid(UUID)
    case decimal(Decimal128)

    /// Whether the value is null.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension Value: Hashable {
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let a), .bool(let b)): a == b
        case (.int(let a), .int(let b)): a == b
        case (.double(let a), .double(let b)): a == b
        case (.string(let a), .string(let b)): a.hasBytes(of: b)
        case (.data(let a), .data(let b)): a == b
        case (.date(let a), .date(let b)): a == b
        case (.objectId(let a), .objectId(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.decimal(let a), .decimal(let b)): a == b
        default: false
        }
    }

    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .bool(let value): hasher.combine(value)
        case .int(let value), .date(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value)
        case .string(let value):
            var text = value
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .data(let value): hasher.combine(value)
        case .objectId(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value)
        }
    }
}

extension Value {
    /// -1, 0 or 1 for two values of the same type, or nil if either is null or the types differ.
    public func order(_ other: Value) -> Int? {
        switch (self, other) {
        case (.bool(let a), .bool(let b)): a == b ? 0 : (a ? 1 : -1)
        case (.int(let a), .int(let b)), (.date(let a), .date(let b)): a == b ? 0 : (a < b ? -1 : 1)
        case (.double(let a), .double(let b)): a == b ? 0 : (a < b ? -1 : 1)
        case (.string(let a), .string(let b)):
            a.hasBytes(of: b) ? 0 : (a.utf8.lexicographicallyPrecedes(b.utf8) ? -1 : 1)
        case (.data(let a), .data(let b)): a == b ? 0 : (a.lexicographicallyPrecedes(b) ? -1 : 1)
        case (.objectId(let a), .objectId(let b)): a == b ? 0 : (a < b ? -1 : 1)
        case (.decimal(let a), .decimal(let b)): a == b ? 0 : (a < b ? -1 : 1)
        case (.uuid(let a), .uuid(let b)):
            withUnsafeBytes(of: a.uuid) { left in
                withUnsafeBytes(of: b.uuid) { right in
                    left.elementsEqual(right) ? 0 : (left.lexicographicallyPrecedes(right) ? -1 : 1)
                }
            }
        default: nil
        }
    }

    /// A total order for sorting: nil first, as in Realm and SQLite.
    public static func sortsBefore(_ left: Value, _ right: Value) -> Bool {
        switch (left.isNull, right.isNull) {
        case (true, true), (false, true): false
        case (true, false): true
        case (false, false): (left.order(right) ?? 0) < 0
        }
    }
}

extension String {
    /// Whether the UTF-8 bytes are equal, as the databases compare. Swift's `==` treats `é` as one code point and as
    /// two as equal.
    package func hasBytes(of other: String) -> Bool {
        utf8.count == other.utf8.count && utf8.elementsEqual(other.utf8)
    }
}

extension Value: CustomStringConvertible {
    /// The number of bytes that ``description`` shows of a string.
    static let shownByteCount = 40

    /// A short readable form for messages: long strings are cut, and data is shown only by its size. Different values
    /// may have the same description.
    public var description: String {
        switch self {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): "\"\(value.shortened(toByteCount: Self.shownByteCount))\""
        case .data(let value): "\(value.count) bytes"
        case .date(let value): Self.iso8601(microseconds: value)
        case .objectId(let value): value.stringValue
        case .uuid(let value): value.uuidString.lowercased()
        case .decimal(let value): value.description
        }
    }

    private static func iso8601(microseconds: Int64) -> String {
        Date(microsecondsSince1970: microseconds).formatted(.iso8601)
    }
}

extension Date {
    /// 2001-01-01T00:00:00Z, the reference date of `Date`, in seconds since 1970.
    private static let referenceSeconds: Int64 = 978_307_200
    private static let microsecondsPerSecond: Int64 = 1_000_000

    /// Converts from microseconds since 1970-01-01T00:00:00Z, the precision of stored dates. Whole seconds and the
    /// remainder are converted separately, so that the sum is the nearest `Date`.
    public init(microsecondsSince1970 microseconds: Int64) {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: Self.microsecondsPerSecond)
        self.init(
            timeIntervalSinceReferenceDate: Double(seconds - Self.referenceSeconds)
                + Double(rest) / Double(Self.microsecondsPerSecond))
    }

    /// Microseconds since 1970, rounded to the nearest; dates outside ``Value/dateRange`` are clamped to it.
    ///
    /// `Date(microsecondsSince1970: date.microsecondsSince1970)` has the same microseconds for every date, and from
    /// 1730 to 2270 each microsecond has its own `Date`.
    public var microsecondsSince1970: Int64 {
        let seconds = timeIntervalSinceReferenceDate.rounded(.down)
        if seconds.isNaN { return 0 }
        let range = Value.dateRange
        let whole = seconds + Double(Self.referenceSeconds)
        if whole < Double(range.lowerBound / Self.microsecondsPerSecond) { return range.lowerBound }
        if whole > Double(range.upperBound / Self.microsecondsPerSecond) { return range.upperBound }
        let rest = (timeIntervalSinceReferenceDate - seconds) * Double(Self.microsecondsPerSecond)
        return min(Int64(whole) * Self.microsecondsPerSecond + Int64(rest.rounded()), range.upperBound)
    }
}

extension Value {
    /// The dates that all stores can hold: years 1 to 9999, in microseconds since 1970.
    public static let dateRange: ClosedRange<Int64> = -62_135_596_800_000_000...253_402_300_799_999_999

    /// The maximum size of a string or data field in bytes: 16 MiB, as in Realm.
    public static let maximumByteCount = 16 << 20
}
