internal import Foundation

/// The meaning of an argument of a string predicate.
enum FormatArgument {
    case one(FormatLiteral)
    case many([FormatLiteral])

    /// Returns nil for a type that queries can't use.
    init?(_ argument: Any?) {
        guard let argument = Self.unwrapped(argument), !(argument is NSNull) else {
            self = .one(.null)
            return
        }
        if let literal = Self.literal(argument) {
            self = .one(literal)
            return
        }
        guard let elements = argument as? any Sequence, !(argument is any DictionaryLike) else { return nil }
        var literals: [FormatLiteral] = []
        for element in elements {
            guard case .one(let literal)? = FormatArgument(element) else { return nil }
            literals.append(literal)
        }
        self = .many(literals)
    }

    /// Removes every layer of Optional.
    private static func unwrapped(_ argument: Any?) -> Any? {
        guard let argument else { return nil }
        guard let optional = argument as? any OptionalValue else { return argument }
        return unwrapped(optional.wrappedAny)
    }

    private static func literal(_ argument: Any) -> FormatLiteral? {
        switch argument {
        // An NSNumber would match any of the types it converts to, so it's checked first.
        case let value as NSNumber where type(of: argument) is NSNumber.Type: return literal(of: value)
        case let value as Bool: return .bool(value)
        case let object as ObjectBase: return .object(object)
        case let value as any FixedWidthInteger:
            guard let number = Int64(exactly: value) else { return .number(.double(Double(value)), text: "\(value)") }
            return .number(.int(number), text: "\(value)")
        case let value as Double: return .number(.double(value), text: "\(value)")
        case let value as Decimal:
            return .number(.double(NSDecimalNumber(decimal: value).doubleValue), text: "\(value)")
        case let value as Float: return .number(.double(Double(value)), text: "\(value)")
        case let value as NSString: return .value(.string(value as String))
        case let value as any StringProtocol: return .value(.string(String(value)))
        case let value as any Persistable:
            switch value._tomboloStored {
            case .object(let object): return .object(object)
            case .value(.null): return value is any Sequence ? nil : .null
            case .value(let value): return literal(of: value)
            }
        case let value as any RawRepresentable: return literal(value.rawValue)
        default: return nil
        }
    }

    private static func literal(of value: Value) -> FormatLiteral {
        switch value {
        case .null: .null
        case .bool(let value): .bool(value)
        case .int, .double: .number(value, text: value.description)
        default: .value(value)
        }
    }

    /// Uses the number's Objective-C type. <https://developer.apple.com/documentation/foundation/nsvalue/objctype>
    private static func literal(of number: NSNumber) -> FormatLiteral {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): .bool(number.boolValue)
        case UInt8(ascii: "d"), UInt8(ascii: "f"): .number(.double(number.doubleValue), text: number.stringValue)
        default: .number(.int(number.int64Value), text: number.stringValue)
        }
    }
}

private protocol OptionalValue { var wrappedAny: Any? { get } }
extension Optional: OptionalValue { fileprivate var wrappedAny: Any? { self } }

/// Sequences of pairs, which don't count as lists of values.
private protocol DictionaryLike {}
extension Dictionary: DictionaryLike {}
