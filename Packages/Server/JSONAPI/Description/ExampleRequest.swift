package import HTTPTypes
package import TomboloHTTP

/// A request that can be sent as it is, with an access token.
package struct ExampleRequest: Sendable {
    /// What stands for the id of an object where the reader has to choose one.
    package static let placeholder = "ID"

    /// What it does: `List sessions`.
    package let title: String
    package let method: HTTPRequest.Method
    /// Percent-encoded.
    package let path: String
    /// Names such as `filter[price][ge]`, whose brackets alone aren't encoded, and values as they are.
    package var query: [(name: String, value: String)] = []
    /// A version of the resource.
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

/// Text in the commands of a POSIX shell.
package enum ShellText {
    /// In single quotes, where nothing but a single quote has a meaning. Goes by bytes: for Swift a quote and a combining
    /// accent that follows are one character, and for a shell they aren't.
    package static func quoted(_ text: String) -> String {
        let quote = UInt8(ascii: "'")
        var bytes = [quote]
        for byte in text.utf8 {
            bytes += byte == quote ? Array(#"'\''"#.utf8) : [byte]
        }
        return String(decoding: bytes + [quote], as: UTF8.self)
    }
}
