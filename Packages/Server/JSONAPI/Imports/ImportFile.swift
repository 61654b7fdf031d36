import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// A file during upload: bytes in, rows out. It holds no more than the current row. Only this type deals with the
/// file's encoding: everything after it is UTF-8.
package struct ImportFile: Sendable {
    package enum Format: String, Sendable {
        case csv
        /// An array, or one object on each line.
        case json
    }

    struct Row: Sendable {
        /// The line where the row begins; in a JSON array, its position.
        let number: Int64
        /// The form that ``ImportSource`` reads.
        let text: String
    }

    package let format: Format
    private var decoder = ImportTextDecoder()
    /// The length of the text in UTF-8.
    private var textByteCount = 0
    /// ``ImportLimits/byteCount``, except in tests.
    var textLimit = ImportLimits.byteCount
    private var csv: CSVDecoder
    private var json = JSONRowsDecoder()
    /// In the file's order; for JSON, ordered by name.
    private(set) var columns: [String] = []
    private var known: Set<String> = []
    private(set) var rowCount: Int64 = 0

    /// - Parameter delimiter: the delimiter of CSV; nil to detect it.
    package init(_ format: Format, delimiter: UInt8? = nil) {
        self.format = format
        csv = CSVDecoder(delimiter: delimiter)
    }

    /// The encoding as far as it's known. It is certain after ``finish()``.
    var encoding: ImportEncoding { decoder.encoding }
    /// Whether rows are numbered by lines, and not by positions in an array.
    var numbersLines: Bool { format == .csv || !json.isArray }

    /// - Returns: the rows that are complete so far.
    /// - Throws: ``ImportFileError``
    mutating func rows(in bytes: some Sequence<UInt8>) throws -> [Row] {
        var text: [UInt8] = []
        do throws(ImportFileError) {
            try decoder.feed(bytes, into: &text)
        } catch {
            // A mistake before the bytes that can't be decoded is reported first, however the bytes were split.
            _ = try read(text)
            throw error
        }
        return try read(text)
    }

    private mutating func read(_ text: [UInt8]) throws -> [Row] {
        textByteCount += text.count
        guard textByteCount <= textLimit else {
            throw ImportFileError(
                line: nil, message: localized("The file has more than \(textLimit) bytes as UTF-8."),
                hint: localized("Import it in parts."), isTooLarge: true)
        }
        switch format {
        case .csv:
            var found: [(CSVDecoder.Row, Int64)] = []
            try csv.feed(text) { found.append(($0, $1)) }
            return try found.compactMap { try row($0, line: $1) }
        case .json:
            var found: [JSONRowsDecoder.Row] = []
            try json.feed(text) { found.append($0) }
            return try found.map { try row($0) }
        }
    }

    /// Ends the file.
    /// - Returns: its last rows.
    /// - Throws: ``ImportFileError``
    mutating func finish() throws -> [Row] {
        var text: [UInt8] = []
        do throws(ImportFileError) {
            try decoder.finish(into: &text)
        } catch {
            _ = try read(text)
            throw error
        }
        var rows = try read(text)
        switch format {
        case .csv:
            var found: [(CSVDecoder.Row, Int64)] = []
            try csv.finish { found.append(($0, $1)) }
            rows += try found.compactMap { try row($0, line: $1) }
        case .json:
            try json.finish()
            columns.sort()
        }
        guard rowCount > 0 else {
            throw ImportFileError(
                line: nil, message: localized("The file has no rows."),
                hint: localized("Send a header and at least one row, or JSON objects."))
        }
        return rows
    }

    private mutating func count(line: Int64) throws {
        rowCount += 1
        guard rowCount <= ImportLimits.rowCount else {
            throw ImportFileError(
                line: line, message: localized("The file has more than \(ImportLimits.rowCount) rows."),
                hint: localized("Import it in parts."), isTooLarge: true)
        }
    }

    // MARK: Tables

    /// - Returns: nil for the header.
    private mutating func row(_ cells: CSVDecoder.Row, line: Int64) throws -> Row? {
        guard !columns.isEmpty else {
            try readHeader(cells, line: line)
            return nil
        }
        guard cells.count == columns.count else {
            throw ImportFileError(
                line: line,
                message: localized("The row has \(cells.count) cells, but the header has \(columns.count)."),
                hint: localized("Put cells with separators or line breaks in quotes."))
        }
        try count(line: line)
        return Row(number: line, text: ImportSource.text(of: cells))
    }

    private mutating func readHeader(_ cells: CSVDecoder.Row, line: Int64) throws {
        for (index, cell) in cells.enumerated() {
            guard let name = cell, !name.isEmpty, name.utf8.count <= ImportLimits.columnNameByteCount else {
                throw ImportFileError(
                    line: line, column: index + 1,
                    message: localized(
                        "The column has no name, or its name is longer than \(ImportLimits.columnNameByteCount) "
                            + "bytes."),
                    hint: localized("Name every column in the first row."))
            }
            guard known.insert(name).inserted else {
                throw ImportFileError(
                    line: line, column: index + 1,
                    message: localized("Another column is also called '\(name.shortened(toByteCount: 60))'."),
                    hint: localized("Give each column its own name."))
            }
            columns.append(name)
        }
    }

    // MARK: Objects

    private mutating func row(_ row: JSONRowsDecoder.Row) throws -> Row {
        try count(line: row.line)
        for name in row.members.keys where known.insert(name).inserted {
            guard known.count <= ImportLimits.columnCount, name.utf8.count <= ImportLimits.columnNameByteCount else {
                throw ImportFileError(
                    line: row.line,
                    message: localized("The objects have too many different member names, or names that are too long."),
                    hint: localized(
                        "The limit is \(ImportLimits.columnCount) names of \(ImportLimits.columnNameByteCount) bytes."))
            }
            columns.append(name)
        }
        return Row(number: row.number, text: row.text)
    }
}
