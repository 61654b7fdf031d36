internal import TomboloModel

/// What counts as one address in limits: a single IPv4 address, or a /64 network of IPv6. That is the least that one
/// customer gets (RFC 6177), who would otherwise have 2^64 addresses.
public struct AddressGroup: Hashable, Sendable, CustomStringConvertible {
    /// The length of an IPv6 network's prefix, in bytes.
    public static let ipv6PrefixByteCount = 8

    /// `192.0.2.1`, or `20010db800000000/64`: for keys and logs.
    public let text: String

    /// - Parameter address: text that isn't an IP address is its own group.
    public init(_ address: String) {
        // Asked for every request, and almost always an IPv4 address as it is usually written.
        if IPAddress.isIPv4(address) {
            text = address
            return
        }
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
