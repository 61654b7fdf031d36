import TomboloAuthentication

/// Reads the header at the beginning of a connection that uses the PROXY protocol, in either version
/// (https://www.haproxy.org/download/2.6/doc/proxy-protocol.txt). It is strict: anything that the specification doesn't
/// permit is an error, since a proxy that deviates isn't understood.
///
/// Version 1 is a line of ASCII with single spaces, `PROXY TCP4 192.0.2.1 198.51.100.1 56324 443` or with `TCP6`:
/// source and destination, then their ports; or `PROXY UNKNOWN`, followed by anything.
///
/// Version 2, with offsets and sizes in bytes:
///
///     0   12  0D 0A 0D 0A 00 0D 0A 51 55 49 54 0A
///     12  1   high half: 2; low half: the command, 0 LOCAL, 1 PROXY
///     13  1   high half: the family, 0 none, 1 IPv4, 2 IPv6, 3 Unix; low half: 0 none, 1 stream, 2 datagram
///     14  2   how many bytes follow, big-endian
///     16      source and destination: 4 bytes each for IPv4, 16 for IPv6, 108 for Unix; then the ports, 2 bytes each, except
///             for Unix; then fields that are ignored
enum ProxyHeaderParser {
    /// The longest line of version 1, including its end (section 2.1).
    static let maximumLineByteCount = 107
    /// The longest accepted header of version 2, in bytes. Proxies add fields, such as a certificate's name; the
    /// specification asks them to stay below 536 bytes.
    static let maximumBinaryByteCount = 2_048
    /// The most bytes that are looked at.
    static let maximumByteCount = max(maximumLineByteCount, maximumBinaryByteCount)

    enum Outcome: Hashable, Sendable {
        /// The bytes so far may become a header.
        case incomplete
        /// The bytes don't begin like a header.
        case absent
        case header(ProxyHeader, byteCount: Int)
    }

    private static let lineStart = Array("PROXY ".utf8)
    private static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]

    /// - Parameter bytes: the connection's first bytes. They may extend beyond the header.
    static func parse(_ bytes: [UInt8]) throws(ProxyHeaderError) -> Outcome {
        if let begins = begins(bytes, lineStart) { return begins ? try line(bytes) : .incomplete }
        if let begins = begins(bytes, signature) { return begins ? try binary(bytes) : .incomplete }
        return .absent
    }

    /// Whether the bytes begin with `start`: nil if not, false if there are too few to tell.
    private static func begins(_ bytes: [UInt8], _ start: [UInt8]) -> Bool? {
        guard zip(bytes, start).allSatisfy({ $0 == $1 }) else { return nil }
        return bytes.count >= start.count
    }

    // MARK: Version 1

    private static func line(_ bytes: [UInt8]) throws(ProxyHeaderError) -> Outcome {
        let (carriageReturn, lineFeed) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))
        let start = bytes.prefix(maximumLineByteCount)
        guard let end = start.firstIndex(where: { !(0x20...0x7e).contains($0) }) else {
            guard bytes.count < maximumLineByteCount else {
                throw ProxyHeaderError("its line has more than \(maximumLineByteCount) bytes")
            }
            return .incomplete
        }
        guard bytes[end] == carriageReturn else { throw ProxyHeaderError("its line has a byte that isn't text") }
        guard end + 1 < maximumLineByteCount else {
            throw ProxyHeaderError("its line has more than \(maximumLineByteCount) bytes")
        }
        guard end + 1 < bytes.count else { return .incomplete }
        guard bytes[end + 1] == lineFeed else {
            throw ProxyHeaderError("its line has a carriage return without a line feed")
        }
        return .header(try fields(String(decoding: bytes[..<end], as: UTF8.self)), byteCount: end + 2)
    }

    private static func fields(_ line: String) throws(ProxyHeaderError) -> ProxyHeader {
        let parts = line.split(separator: " ", omittingEmptySubsequences: false)
        switch parts[1] {
        case "UNKNOWN": return .unknownClient
        case "TCP4", "TCP6": break
        default: throw ProxyHeaderError("its protocol isn't TCP4, TCP6 or UNKNOWN")
        }
        guard parts.count == 6 else {
            throw ProxyHeaderError("its line has \(parts.count) words instead of 6, with single spaces between them")
        }
        guard let source = address(parts[2], parts[1]), address(parts[3], parts[1]) != nil else {
            throw ProxyHeaderError("it has an address that isn't \(parts[1] == "TCP4" ? "IPv4" : "IPv6")")
        }
        guard isPort(parts[4]), isPort(parts[5]) else {
            throw ProxyHeaderError("it has a port that isn't a number from 0 to 65535")
        }
        return .client(source)
    }

    private static func address(_ text: Substring, _ family: Substring) -> IPAddress? {
        guard text.contains(":") == (family == "TCP6"), !text.contains("%") else { return nil }
        return IPAddress(text)
    }

    private static func isPort(_ text: Substring) -> Bool {
        // `Int` would accept a sign, and a number other than zero may not begin with 0.
        guard text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), text == "0" || !text.hasPrefix("0") else {
            return false
        }
        return UInt16(text) != nil
    }

    // MARK: Version 2

    private static func binary(_ bytes: [UInt8]) throws(ProxyHeaderError) -> Outcome {
        if bytes.count > 12, bytes[12] >> 4 != 2 {
            throw ProxyHeaderError("its version is \(bytes[12] >> 4); only 1 and 2 are supported")
        }
        if bytes.count > 12, bytes[12] & 0xf > 1 {
            throw ProxyHeaderError("its command is \(bytes[12] & 0xf), which is neither LOCAL nor PROXY")
        }
        guard bytes.count >= 16 else { return .incomplete }
        let byteCount = 16 + Int(bytes[14]) << 8 + Int(bytes[15])
        guard byteCount <= maximumBinaryByteCount else {
            throw ProxyHeaderError("it has \(byteCount) bytes; at most \(maximumBinaryByteCount) are allowed")
        }
        guard bytes.count >= byteCount else { return .incomplete }
        // For its own connections, a proxy needn't send anything else (section 2.2).
        if bytes[12] & 0xf == 0 { return .header(.proxyItself, byteCount: byteCount) }
        return .header(try client(bytes[..<byteCount]), byteCount: byteCount)
    }

    private static func client(_ bytes: ArraySlice<UInt8>) throws(ProxyHeaderError) -> ProxyHeader {
        let kind = bytes[13]
        if kind == 0x00 { return .unknownClient }
        guard let sizes = addressByteCounts[kind] else {
            throw ProxyHeaderError(
                "its address type is 0x\(String(kind, radix: 16)); only TCP over IPv4 or IPv6, and Unix, are supported")
        }
        guard bytes.count - 16 >= sizes.all else {
            throw ProxyHeaderError("it has \(bytes.count - 16) bytes of addresses instead of \(sizes.all)")
        }
        return IPAddress(bytes: bytes[16..<(16 + sizes.source)]).map { .client($0) } ?? .unknownClient
    }

    /// By family and transport: the bytes of the source's IP address, and those of both addresses with their ports.
    private static let addressByteCounts: [UInt8: (source: Int, all: Int)] = [
        0x11: (4, 12), 0x21: (16, 36), 0x31: (0, 216),
    ]
}
