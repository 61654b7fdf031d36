internal import Crypto
internal import Foundation

/// Names of files that contain strings supplied by an app.
package enum FileName {
    /// The maximum length of a name in bytes. File systems allow 255, and an extension and SQLite's `-journal` need
    /// some of them.
    package static let maximumByteCount = 200

    /// The name, or its SHA-256 in hexadecimal digits if it's too long.
    package static func fitting(_ name: String) -> String {
        guard name.utf8.count > maximumByteCount else { return name }
        return SHA256.hash(data: Data(name.utf8)).map { byte in
            let digits = String(byte, radix: 16)
            return digits.count < 2 ? "0\(digits)" : digits
        }.joined()
    }
}
