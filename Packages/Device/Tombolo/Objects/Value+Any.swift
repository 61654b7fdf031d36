internal import Foundation
internal import TomboloModel

extension Value {
    /// Converts a value without a static type: a property's value, an enumeration or projection, a number of another
    /// type that converts exactly, or a Foundation class. Nil if it doesn't fit.
    init?(any value: Any, for type: PropertyType) {
        if Self.isNil(value) {
            self = .null
            return
        }
        if type == .decimal128, let decimal = Self.decimal(value) {
            self = .decimal(decimal)
            return
        }
        guard let persistable = value as? any Persistable else {
            guard let given = Value(foundation: value, for: type) else { return nil }
            self = given
            return
        }
        switch (persistable._tomboloValue, type) {
        case (.int(let number), .bool) where number == 0 || number == 1: self = .bool(number == 1)
        case (.int(let number), .double), (.int(let number), .float): self = .double(Double(number))
        case (.null, _): self = .null
        case (let stored, _): self = stored
        }
    }

    /// Whether this is `NSNull` or an `Any` with a nil optional.
    static func isNil(_ value: Any) -> Bool { value is NSNull || (value as? any AnyOptional)?.isNil == true }

    /// A decimal from any kind of number. A floating-point number is converted by the digits it prints. Nil if the
    /// value isn't a number.
    private static func decimal(_ value: Any) -> Decimal128? {
        switch value {
        case let number as Float: Decimal128(number)
        case let number as Double: Decimal128(number)
        case let number as Decimal: Decimal128(number)
        case let text as String: try? Decimal128(string: text)
        case let number as any BinaryInteger: Decimal128(number)
        case let number as NSNumber: Decimal128(number: number)
        default: nil
        }
    }

    /// Converts values from JSONSerialization, property lists and Objective-C. Nil if a number doesn't convert exactly.
    private init?(foundation value: Any, for type: PropertyType) {
        switch (value, type) {
        case (let date as NSDate, .date):
            self = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate)._tomboloValue
        case (let data as NSData, .data): self = .data(Data(referencing: data))
        case (let uuid as NSUUID, .uuid):
            guard let uuid = UUID(uuidString: uuid.uuidString) else { return nil }
            self = .uuid(uuid)
        case (let text as NSString, .string): self = .string(String(describing: text))
        case (let number as NSNumber, .bool):
            guard number.doubleValue == 0 || number.doubleValue == 1 else { return nil }
            self = .bool(number.boolValue)
        case (let number as NSNumber, .int):
            guard let integer = Int64(exactly: number) else { return nil }
            self = .int(integer)
        case (let number as NSNumber, .float), (let number as NSNumber, .double): self = .double(number.doubleValue)
        default: return nil
        }
    }
}

/// Optionals of any type.
private protocol AnyOptional {
    /// Also true if the optional holds another optional that is nil.
    var isNil: Bool { get }
}

extension Optional: AnyOptional {
    fileprivate var isNil: Bool {
        switch self {
        case .none: true
        case .some(let value): (value as? any AnyOptional)?.isNil == true
        }
    }
}
