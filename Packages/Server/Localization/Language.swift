/// A language in which pages are available.
public struct Language: Hashable, Sendable {
    /// The BCP 47 tag: `de`, `pt-BR`.
    public let tag: String
    /// The language's own name for itself: `Deutsch`.
    public let name: String
    /// Whether nouns that aren't names begin with a lower-case letter within a sentence.
    public let lowersNouns: Bool

    public static let english = Language(tag: "en", name: "English")

    /// The `Accept-Language` header of an API request, or nil if it has none. The answer is in English, except for the
    /// messages of jobs. These, and mails that the request causes, are in the language that the header prefers.
    @TaskLocal public static var wish: String?

    public init(tag: String, name: String, lowersNouns: Bool = true) {
        self.tag = tag
        self.name = name
        self.lowersNouns = lowersNouns
    }

    /// The tag without region and script: `pt` for `pt-BR`.
    var base: Substring { tag.prefix { $0 != "-" && $0 != "_" } }

    /// Languages whose usual script runs from right to left.
    private static let rightToLeft: Set<Substring> = [
        "ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi",
    ]

    public var isRightToLeft: Bool { Self.rightToLeft.contains(base) }

    /// The language that a client prefers, according to the header `Accept-Language` (RFC 9110, section 12.5.4).
    /// - Returns: nil if the client accepts none of them.
    public static func preferred(_ header: String, of languages: [Language]) -> Language? {
        var best: (language: Language, weight: Double)?
        // Browsers don't send longer headers, so the rest is ignored.
        for part in header.prefix(1_000).split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" } }
            guard let tag = pieces.first?.lowercased(), !tag.isEmpty else { continue }
            let weight = pieces.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            guard weight > best?.weight ?? 0 else { continue }
            let base = tag.prefix { $0 != "-" }
            let found =
                languages.first { $0.tag.lowercased() == tag }
                ?? languages.first { $0.base.lowercased() == base }
            if let found { best = (found, weight) }
        }
        return best?.language
    }
}
