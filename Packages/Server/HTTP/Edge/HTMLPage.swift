import Foundation
import HTTPTypes
public import Hummingbird
import NIOCore

extension Request {
    /// Whether a browser asks for a page: it names HTML first. Programs send `*/*` or JSON.
    public var wantsPage: Bool {
        guard method == .get, let accept = headers[.accept] else { return false }
        return accept.lowercased().hasPrefix("text/html")
    }
}

/// An HTML answer. Its policy keeps a browser from loading or running anything that isn't part of the page.
public struct HTMLPage: ResponseGenerator, Sendable {
    /// No scripts, no frames, no forms; styles in the page and images by HTTPS.
    public static let contentSecurityPolicy =
        "default-src 'none'; style-src 'unsafe-inline'; img-src https:; base-uri 'none'; form-action 'none'; "
        + "frame-ancestors 'none'"

    public let html: String

    /// - Parameter html: a whole document, in which all external text is escaped.
    public init(_ html: String) { self.html = html }

    public func response(from request: Request, context: some RequestContext) throws -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "text/html; charset=utf-8", .contentSecurityPolicy: Self.contentSecurityPolicy,
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    /// Escapes the five characters of `text` that have a meaning in HTML text and attributes.
    public static func escape(_ text: String) -> String {
        guard text.utf8.contains(where: { escapes($0) != nil }) else { return text }
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count + text.utf8.count / 8)
        for byte in text.utf8 {
            if let escape = escapes(byte) { result.append(contentsOf: escape.utf8) } else { result.append(byte) }
        }
        return String(decoding: result, as: UTF8.self)
    }

    /// In bytes.
    private static let maximumAddressLength = 2_048

    /// Returns the text if it is the address of a web page. Nil for any other text, such as `javascript:` and the like,
    /// and for an address with a user name, which could pass for another host's.
    public static func webAddress(_ text: String) -> String? {
        let lower = text.prefix(8).lowercased()
        guard lower.hasPrefix("https://") || lower.hasPrefix("http://"), text.utf8.count <= maximumAddressLength,
            text.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }), let address = URL(string: text), address.host() != nil,
            address.user() == nil
        else { return nil }
        return text
    }

    /// The escape of an ASCII byte; nil for a byte that needs none. The other bytes of UTF-8 never need one.
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
