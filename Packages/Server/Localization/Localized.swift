/// A text in the language of ``MessageCatalogue/current``; in English without one, or if it has no translation.
///
/// Tests find every call in the sources, so the text has to be a literal. What is put into its places is translated before.
/// - Parameter context: tells texts apart that are the same in English.
public func localized(_ message: LocalizedMessage, context: String? = nil) -> String {
    guard let catalogue = MessageCatalogue.current,
        let translation = catalogue.translation(of: message.key, context: context)
    else { return message.description }
    return message.filling(translation)
}

/// A text about a number of things, in the form that the language has for that number.
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

/// A name that an app gave, such as that of a class, a property or a role. A catalogue has it with the context
/// ``MessageCatalogue/nameContext``.
/// - Parameter name: in words, as English pages show it.
public func localizedName(_ name: String) -> String {
    MessageCatalogue.current?.translation(of: name, context: MessageCatalogue.nameContext) ?? name
}

/// A text that is looked up as it is: a title or a sentence that was made before there was a request.
public func localizedText(_ text: String) -> String { MessageCatalogue.current?.translation(of: text) ?? text }
