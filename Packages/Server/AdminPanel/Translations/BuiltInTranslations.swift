/// The files of translations that come with the panel, in gettext's format. They are part of the program, so that it stays one
/// file. `UPDATE_TRANSLATIONS=1 swift test --filter TranslationTests` adds the texts that are new, for people to translate.
enum BuiltInTranslations {
    /// By the names of their files here.
    static let files = ["french": french, "german": german, "spanish": spanish]
}
