import AdminService
import Foundation
import TomboloHTTP
import TomboloLocalization

@testable import AdminPanel

/// The translatable texts in the sources: in Swift, templates and the script, or those in mails.
struct MessageSources {
    struct Message: Hashable {
        var context: String?
        let text: String
        var plural: String?
    }

    private(set) var messages: [Message] = []
    /// Where each text occurs first.
    private(set) var places: [Message: String] = [:]
    /// Texts that can't be extracted from the sources, or that would be in one language for everybody.
    private(set) var problems: [String] = []

    static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
    private static let panel = root.appending(path: "Packages/Server/AdminPanel")
    /// The modules whose texts appear in the panel.
    private static let modules = [
        "Server/AdminPanel", "Server/AdminService", "Server/JSONAPI", "Server/HTTP", "Server/Authentication",
        "Server/PostgresStore", "Server/ServerModel", "Server/GatewayService", "Core/Model", "Core/Rules",
        "Core/RuleDocuments", "Tools/Migration",
    ]

    /// The mails' texts, which servers without a panel use too.
    private static let mails = root.appending(path: "Packages/Server/Authentication/Mail/Texts")

    /// The catalogues themselves, and files that only pass on other texts.
    private static let others =
        BuiltInTranslations.files.keys.map { "\($0.capitalized).swift" } + ["RequestFailure+Localized.swift"]

    static func ofMails() throws -> MessageSources {
        var sources = MessageSources(messages: [])
        for file in try files(in: mails, "swift") {
            try sources.read(String(contentsOf: file, encoding: .utf8), of: file, isPanel: false)
        }
        return sources
    }

    private init(messages: [Message]) { self.messages = messages }

    /// Reads the panel's texts.
    init() throws {
        self.init(messages: [])
        for module in Self.modules {
            let folder = Self.root.appending(path: "Packages/\(module)")
            for file in try Self.files(in: folder, "swift")
            where !Self.others.contains(file.lastPathComponent) && !file.path.hasPrefix("\(Self.mails.path)/") {
                try read(String(contentsOf: file, encoding: .utf8), of: file, isPanel: module == "Server/AdminPanel")
            }
        }
        // `described.mustache` contains only attributes.
        for file in try Self.files(in: Self.panel, "mustache") where file.lastPathComponent != "described.mustache" {
            for text in TemplateTexts.all(in: try String(contentsOf: file, encoding: .utf8)) {
                add(Message(text: text), at: file)
            }
        }
        let script = Self.panel.appending(path: "Assets/panel.js")
        for match in try String(contentsOf: script, encoding: .utf8).matches(of: /localized\("((?:[^"\\]|\\.)*)"/) {
            add(Message(context: PanelLanguages.scriptContext, text: String(match.1)), at: script)
        }
        let variables = Self.root.appending(path: "Packages/Server/AdminService/Settings/AdminServer+Variables.swift")
        for text in ServerVariable.Topic.allCases.map(\.rawValue)
            + AdminServer.variables.flatMap({ [$0.summary, $0.fallback] })
        where text.contains(where: \.isLetter) { add(Message(text: text), at: variables) }
    }

    private static func files(in folder: URL, _ ending: String) throws -> [URL] {
        try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted().filter { $0.hasSuffix(".\(ending)") }
            .map { folder.appending(path: $0) }
    }

    private mutating func add(_ message: Message, at file: URL) {
        guard places[message] == nil else { return }
        if let other = messages.first(where: { $0.context == message.context && $0.text == message.text }) {
            let forms = [message, other].map { "'\($0.plural ?? "")'" }
            problems.append("'\(message.text)' is told with \(forms.joined(separator: " and with ")).")
        }
        places[message] = String(file.path.dropFirst(Self.root.path.count + 1))
        messages.append(message)
    }

    // MARK: Swift

    private mutating func read(_ source: String, of file: URL, isPanel: Bool) throws {
        let lines = source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.drop { $0 == " " }.hasPrefix("//") ? "" : line
        }
        for line in lines where line.contains(/static let .*\b(localized|localizedName|localizedText|RequestFailure)\(/)
        {
            problems.append(
                "\(file.lastPathComponent): a text is made once, in the language of who comes first:\(line)")
        }
        let code = lines.joined(separator: "\n")
        for match in code.matches(of: /[^\w."](?:localized|StoredMessage)\(/) {
            readCall(code[match.range.upperBound...], file)
        }
        for match in code.matches(of: /[^\w."]Wording\((?=\s*")/) { readCall(code[match.range.upperBound...], file) }
        guard isPanel else { return }
        for match in code.matches(of: /[^\w"](RequestFailure|PanelEntry)\(/) {
            var reader = SwiftTextReader(code[match.range.upperBound...])
            for text in reader.textsOfCall() { add(Message(text: text), at: file) }
        }
    }

    private mutating func readCall(_ code: Substring, _ file: URL) {
        var reader = SwiftTextReader(code)
        if let text = reader.text() {
            add(Message(context: reader.takes("context:") ? reader.text() : nil, text: text), at: file)
        } else if reader.skip(to: "one:"), let one = reader.text(), reader.takes("other:"), let other = reader.text() {
            add(Message(text: one, plural: other), at: file)
        } else {
            let line = code.prefix { $0 != "\n" }
            problems.append("\(file.lastPathComponent): this isn't a literal: localized(\(line)")
        }
    }
}

/// Reads text literals from Swift code, replacing interpolations with `{0}` and so on.
struct SwiftTextReader {
    private var rest: Substring

    init(_ code: Substring) { rest = code }

    /// Reads a literal, or several joined with `+`; nil if something else comes next.
    mutating func text() -> String? {
        var text = ""
        var places = 0
        repeat {
            skipSpace()
            guard rest.first == "\"", !rest.hasPrefix("\"\"\""), let part = literal(&places) else { return nil }
            text += part
            skipSpace()
        } while take("+")
        return text
    }

    /// Skips a comma and the label if they come next.
    mutating func takes(_ label: String) -> Bool {
        skipSpace()
        guard take(",") else { return false }
        skipSpace()
        return take(label)
    }

    /// Skips to just after a label in the same call.
    mutating func skip(to label: String) -> Bool {
        guard let range = rest.prefix(400).firstRange(of: label) else { return false }
        rest = rest[range.upperBound...]
        return true
    }

    /// The literals among the arguments of a call, from just after its opening parenthesis.
    mutating func textsOfCall() -> [String] {
        var texts: [String] = []
        var depth = 1
        while let first = rest.first, depth > 0 {
            if first == "\"" {
                if depth == 1 {
                    if let text = text() { texts.append(text) } else { rest.removeFirst() }
                } else {
                    var places = 0
                    if literal(&places) == nil { rest.removeFirst() }
                }
                continue
            }
            if "([{".contains(first) { depth += 1 }
            if ")]}".contains(first) { depth -= 1 }
            rest.removeFirst()
        }
        return texts
    }

    private mutating func skipSpace() { rest = rest.drop { $0.isWhitespace } }

    private mutating func take(_ text: String) -> Bool {
        guard rest.hasPrefix(text) else { return false }
        rest = rest.dropFirst(text.count)
        return true
    }

    private static let escapes: [Character: Character] = ["n": "\n", "t": "\t", "\"": "\"", "\\": "\\", "'": "'"]

    /// Returns nil for an unterminated literal.
    private mutating func literal(_ places: inout Int) -> String? {
        rest.removeFirst()
        var text = ""
        while let first = rest.popFirst() {
            if first == "\"" { return text }
            guard first == "\\" else {
                text.append(first)
                continue
            }
            guard let kind = rest.popFirst() else { return nil }
            if kind == "(" {
                skipInterpolation()
                text += "{\(places)}"
                places += 1
            } else if kind == "u" {
                let code = rest.dropFirst().prefix { $0 != "}" }
                rest = rest.dropFirst(code.count + 2)
                if let scalar = UInt32(code, radix: 16).flatMap(Unicode.Scalar.init) {
                    text.unicodeScalars.append(scalar)
                }
            } else if let plain = Self.escapes[kind] {
                text.append(plain)
            }
        }
        return nil
    }

    private mutating func skipInterpolation() {
        var depth = 1
        while depth > 0, let first = rest.first {
            if first == "\"" {
                var places = 0
                if literal(&places) == nil { return }
                continue
            }
            if first == "(" { depth += 1 }
            if first == ")" { depth -= 1 }
            rest.removeFirst()
        }
    }
}
