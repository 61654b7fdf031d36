/// The panel's built-in translations, in gettext's format. They are compiled into the program, so that it stays a
/// single file. `UPDATE_TRANSLATIONS=1 swift test --filter TranslationTests` adds new texts, for people to translate.
enum BuiltInTranslations {
    /// By the names of their files in this folder.
    static let files = ["french": french, "german": german, "spanish": spanish]
}
