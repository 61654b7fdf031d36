internal import TomboloModel

/// A part of a rule document as written, with its place: what JSON and YAML have in common.
public struct RuleNode: Sendable {
    public indirect enum Content: Sendable {
        case null
        case bool(Bool)
        case int(Int64)
        case double(Double)
        case string(String)
        case list([RuleNode])
        /// In the document's order, without duplicate keys.
        case map([Entry])
    }

    public struct Entry: Sendable {
        public let key: String
        /// The line of the key.
        public let line: Int
        public let value: RuleNode

        public init(key: String, line: Int, value: RuleNode) {
            self.key = key
            self.line = line
            self.value = value
        }
    }

    public let content: Content
    /// The line where the node begins, counted from 1.
    public let line: Int

    public init(_ content: Content, line: Int) {
        self.content = content
        self.line = line
    }

    /// The longest rule document, in bytes.
    public static let maximumByteCount = 1 << 20
    /// How deep a rule document may nest.
    public static let maximumDepth = 64
    /// The most values in a rule document. Each use of an alias counts all the values that it stands for.
    public static let maximumCount = 100_000
}

extension RuleNode {
    package subscript(key: String) -> RuleNode? {
        guard case .map(let entries) = content else { return nil }
        return entries.first { $0.key == key }?.value
    }

    var keys: [String] { if case .map(let entries) = content { entries.map(\.key) } else { [] } }

    /// The kind of content, for messages: `a list`.
    var kind: String {
        switch content {
        case .null: "null"
        case .bool(let value): "\(value)"
        case .int(let value): "\(value)"
        case .double(let value): "\(value)"
        case .string(let value): "\"\(value.shortened(toByteCount: 40))\""
        case .list: "a list"
        case .map: "a mapping"
        }
    }
}
