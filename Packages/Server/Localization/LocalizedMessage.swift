public import TomboloModel

/// A text for people, before it's translated: English, with places for values. `"\(count) rows of \(name)"` has the key
/// `{0} rows of {1}`, by which catalogues know it.
///
/// Long texts can be split over several lines and joined with `+`.
public struct LocalizedMessage: ExpressibleByStringInterpolation, CustomStringConvertible, Sendable {
    fileprivate enum Part: Sendable {
        case text(String)
        case value(String)
    }

    private var parts: [Part]

    private init(parts: [Part]) { self.parts = parts }

    public init(stringLiteral text: String) { parts = [.text(text)] }

    public init(stringInterpolation interpolation: StringInterpolation) { parts = interpolation.parts }

    public struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var parts: [Part] = []

        public init(literalCapacity: Int, interpolationCount: Int) {
            parts.reserveCapacity(2 * interpolationCount + 1)
        }

        public mutating func appendLiteral(_ text: String) { if !text.isEmpty { parts.append(.text(text)) } }
        public mutating func appendInterpolation(_ value: some Any) { parts.append(.value("\(value)")) }

        /// The text in the language of ``MessageCatalogue/current``.
        public mutating func appendInterpolation(_ wording: Wording) { parts.append(.value(wording.localized)) }

        /// An optional value would appear as "Optional(…)".
        @available(*, unavailable, message: "Say what stands there without a value.")
        public mutating func appendInterpolation<Value>(_ value: Value?) {}
    }

    public static func + (first: LocalizedMessage, second: LocalizedMessage) -> LocalizedMessage {
        LocalizedMessage(parts: first.parts + second.parts)
    }

    /// The key in catalogues.
    var key: String {
        var place = 0
        return parts.reduce(into: "") { key, part in
            switch part {
            case .text(let text): key += text
            case .value:
                key += "{\(place)}"
                place += 1
            }
        }
    }

    /// The values, in the order of their placeholders.
    var values: [String] { parts.compactMap { if case .value(let value) = $0 { value } else { nil } } }

    /// The text in English.
    public var description: String {
        parts.reduce(into: "") { text, part in
            switch part {
            case .text(let piece), .value(let piece): text += piece
            }
        }
    }

    /// Puts the values into a translation.
    func filling(_ translation: String) -> String { Wording.filling(translation, with: values) }
}
