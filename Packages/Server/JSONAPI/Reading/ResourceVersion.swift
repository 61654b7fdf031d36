import Crypto
import HTTPTypes
import Hummingbird
import TomboloHTTP

/// Versions of what a caller sees, as ETags (RFC 9110, section 8.8.3): made of the bytes, and of nothing that the
/// caller may not see, which could be guessed from it otherwise.
package enum ResourceVersion {
    private static let byteCount = 12

    /// 24 hexadecimal digits.
    package static func of(_ bytes: ArraySlice<UInt8>) -> String {
        var json = JSONBytes()
        SHA256.hash(data: bytes).withUnsafeBytes { digest in
            json.append(hex: UnsafeRawBufferPointer(rebasing: digest[..<byteCount]))
        }
        return String(decoding: json.bytes.dropFirst().dropLast(), as: UTF8.self)
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
