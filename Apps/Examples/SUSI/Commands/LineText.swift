/// Makes untrusted text safe for a terminal.
enum LineText {
    /// Longer text is cut.
    static let maximumLength = 2_000

    /// Text on a single line, without anything that could control a terminal or change the text direction.
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
