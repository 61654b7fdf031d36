public import Foundation

extension Date: OptionalPersistable {
    public typealias PersistedType = Date
    public static var _propertyType: PropertyType { .date }
    /// The current time with the precision of stored dates, so that it doesn't change once the object is managed.
    public static func _defaultValue() -> Date { Date(microsecondsSince1970: Date().microsecondsSince1970) }
    public var _tomboloValue: Value { .date(microsecondsSince1970) }
    public static func _from(_ value: Value) -> Date {
        if case .date(let value) = value { Date(microsecondsSince1970: value) } else { _zero }
    }
    public static func _read(_ accessor: any ObjectAccessor, _ property: Int) -> Date {
        accessor.integer(at: property).map { Date(microsecondsSince1970: $0) } ?? _zero
    }
    public static func _readOptional(_ accessor: any ObjectAccessor, _ property: Int) -> Date? {
        accessor.integer(at: property).map { Date(microsecondsSince1970: $0) }
    }
    /// What a required property reads when the store has no value for it: the same on every read.
    private static var _zero: Date { Date(timeIntervalSince1970: 0) }
}
