extension String {
    /// The text for a log's line: what would begin another line, colour a terminal or turn the direction of writing is
    /// written as `\\u{…}`, so that nobody's name makes lines of its own.
    package var forLog: String {
        guard unicodeScalars.contains(where: \.isHiddenInLogs) else { return self }
        return unicodeScalars.reduce(into: "") { text, scalar in
            if scalar.isHiddenInLogs {
                text += "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                text.unicodeScalars.append(scalar)
            }
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isHiddenInLogs: Bool {
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned: true
        default: false
        }
    }
}
