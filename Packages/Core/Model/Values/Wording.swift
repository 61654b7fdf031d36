/// A text that Tombolo shows to people, such as why the rules refuse something: English, with its values kept apart so
/// that a page can show it in another language. ``description`` is the English text, for logs, devices and programs.
///
///     Wording("'\(name)' is required and cannot be nil.")
///
/// A test finds every call in the sources and demands translations, so the text has to be a literal, or several joined
/// with `+`. Everybody who sees the text sees its values.
public struct Wording: Hashable, Sendable, CustomStringConvertible {
    /// The value of a placeholder.
    public enum Part: Hashable, Sendable {
        /// A value that is the same in every language.
        case text(String)
        /// A name that Tombolo or an app gave, such as a role's.
        /// - Parameter context: the context of the name's translations; nil for the context of names.
        case name(String, context: String?)
        case wording(Wording)

        /// The value in English.
        fileprivate var english: String {
            switch self {
            case .text(let text), .name(let text, _): text
            case .wording(let wording): wording.description
            }
        }
    }

    /// The English text with `{0}`, `{1}` and so on as placeholders. Translations are looked up by it.
    public let pattern: String
    /// The values, in the order of their placeholders.
    public let values: [Part]

    public init(_ text: Text) {
        var pattern = ""
        var values: [Part] = []
        for piece in text.pieces {
            switch piece {
            case .literal(let text): pattern += text
            case .value(let value):
                pattern += "{\(values.count)}"
                values.append(value)
            }
        }
        self.pattern = pattern
        self.values = values
    }

    /// A text that is the same in every language, or has no translation.
    public init(untranslated text: String) { self.init(pattern: "{0}", values: [.text(text)]) }

    /// For patterns that aren't literals in the sources, such as one that joins other wordings.
    package init(pattern: String, values: [Part]) {
        self.pattern = pattern
        self.values = values
    }

    /// The text in English.
    public var description: String { Self.filling(pattern, with: values.map(\.english)) }

    /// Replaces the placeholders of a pattern with values. Everything else stays as it is, including anything in a
    /// value that looks like a placeholder.
    public static func filling(_ pattern: String, with values: [String]) -> String {
        guard pattern.contains("{") else { return pattern }
        var text = ""
        var rest = pattern[...]
        while let open = rest.firstIndex(of: "{") {
            text += rest[..<open]
            let after = rest.index(after: open)
            if let close = rest[after...].firstIndex(of: "}"), let place = Int(rest[after..<close]),
                values.indices.contains(place)
            {
                text += values[place]
                rest = rest[rest.index(after: close)...]
            } else {
                text += "{"
                rest = rest[after...]
            }
        }
        return text + rest
    }
}

extension Wording {
    /// The literal from which a ``Wording`` is made.
    public struct Text: ExpressibleByStringInterpolation, Sendable {
        fileprivate enum Piece: Sendable {
            case literal(String)
            case value(Part)
        }

        fileprivate var pieces: [Piece]

        public init(stringLiteral text: String) { pieces = [.literal(text)] }

        public init(stringInterpolation interpolation: StringInterpolation) { pieces = interpolation.pieces }

        public static func + (first: Text, second: Text) -> Text {
            var joined = first
            joined.pieces += second.pieces
            return joined
        }

        public struct StringInterpolation: StringInterpolationProtocol {
            fileprivate var pieces: [Piece] = []

            public init(literalCapacity: Int, interpolationCount: Int) {
                pieces.reserveCapacity(2 * interpolationCount + 1)
            }

            public mutating func appendLiteral(_ text: String) { if !text.isEmpty { pieces.append(.literal(text)) } }

            public mutating func appendInterpolation(_ value: some Any) { pieces.append(.value(.text("\(value)"))) }

            public mutating func appendInterpolation(_ wording: Wording) { pieces.append(.value(.wording(wording))) }

            public mutating func appendInterpolation(name: String, context: String? = nil) {
                pieces.append(.value(.name(name, context: context)))
            }

            /// An optional value would read "Optional(…)".
            @available(*, unavailable, message: "Say what stands there without a value.")
            public mutating func appendInterpolation<Value>(_ value: Value?) {}
        }
    }
}
