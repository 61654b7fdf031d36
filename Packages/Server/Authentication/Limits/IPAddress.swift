import Foundation

/// An address of IPv4 (4 bytes) or IPv6 (16 bytes). An IPv4 address in IPv6 notation, `::ffff:192.0.2.1`, is the IPv4
/// address (RFC 4291, section 2.5.5.2).
public struct IPAddress: Hashable, Sendable {
    /// The longest text of an address, in bytes: a full IPv6 address with a zone.
    static let maximumByteCount = 64
    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    /// In network order.
    public let bytes: [UInt8]

    /// - Parameter text: such as `192.0.2.1` or `2001:db8::1`; a zone (`%eth0`) is left out.
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumByteCount, !text.utf8.contains(0) else { return nil }
        let plain = String(text.prefix { $0 != "%" })
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, plain, &bytes) == 1 {
            self.bytes = Array(bytes.prefix(4))
        } else if inet_pton(AF_INET6, plain, &bytes) == 1 {
            self.bytes = bytes.starts(with: Self.mappedPrefix) ? Array(bytes.suffix(4)) : bytes
        } else {
            return nil
        }
    }

    public var isIPv4: Bool { bytes.count == 4 }
}
