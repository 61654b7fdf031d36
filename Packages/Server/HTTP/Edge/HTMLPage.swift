import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore

extension Request {
    /// Whether a browser asks for a page: it names HTML first. Programs say `*/*` or JSON.
    public var wantsPage: Bool {
        guard method == .get, let accept = headers[.accept] else { return false }
        return accept.lowercased().hasPrefix("text/html")
    }
}

/// An HTML answer. Its policy lets a browser run and load nothing that the page does not bring itself.
public struct HTMLPage: ResponseGenerator, Sendable {
    /// No scripts, no frames, no forms; styles in the page and images by HTTPS.
    public static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'"

    public let html: String

    /// - Parameter html: a whole document, everything from outside escaped.
    public init(_ html: String) { self.html = html }

    public func response(from request: Request, context: some RequestContext) throws -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.contentSecurityPolicy,
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// `text` with the five characters escaped that have a meaning in HTML text and attributes.
    public static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: { escapes($0) != nil }) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + text.utf8.count / 8)
        for byte in text.utf8 {
            if let escape = escapes(byte) { result.append(contentsOf: escape.utf8) } else { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// Bytes of an address.
    private static let maximumAddressLength = 2_048

    /// A text that is the address of a web page, as it is; nil for any other, such as `javascript:` and its like, and
    /// for one with a user, which looks like that of another host.
    public static func webAddress(_ text: String) -> String? {
        let lower = text.prefix(8).lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://"), text.utf8.count <= maximumAddressLength,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }), let address = URL(string: text), address.host() != nil,
            address.user() == nil
        else { return nil }
        return text
    }

    /// What stands for a byte of ASCII; nil for one that stands for itself. Other bytes of UTF-8 are none of these.
    private static func escapes(_ byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        default: nil
        }
    }
}
