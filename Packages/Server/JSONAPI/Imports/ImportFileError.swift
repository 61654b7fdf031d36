import TomboloHTTP
import TomboloLocalization

/// Why a file can't be read, and where the problem is.
struct ImportFileError: Error, Hashable, Sendable {
    /// From 1; nil if the problem is with the whole file.
    let line: Int64?
    /// From 1; nil if the problem is with the whole line.
    var column: Int?
    let message: String
    let hint: String
    /// Whether the file, or a part of it, is too large.
    var isTooLarge = false

    var failure: RequestFailure {
        RequestFailure(isTooLarge ? .tooLarge : .unprocessable, located, hint: hint)
    }

    /// `Line 7, column 2: There is a NUL byte, which text can't contain.`
    private var located: String {
        guard let line else { return message }
        guard let column else { return localized("Line \(line): \(message)") }
        return localized("Line \(line), column \(column): \(message)")
    }
}
