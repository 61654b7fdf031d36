import TomboloLocalization

/// How the bytes of an uploaded file stand for text.
package enum ImportEncoding: String, Sendable {
    case utf8 = "utf-8"
    /// Either order of the bytes, which a byte order mark says.
    case utf16 = "utf-16"
    /// What Excel writes as plain "CSV" in western Europe and America. Every byte stands for something.
    case windows1252 = "windows-1252"

    /// What people should know of it; nil if there is nothing to check.
    package var note: String? {
        switch self {
        case .utf8, .utf16: nil
        case .windows1252:
            localized("The file isn't UTF-8, so it was read as Windows-1252. Check names with accents or umlauts.")
        }
    }
}
