public import TomboloModel

extension Wording {
    /// In the language of ``MessageCatalogue/current``; in English without one, and what has no translation.
    public var localized: String {
        guard let catalogue = MessageCatalogue.current else { return description }
        return Self.filling(catalogue.translation(of: pattern) ?? pattern, with: values.map(\.localized))
    }
}

extension Wording.Part {
    fileprivate var localized: String {
        switch self {
        case .text(let text): text
        case .wording(let wording): wording.localized
        case .name(let name, let context):
            context.flatMap { MessageCatalogue.current?.translation(of: name, context: $0) } ?? localizedName(name)
        }
    }
}
