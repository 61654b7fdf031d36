/// A text in the language of ``MessageCatalogue/current``, or in English if there is no catalogue or no translation.
///
/// Tests find every call in the sources, so the text must be a literal. Interpolated values must already be
/// translated.
/// - Parameter context: distinguishes texts that are the same in English.
public func localized(_ message: LocalizedMessage, context: String? = nil) -> String {
    guard let catalogue = MessageCatalogue.current,
        let translation = catalogue.translation(of: message.key, context: context)
    else { return message.description }
    return message.filling(translation)
}

/// A text about a number of things, in the language's form for that number.
///
///     localized(count, one: "\(number) row matches.", other: "\(number) rows match.")
///
/// - Parameters:
///   - one: English for one thing. It has the same values as `other`.
///   - other: English for every other number.
public func localized(_ count: Int, one: LocalizedMessage, other: LocalizedMessage) -> String {
    guard let catalogue = MessageCatalogue.current,
        let translation = catalogue.translation(of: one.key, count: count)
    else { return (count == 1 ? one : other).description }
    return other.filling(translation)
}

/// A name that an app defines, such as that of a class, a property or a role. Catalogues list it with the context
/// ``MessageCatalogue/nameContext``.
/// - Parameter name: in words, as on English pages.
public func localizedName(_ name: String) -> String {
    MessageCatalogue.current?.translation(of: name, context: MessageCatalogue.nameContext) ?? name
}

/// Translates a text that isn't a literal here: a title or a sentence that was made before there was a request.
public func localizedText(_ text: String) -> String { MessageCatalogue.current?.translation(of: text) ?? text }
