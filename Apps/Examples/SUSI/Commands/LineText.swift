/// Text of strangers on a terminal.
enum LineText {
    /// Of longer text the beginning is shown.
    static let maximumLength = 2_000

    /// Text on one line, without anything that could command a terminal or turn the direction of writing.
    static func line(_ text: String) -> String {
        var result = ""
        var count = 0
        for scalar in text.unicodeScalars {
            guard count < maximumLength else { return "\(result)… (\(text.utf8.count) bytes)" }
            count += 1
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: result += " "
            case .format where scalar != "\u{200D}" && scalar != "\u{200C}": continue
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
