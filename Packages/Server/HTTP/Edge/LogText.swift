extension String {
    /// The text for a log line. Characters that would start another line, colour a terminal or change the writing
    /// direction are written as `\\u{…}`, so that a name can't forge log lines.
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
