import Foundation

/// Requirements for an address that goes into mails and headers: it may have only the characters of RFC 3986, so that
/// no mail program ends the link early or reads too far.
enum LinkAddress {
    private static let marks = Set("-._~:/?#[]@!$&'()*+,;=%".utf8)

    /// - Returns: the parts of an address, which has a scheme; nil for any other text. A web address must also have a
    ///   host, and no port outside the valid range.
    static func parts(of text: String) -> URLComponents? {
        guard text.utf8.allSatisfy({ isAlphanumeric($0) || marks.contains($0) }),
            let parts = URLComponents(string: text), let scheme = parts.scheme, !scheme.isEmpty
        else { return nil }
        guard ["http", "https"].contains(scheme.lowercased()) else { return parts }
        guard let host = parts.encodedHost, isHost(host), (1...65_535).contains(parts.port ?? 1) else {
            return nil
        }
        return parts
    }

    /// A name, an IPv4 address, or an IPv6 address in brackets.
    private static func isHost(_ text: String) -> Bool {
        if text.hasPrefix("[") { return text.hasSuffix("]") }
        let labels = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return labels.allSatisfy { label in
            guard let first = label.first, let last = label.last else { return false }
            return isAlphanumeric(first) && isAlphanumeric(last)
                && label.allSatisfy { isAlphanumeric($0) || $0 == UInt8(ascii: "-") }
        }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: false
        }
    }
}
