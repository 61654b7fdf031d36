/// The languages that texts can be in: English, and those that there are catalogues of.
public struct MessageCatalogues: Sendable {
    /// By the languages' own names, without English.
    public let all: [MessageCatalogue]
    /// English comes first.
    public let languages: [Language]

    public init(_ catalogues: [MessageCatalogue]) {
        all = catalogues.sorted { $0.language.name < $1.language.name }
        languages = [.english] + all.map(\.language)
    }

    /// Nil for English, and for a language that there isn't.
    public subscript(tag: String) -> MessageCatalogue? { all.first { $0.language.tag == tag } }

    /// In the language that somebody likes best, by the header `Accept-Language`.
    /// - Returns: nil for English.
    public func preferred(_ header: String) -> MessageCatalogue? {
        Language.preferred(header, of: languages).flatMap { self[$0.tag] }
    }

    /// For what is sent to people because of what runs at the moment: as pages are, or in the language that the caller of the
    /// API wishes for.
    /// - Returns: nil for English.
    public var current: MessageCatalogue? { MessageCatalogue.current ?? Language.wish.flatMap(preferred) }
}
