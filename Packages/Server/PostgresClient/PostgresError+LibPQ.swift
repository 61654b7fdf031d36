import CLibPQ

extension PostgresError {
    /// Reads the error fields of a failed result.
    init(result: OpaquePointer, sql: String?, file: String?, line: Int?) {
        func field(_ code: Character) -> String? {
            PQresultErrorField(result, Int32(code.asciiValue ?? 0)).map { String(cString: $0) }
        }
        let fallback = PQresultErrorMessage(result).map { String(cString: $0).trimmedLines } ?? ""
        self.init(
            code: field("C").map(PostgresSQLState.init(rawValue:)) ?? .connectionFailure,
            message: field("M") ?? (fallback.isEmpty ? "the connection was lost" : fallback),
            detail: field("D"), hint: field("H"), sql: sql, file: file, line: line)
        context = field("W")
        schemaName = field("s")
        tableName = field("t")
        columnName = field("c")
        dataTypeName = field("d")
        constraintName = field("n")
        routine = field("R")
        position = field("P").flatMap { Int($0) }
    }

    /// A connection that couldn't be opened. libpq has no error fields at that point, so the code is read from its
    /// verbose text, `… FATAL: 28P01: password authentication failed …`.
    init(connecting text: String, file: String?, line: Int?) {
        var code = PostgresSQLState.unableToConnect
        var lines: [String] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("LOCATION:") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            var kept = String(line)
            for (index, word) in words.enumerated() where index > 0 && word.count == 6 && word.hasSuffix(":") {
                let candidate = word.dropLast()
                let isCode = candidate.allSatisfy { $0.isASCII && ($0.isNumber || ($0.isLetter && $0.isUppercase)) }
                guard isCode, words[index - 1].hasSuffix(":"), candidate.contains(where: \.isNumber) else { continue }
                code = PostgresSQLState(rawValue: String(candidate))
                kept = (words[..<index] + words[(index + 1)...]).joined(separator: " ")
                break
            }
            lines.append(kept)
        }
        let hint: String? =
            code == .unableToConnect
            ? "Check that the server runs and that host, port and socket folder are right." : nil
        self.init(code: code, message: lines.joined(separator: "; "), hint: hint, file: file, line: line)
    }
}

extension String {
    /// The text on one line, without surrounding whitespace.
    var trimmedLines: String {
        split(whereSeparator: \.isNewline).joined(separator: "; ")
    }
}
