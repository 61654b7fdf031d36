/// Identifies one device file: 63 random bits chosen when the file is made. Breaks ties between equal stamps.
public struct ClientID: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
    public let rawValue: Int64

    /// Any positive number; 0 and negative numbers are never generated.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: ClientID, right: ClientID) -> Bool { left.rawValue < right.rawValue }

    /// A new identifier, from 1 to `Int64.max`.
    public static func random(using generator: inout some RandomNumberGenerator) -> ClientID {
        ClientID(rawValue: Int64.random(in: 1 ... .max, using: &generator))
    }

    public var description: String { String(rawValue, radix: 36) }
}
