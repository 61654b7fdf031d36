import NIOCore
import Testing
import TomboloAuthentication

@testable import TomboloHTTP

/// PROXY protocol headers as bytes.
enum ProxyBytes {
    static let signature: [UInt8] = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]

    /// A version 2 header.
    static func binary(_ command: UInt8, _ kind: UInt8, _ rest: [UInt8], version: UInt8 = 2) -> [UInt8] {
        signature + [version << 4 | command, kind, UInt8(rest.count >> 8), UInt8(rest.count & 0xff)] + rest
    }

    static func text(_ line: String) -> [UInt8] { Array((line + "\r\n").utf8) }

    /// 192.0.2.1, port 56324, to 198.51.100.1, port 443.
    static let ipv4: [UInt8] = [192, 0, 2, 1, 198, 51, 100, 1, 0xdc, 0x04, 0x01, 0xbb]
    /// 2001:db8::1 to 2001:db8::2.
    static let ipv6: [UInt8] =
        [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [1]
        + [0x20, 0x01, 0x0d, 0xb8] + [UInt8](repeating: 0, count: 11) + [2] + [0xdc, 0x04, 0x01, 0xbb]
    /// An additional field as proxies append it: its type, its length and its value.
    static let field: [UInt8] = [0x05, 0, 4, 1, 2, 3, 4]
}

@Suite struct ProxyHeaderTests {
    private static func client(_ text: String) -> ProxyHeader { IPAddress(text).map { .client($0) } ?? .unknownClient }

    /// Valid headers and their meaning.
    private static let good: [(bytes: [UInt8], says: ProxyHeader)] = [
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443"), client("192.0.2.1")),
        (ProxyBytes.text("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535"), client("255.255.255.255")),
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 0 443"), client("192.0.2.1")),
        (ProxyBytes.text("PROXY TCP6 2001:db8::1 2001:db8::2 56324 443"), client("2001:db8::1")),
        (ProxyBytes.text("PROXY TCP6 ::ffff:192.0.2.1 ::1 56324 443"), client("192.0.2.1")),
        (ProxyBytes.text("PROXY UNKNOWN"), .unknownClient),
        // The longest line that the specification allows, with 107 bytes.
        (
            ProxyBytes.text(
                "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff 65535 65535"
            ), .unknownClient
        ),
        (ProxyBytes.binary(1, 0x11, ProxyBytes.ipv4), client("192.0.2.1")),
        (ProxyBytes.binary(1, 0x11, ProxyBytes.ipv4 + ProxyBytes.field), client("192.0.2.1")),
        (ProxyBytes.binary(1, 0x21, ProxyBytes.ipv6), client("2001:db8::1")),
        (ProxyBytes.binary(1, 0x21, ProxyBytes.ipv6 + ProxyBytes.field), client("2001:db8::1")),
        (ProxyBytes.binary(1, 0x31, [UInt8](repeating: 0x2f, count: 216)), .unknownClient),
        (ProxyBytes.binary(1, 0x00, []), .unknownClient),
        (ProxyBytes.binary(0, 0x00, []), .proxyItself),
        // A proxy's addresses for its own connection are ignored.
        (ProxyBytes.binary(0, 0xff, [1, 2, 3]), .proxyItself),
        (ProxyBytes.binary(0, 0x11, ProxyBytes.ipv4), .proxyItself),
        (ProxyBytes.binary(0, 0x00, [UInt8](repeating: 0, count: 2_048 - 16)), .proxyItself),
    ]

    private static let bad: [(bytes: [UInt8], reason: String)] = [
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 56324"), "5 words"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443 "), "7 words"),
        (ProxyBytes.text("PROXY  TCP4 192.0.2.1 198.51.100.1 56324 443"), "protocol"),
        (ProxyBytes.text("PROXY TCP4  192.0.2.1 198.51.100.1 56324 443"), "7 words"),
        (ProxyBytes.text("PROXY UDP4 192.0.2.1 198.51.100.1 56324 443"), "protocol"),
        (ProxyBytes.text("PROXY tcp4 192.0.2.1 198.51.100.1 56324 443"), "protocol"),
        (ProxyBytes.text("PROXY UNKNOWNS"), "protocol"),
        (ProxyBytes.text("PROXY TCP4 2001:db8::1 198.51.100.1 56324 443"), "IPv4"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.256 198.51.100.1 56324 443"), "IPv4"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.01 198.51.100.1 56324 443"), "IPv4"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 nowhere 56324 443"), "IPv4"),
        (ProxyBytes.text("PROXY TCP6 192.0.2.1 198.51.100.1 56324 443"), "IPv6"),
        (ProxyBytes.text("PROXY TCP6 fe80::1%eth0 ::1 56324 443"), "IPv6"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 65536 443"), "port"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 56324 0443"), "port"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 +5 443"), "port"),
        (ProxyBytes.text("PROXY TCP4 192.0.2.1 198.51.100.1 56324 "), "port"),
        (Array("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\n".utf8), "isn't text"),
        (Array("PROXY TCP4 192.0.2.1 198.51.100.1 56324 443\rX".utf8), "without a line feed"),
        (Array("PROXY TCP4 192.0.2.1\0 198.51.100.1 56324 443\r\n".utf8), "isn't text"),
        (Array("PROXY UNKNOWN \u{e9}\r\n".utf8), "isn't text"),
        (ProxyBytes.text("PROXY UNKNOWN " + String(repeating: "x", count: 92)), "107"),
        (Array("PROXY UNKNOWN ".utf8) + [UInt8](repeating: 0x20, count: 93), "107"),
        (ProxyBytes.binary(1, 0x11, ProxyBytes.ipv4, version: 1), "version is 1;"),
        (ProxyBytes.binary(1, 0x11, ProxyBytes.ipv4, version: 3), "version is 3;"),
        (ProxyBytes.binary(2, 0x11, ProxyBytes.ipv4), "command is 2,"),
        (ProxyBytes.binary(1, 0x11, Array(ProxyBytes.ipv4.dropLast())), "11 bytes"),
        (ProxyBytes.binary(1, 0x21, ProxyBytes.ipv4), "12 bytes"),
        (ProxyBytes.binary(1, 0x31, ProxyBytes.ipv6), "36 bytes"),
        (ProxyBytes.binary(1, 0x12, ProxyBytes.ipv4), "type is 0x12"),
        (ProxyBytes.binary(1, 0x10, ProxyBytes.ipv4), "type is 0x10"),
        (ProxyBytes.binary(1, 0x41, ProxyBytes.ipv4), "type is 0x41"),
        (ProxyBytes.binary(1, 0x11, [UInt8](repeating: 0, count: 2_048 - 15)), "2049 bytes"),
        (ProxyBytes.signature + [0x21, 0x11, 0xff, 0xff], "65551 bytes"),
    ]

    @Test("headers of both versions give the client's address, whatever follows them")
    func reads() throws {
        for (bytes, header) in Self.good {
            for following in [[], Array("GET / HTTP/1.1\r\n".utf8), [0], bytes] {
                let outcome = try ProxyHeaderParser.parse(bytes + following)
                #expect(outcome == .header(header, byteCount: bytes.count), "\(bytes)")
            }
        }
    }

    @Test("a header cut off at any byte is treated as incomplete")
    func truncated() throws {
        for (bytes, _) in Self.good {
            for count in 0..<bytes.count {
                #expect(try ProxyHeaderParser.parse(Array(bytes.prefix(count))) == .incomplete, "\(bytes) at \(count)")
            }
        }
    }

    @Test("anything that the specification forbids is an error with a reason, at the latest once all of it has arrived")
    func refuses() {
        for (bytes, reason) in Self.bad {
            let error = #expect(throws: ProxyHeaderError.self, "\(String(decoding: bytes, as: UTF8.self))") {
                try ProxyHeaderParser.parse(bytes)
            }
            #expect(error?.description.contains(reason) == true, "\(bytes): \(error?.description ?? "no error")")
        }
    }

    @Test("anything that doesn't begin like a header isn't one, as shown by the first byte that differs")
    func absent() throws {
        let others = [
            "GET / HTTP/1.1\r\n", "POST /login HTTP/1.1", "PROXX ", "PROXYTCP4", "\r\n\r\n\r\n", "\u{16}\u{3}",
        ]
        for text in others { #expect(try ProxyHeaderParser.parse(Array(text.utf8)) == .absent, "\(text)") }
        for count in ProxyBytes.signature.indices {
            let almost = Array(ProxyBytes.signature.prefix(count)) + [0xff]
            #expect(try ProxyHeaderParser.parse(almost) == .absent)
        }
    }

    private static let strangeBytes: [UInt8] = [
        0, 1, 2, 7, 8, 0x0a, 0x0d, 0x20, 0x21, 0x2f, 0x30, 0x39, 0x3a, 0x41, 0x50, 0x7f, 0x80, 0xfe, 0xff,
    ]

    @Test("no single changed byte makes a header exceed its limit, or include what follows it")
    func corrupted() {
        for (bytes, _) in Self.good where bytes.count <= 128 {
            for index in bytes.indices {
                for value in Self.strangeBytes + [bytes[index] ^ 1, bytes[index] &+ 1] {
                    var changed = bytes
                    changed[index] = value
                    // A changed length may reach further, so append as much as the longest header needs.
                    let filled = changed + [UInt8](repeating: 0x41, count: ProxyHeaderParser.maximumByteCount)
                    switch Result(catching: { try ProxyHeaderParser.parse(filled) }) {
                    case .failure, .success(.absent): break
                    case .success(.incomplete): Issue.record("\(changed) is treated as incomplete forever")
                    case .success(.header(_, let byteCount)):
                        #expect(byteCount <= ProxyHeaderParser.maximumByteCount)
                        let isLength = bytes[0] == 0x0d && (14...15).contains(index)
                        #expect(isLength || byteCount == bytes.count, "\(changed)")
                    }
                }
            }
        }
    }

    @Test("refusals of one kind are logged once a minute, with the number since the last one")
    func logged() {
        let log = LogRecorder()
        let refusals = ProxyRefusalLog()
        func note(_ refusal: ProxyRefusal, _ seconds: Int64) {
            refusals.note(
                refusal, from: "192.0.2.1", now: .uptimeNanoseconds(0) + .seconds(1_000 + seconds), to: log.logger)
        }
        for second in Int64(0)..<60 { note(.missing, second) }
        note(.untrusted, 30)
        for refusal in [ProxyRefusal.late, .ended] { note(refusal, 30) }
        note(.malformed(ProxyHeaderError("its version is 7; only 1 and 2 are supported")), 31)
        #expect(log.text.split(separator: "\n").count == 3, "\(log.text)")
        note(.missing, 60)
        let lines = log.text.split(separator: "\n")
        #expect(lines.count == 4 && lines[3].contains("59 more since"), "\(log.text)")
        #expect(lines[0].contains("TOMBOLO_PROXY_PROTOCOL") && lines[1].contains("TOMBOLO_TRUSTED_PROXIES"))
        #expect(lines[2].contains("version is 7;"))
    }
}
