package import HTTPTypes
package import TomboloHTTP

/// A request that can be sent as it is, with an access token.
package struct ExampleRequest: Sendable {
    /// Stands for an object's id that the reader has to choose.
    package static let placeholder = "ID"

    /// What the request does: `List sessions`.
    package let title: String
    package let method: HTTPRequest.Method
    /// Percent-encoded.
    package let path: String
    /// Names such as `filter[price][ge]`, in which only the brackets stay unencoded, and plain values.
    package var query: [(name: String, value: String)] = []
    /// The version of a resource.
    package var ifMatch: String?
    package var body: JSON?

    init(
        _ title: String, _ method: HTTPRequest.Method, _ path: String, query: [(name: String, value: String)] = [],
        ifMatch: String? = nil, body: JSON? = nil
    ) {
        self.title = title
        self.method = method
        self.path = path
        self.query = query
        self.ifMatch = ifMatch
        self.body = body
    }

    /// Whether the reader has to choose an id.
    package var asksForID: Bool {
        path.split(separator: "/").contains { $0 == Self.placeholder }
            || body?.indented().contains("\"\(Self.placeholder)\"") == true
    }

    /// A command for a shell in which `TOKEN` is an access token.
    /// - Parameter server: `https://admin.example.org`
    package func curl(at server: String) -> String {
        let way = method != .get ? "-s -X \(method.rawValue)" : query.isEmpty ? "-s" : "-sG"
        var parts = [
            "curl \(way) \(ShellText.quoted(server + path))", #"-H "Authorization: Bearer $TOKEN""#,
        ]
        if let ifMatch { parts.append("-H \(ShellText.quoted("If-Match: \"\(ifMatch)\""))") }
        if let body {
            parts.append("-H \(ShellText.quoted("Content-Type: \(JSONAPIMediaType.name)"))")
            parts.append("-d \(ShellText.quoted(body.indented()))")
        }
        parts += query.map { "--data-urlencode \(ShellText.quoted("\($0)=\($1)"))" }
        return parts.joined(separator: " \\\n  ")
    }
}

/// Text in POSIX shell commands.
package enum ShellText {
    /// Puts text in single quotes, in which only a single quote has a meaning. It works on bytes: Swift takes a quote
    /// and a combining accent after it for one character, and a shell doesn't.
    package static func quoted(_ text: String) -> String {
        let quote = UInt8(ascii: "'")
        var bytes = [quote]
        for byte in text.utf8 {
            bytes += byte == quote ? Array(#"'\''"#.utf8) : [byte]
        }
        return String(decoding: bytes + [quote], as: UTF8.self)
    }
}
