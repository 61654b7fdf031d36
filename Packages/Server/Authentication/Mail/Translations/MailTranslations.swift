public import TomboloLocalization

/// What mails are in besides English: files in gettext's format. They are part of every server that sends mails, and the panel's
/// languages have them too. `UPDATE_TRANSLATIONS=1 swift test --filter TranslationTests` adds the texts that are new, for people
/// to translate.
public enum MailTranslations {
    /// By the names of their files here.
    package static let files = ["french": french, "german": german, "spanish": spanish]

    public static let builtIn = MessageCatalogues(
        files.values.map { text in
            do {
                return try MessageCatalogue(POFile(text))
            } catch {
                fatalError("A file of the mails' translations can't be read: \(error)")
            }
        })
}
