import Crypto
import Foundation

extension String {
    /// The digest in upper-case hexadecimal.
    var sha1: String {
        Insecure.SHA1.hash(data: Data(utf8)).map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
            .joined()
    }
}
