import Foundation

/// An IPv4 address (4 bytes) or an IPv6 address (16 bytes). An IPv4 address in IPv6 notation, `::ffff:192.0.2.1`,
/// counts as the IPv4 address (RFC 4291, section 2.5.5.2).
public struct IPAddress: Hashable, Sendable {
    /// The longest text of an address, in bytes: a full IPv6 address with a zone.
    static let maximumByteCount = 64
    private static let mappedPrefix: [UInt8] = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff]

    /// In network byte order.
    public let bytes: [UInt8]

    /// - Parameter text: such as `192.0.2.1` or `2001:db8::1`. A zone (`%eth0`) is ignored.
    /// - Returns: nil for anything else.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maximumByteCount, !text.utf8.contains(0) else { return nil }
        let plain = String(text.prefix { $0 != "%" })
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, plain, &bytes) == 1 {
            self.init(bytes: bytes.prefix(4))
        } else if inet_pton(AF_INET6, plain, &bytes) == 1 {
            self.init(bytes: bytes)
        } else {
            return nil
        }
    }

    /// Whether the text is four numbers from 0 to 255, without leading zeros, with dots between them.
    static func isIPv4(_ text: String) -> Bool {
        let (dot, zero) = (UInt8(ascii: "."), UInt8(ascii: "0"))
        var (dotCount, digitCount, number) = (0, 0, 0)
        for byte in text.utf8 {
            if byte == dot {
                guard digitCount > 0 else { return false }
                (dotCount, digitCount, number) = (dotCount + 1, 0, 0)
            } else {
                guard zero...(zero + 9) ~= byte, digitCount == 0 || number > 0 else { return false }
                number = number * 10 + Int(byte - zero)
                guard number <= 255 else { return false }
                digitCount += 1
            }
        }
        return dotCount == 3 && digitCount > 0
    }

    /// - Parameter bytes: in network byte order.
    /// - Returns: nil unless there are 4 or 16 of them.
    public init?(bytes: some Collection<UInt8>) {
        switch bytes.count {
        case 4: self.bytes = Array(bytes)
        case 16: self.bytes = Array(bytes.starts(with: Self.mappedPrefix) ? bytes.suffix(4) : bytes.suffix(16))
        default: return nil
        }
    }

    public var isIPv4: Bool { bytes.count == 4 }

    /// `192.0.2.1` or `2001:db8::1`, as it is usually written (RFC 5952).
    public var text: String {
        var text = [CChar](repeating: 0, count: Self.maximumByteCount)
        _ = inet_ntop(isIPv4 ? AF_INET : AF_INET6, bytes, &text, socklen_t(text.count))
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
