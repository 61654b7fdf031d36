/// Columns of text, each as wide as its content.
struct TextTable {
    /// Longer cells, in characters, are cut, except in the last column.
    static let maximumCellWidth = 40

    let header: [String]
    var rows: [[String]] = []

    init(_ header: [String]) { self.header = header }

    /// A line for the header and one for each row, without trailing spaces.
    var lines: [String] {
        let all = ([header] + rows).map { row in
            row.enumerated().map { column, text in
                column == header.count - 1 ? text : text.cut(to: Self.maximumCellWidth)
            }
        }
        let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
        return all.map { row in
            let cells = zip(row, widths).map { text, width in
                text + String(repeating: " ", count: width - text.count)
            }
            let line = cells.joined(separator: "  ")
            return String(line.prefix(line.count - line.reversed().prefix { $0 == " " }.count))
        }
    }
}

extension String {
    /// Removes anything that moves a terminal's cursor or changes the text direction, because names of subscriptions
    /// come from devices.
    var terminalSafe: String {
        String(
            String.UnicodeScalarView(
                unicodeScalars.map { scalar -> Unicode.Scalar in
                    switch scalar.properties.generalCategory {
                    case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: "\u{fffd}"
                    default: scalar
                    }
                }))
    }

    func cut(to width: Int) -> String { count > width ? String(prefix(width - 1)) + "…" : self }
}
