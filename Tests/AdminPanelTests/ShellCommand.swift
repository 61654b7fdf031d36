import Foundation
import HTTPTypes
import ServiceTestSupport
import Testing
import TomboloHTTP

/// The request that a `curl` command sends, parsed as a POSIX shell and curl would.
struct ShellCommand {
    private(set) var method = HTTPRequest.Method.get
    /// Includes the query.
    private(set) var path = ""
    private(set) var headers: [String: String] = [:]
    private(set) var body: String?

    /// The commands in a page's `<pre class="…">` elements, as the browser displays them.
    static func all(in page: String, class name: String = "request") -> [String] {
        page.components(separatedBy: "<pre class=\"\(name)\"").dropFirst().compactMap { part in
            guard let start = part.range(of: "<code>"), let end = part.range(of: "</code>") else { return nil }
            return decoded(String(part[start.upperBound..<end.lowerBound]))
        }
    }

    /// Works on bytes: together with a combining accent, the end of an escape would be a different Swift Character.
    private static func decoded(_ text: String) -> String {
        let escapes = ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&"]
        var (rest, bytes) = (Array(text.utf8)[...], [UInt8]())
        while let first = rest.first {
            let escape = first == UInt8(ascii: "&") ? escapes.first { rest.starts(with: $0.key.utf8) } : nil
            bytes += escape.map { Array($0.value.utf8) } ?? [first]
            rest = rest.dropFirst(escape?.key.utf8.count ?? 1)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    init(_ text: String) throws {
        var words = try Self.words(text)[...]
        let program = words.popFirst()
        try #require(program == "curl")
        var query: [String] = []
        while let word = words.popFirst() {
            switch word {
            case "-s", "-sG": continue
            case "-X":
                let name = words.popFirst() ?? ""
                method = try #require(HTTPRequest.Method(name))
            case "-d": body = words.popFirst()
            case "-H":
                let header = (words.popFirst() ?? "").split(separator: ":", maxSplits: 1)
                try #require(header.count == 2)
                headers[String(header[0])] = header[1].trimmingCharacters(in: .whitespaces)
            case "--data-urlencode":
                let sides = (words.popFirst() ?? "").split(
                    separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                try #require(sides.count == 2)
                query.append("\(sides[0])=\(PanelBrowser.encode(String(sides[1])))")
            default:
                // Without scheme and host.
                let start = try #require(word.range(of: "://"), "\(word)").upperBound
                path = String(word[start...].drop { $0 != "/" })
            }
        }
        if body != nil, method == .get { method = .post }
        if !query.isEmpty { path += "?\(query.joined(separator: "&"))" }
    }

    /// Fills in an id where the reader has to.
    mutating func choose(_ id: String) {
        path = path.replacing("/ID", with: "/\(id)")
        body = body?.replacing("\"id\": \"ID\"", with: "\"id\": \"\(id)\"")
    }

    /// Splits a command into words, by Unicode scalar: a quote followed by a combining accent is still a quote.
    private static func words(_ text: String) throws -> [String] {
        var (words, word): ([String], String.UnicodeScalarView?) = ([], nil)
        var scalars = text.unicodeScalars.makeIterator()
        func end() {
            if let found = word { words.append(String(found)) }
            word = nil
        }
        while let scalar = scalars.next() {
            switch scalar {
            case " ", "\n": end()
            case "\\":
                guard let next = scalars.next(), next != "\n" else { continue }
                word = (word ?? .init()) + [next]
            case "'", "\"":
                var part = String.UnicodeScalarView()
                while let next = scalars.next(), next != scalar { part.append(next) }
                // Only the variable with the token is in double quotes.
                if scalar == "\"" { try #require(String(part) == "Authorization: Bearer $TOKEN") }
                word = (word ?? .init()) + part
            default: word = (word ?? .init()) + [scalar]
            }
        }
        end()
        return words
    }
}
