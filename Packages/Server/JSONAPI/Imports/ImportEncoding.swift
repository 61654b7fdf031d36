import TomboloLocalization

/// The text encoding of an uploaded file.
package enum ImportEncoding: String, Sendable {
    case utf8 = "utf-8"
    /// Either byte order, as the byte order mark says.
    case utf16 = "utf-16"
    /// What Excel writes as plain "CSV" in western Europe and America. Every byte has a meaning.
    case windows1252 = "windows-1252"

    /// What people should know about the encoding; nil if there is nothing to check.
    package var note: String? {
        switch self {
        case .utf8, .utf16: nil
        case .windows1252:
            localized("The file isn't UTF-8, so it was read as Windows-1252. Check names with accents or umlauts.")
        }
    }
}
