import TomboloModel

/// A text that is stored now and read later, by people in different languages. It encodes as its English with places, and the
/// values:
///
///     {"message": "{0} months were dropped", "one": "{0} month was dropped", "count": 3, "values": ["3"]}
///
/// Tests find every call in the sources, as for ``localized(_:context:)``, so the texts must be literals.
public struct StoredMessage: Codable, Hashable, Sendable {
    /// The key in catalogues.
    private let message: String
    /// English for one thing, the key in catalogues of a text about a number; nil for other texts.
    private let one: String?
    private let count: Int?
    private let values: [String]

    public init(_ message: LocalizedMessage) {
        self.init(message: message.key, one: nil, count: nil, values: message.values)
    }

    /// A text about a number of things.
    /// - Parameters:
    ///   - one: English for one thing. It has the same values as `other`.
    ///   - other: English for every other number.
    public init(_ count: Int, one: LocalizedMessage, other: LocalizedMessage) {
        self.init(message: other.key, one: one.key, count: count, values: other.values)
    }

    /// A text that is the same in every language, such as a name.
    public static func untranslated(_ text: String) -> StoredMessage {
        StoredMessage(message: "{0}", one: nil, count: nil, values: [text])
    }

    private init(message: String, one: String?, count: Int?, values: [String]) {
        self.message = message
        self.one = one
        self.count = count
        self.values = values
    }

    public var english: String { Wording.filling(count == 1 ? one ?? message : message, with: values) }

    /// The text in the language of ``MessageCatalogue/current``, or in English if there is no catalogue or no
    /// translation.
    public var translated: String {
        let translation =
            if let one, let count {
                MessageCatalogue.current?.translation(of: one, count: count)
            } else {
                MessageCatalogue.current?.translation(of: message)
            }
        return translation.map { Wording.filling($0, with: values) } ?? english
    }
}
