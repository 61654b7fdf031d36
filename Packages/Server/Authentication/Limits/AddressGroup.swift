internal import TomboloModel

/// What counts as one place in limits by address: a single address of IPv4, a /64 network of IPv6, which is the least
/// that one customer gets (RFC 6177) and could otherwise be 2^64 places.
public struct AddressGroup: Hashable, Sendable, CustomStringConvertible {
    /// The IPv6 network that counts as one, in bytes of its prefix.
    public static let ipv6PrefixByteCount = 8

    /// `192.0.2.1`, or `20010db800000000/64`: for keys and logs.
    public let text: String

    /// - Parameter address: text that isn't an IP address is a group of its own.
    public init(_ address: String) {
        guard let parsed = IPAddress(address) else {
            text = String(address.prefix(byteCount: IPAddress.maximumByteCount))
            return
        }
        if parsed.isIPv4 {
            text = parsed.bytes.map(String.init).joined(separator: ".")
        } else {
            let prefix = parsed.bytes.prefix(Self.ipv6PrefixByteCount)
            text = prefix.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "/64"
        }
    }

    public var description: String { text }
}
