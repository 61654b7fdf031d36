import Crypto
import HTTPTypes
import Hummingbird
import TomboloHTTP

/// Versions of what a caller sees, for ETags (RFC 9110, section 8.8.3). They are computed from the bytes alone.
/// Anything that the caller may not see stays out, since it could be guessed from the version.
package struct ResourceVersion: Sendable {
    private static let byteCount = 12

    private let digest: SHA256Digest

    package init(of bytes: ArraySlice<UInt8>) {
        var hash = SHA256()
        bytes.withUnsafeBytes { hash.update(bufferPointer: $0) }
        digest = hash.finalize()
    }

    /// 24 hexadecimal digits.
    package var text: String {
        var json = JSONBytes(capacity: 2 * Self.byteCount + 2)
        append(to: &json)
        return String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)
    }

    /// Appends the digits as a string.
    func append(to json: inout JSONBytes) {
        digest.withUnsafeBytes { json.append(hex: UnsafeRawBufferPointer(rebasing: $0[..<Self.byteCount])) }
    }

    /// Whether a header with a list of ETags names a version, or is `*`.
    package static func matches(_ header: String, _ version: String) -> Bool {
        header.split(separator: ",").contains { part in
            var tag = part.drop { $0 == " " || $0 == "\t" }
            while tag.last == " " || tag.last == "\t" { tag.removeLast() }
            if tag == "*" { return true }
            if tag.hasPrefix("W/") { tag = tag.dropFirst(2) }
            return tag == "\"\(version)\""
        }
    }
}
