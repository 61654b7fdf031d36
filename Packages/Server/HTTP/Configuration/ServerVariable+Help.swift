extension ServerVariable {
    /// The length of a line, in characters. ArgumentParser breaks lines that fill a terminal of 80.
    private static let width = 79
    /// The indentation of the second column.
    private static let indentation = 24

    /// For `--help`: names in one column, summaries in the next.
    public static func help(_ variables: [ServerVariable]) -> String {
        variables.flatMap(\.helpLines).joined(separator: "\n")
    }

    private var helpLines: [String] {
        let margin = String(repeating: " ", count: Self.indentation)
        var lines = Self.wrapped("\(summary) (\(fallback))", toWidth: Self.width - Self.indentation)
            .map { margin + $0 }
        let head = "  \(name)"
        if head.count + 2 <= Self.indentation, let first = lines.first {
            lines[0] = head + first.dropFirst(head.count)
        } else {
            lines.insert(head, at: 0)
        }
        return lines
    }

    private static func wrapped(_ text: String, toWidth width: Int) -> [String] {
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= width {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(String(word))
            }
        }
        return lines
    }
}
