/// The available languages: English, and each language that has a catalogue.
public struct MessageCatalogues: Sendable {
    /// Without English, sorted by the languages' own names.
    public let all: [MessageCatalogue]
    /// English comes first.
    public let languages: [Language]

    public init(_ catalogues: [MessageCatalogue]) {
        all = catalogues.sorted { $0.language.name < $1.language.name }
        languages = [.english] + all.map(\.language)
    }

    /// Nil for English and for unavailable languages.
    public subscript(tag: String) -> MessageCatalogue? { all.first { $0.language.tag == tag } }

    /// The catalogue of the available language that an `Accept-Language` header prefers.
    /// - Returns: nil for English.
    public func preferred(_ header: String) -> MessageCatalogue? {
        Language.preferred(header, of: languages).flatMap { self[$0.tag] }
    }

    /// The catalogue of the current task: the page's, or else the one that the API request prefers.
    /// - Returns: nil for English.
    public var current: MessageCatalogue? { MessageCatalogue.current ?? Language.wish.flatMap(preferred) }
}
