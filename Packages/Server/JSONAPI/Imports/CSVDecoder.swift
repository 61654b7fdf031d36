import TomboloLocalization

/// Reads CSV (RFC 4180) incrementally, however the bytes are split. The input is UTF-8 with or without a byte order
/// mark, as ``ImportTextDecoder`` produces it. Lines end with CRLF, LF or CR.
struct CSVDecoder: Sendable {
    /// The cells of one row; an empty cell without quotes is nil.
    typealias Row = [String?]

    private enum State: Sendable {
        /// Before the first byte of a cell.
        case start
        /// In a cell without quotes.
        case bare
        /// Inside quotes.
        case quoted
        /// After a quote, which ends the cell unless another quote follows.
        case quote
    }

    /// The possible delimiters. If several are equally frequent in the header, the first of them wins.
    static let delimiters: [UInt8] = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let quote = UInt8(ascii: "\"")

    /// Nil until the first line is read.
    private var delimiter: UInt8?
    /// The first line, while the delimiter isn't known yet.
    private var header: [UInt8] = []
    private var isHeaderQuoted = false
    private var headerHasText = false
    private var state = State.start
    /// Whether the last byte was a CR: a LF after it belongs to the same line break.
    private var isAfterReturn = false
    private var cell: [UInt8] = []
    private var cells: Row = []
    /// The length of ``cells``.
    private var rowByteCount = 0
    /// The current line, and the lines where the current row and its last quoted cell began.
    private var line: Int64 = 1
    private var rowLine: Int64 = 1
    private var cellLine: Int64 = 1
    /// How many bytes of a byte order mark were read; nil once it can't come any more.
    private var markLength: Int? = 0

    /// - Parameter delimiter: nil to detect it from the first line.
    init(delimiter: UInt8? = nil) { self.delimiter = delimiter }

    /// - Parameter take: called with each complete row, and the line where it begins. Empty lines are skipped.
    mutating func feed(_ bytes: some Sequence<UInt8>, _ take: (Row, Int64) throws -> Void) throws {
        let bytes = Array(bytes)
        var place = 0
        while place < bytes.count {
            let end = textEnd(in: bytes, from: place)
            if end > place {
                try append(bytes[place..<end])
                place = end
                continue
            }
            let byte = bytes[place]
            place += 1
            if let length = markLength {
                if byte == Self.mark[length] {
                    markLength = length == 2 ? nil : length + 1
                    continue
                }
                markLength = nil
                // It only began like a mark.
                for byte in Self.mark[..<length] { try read(byte, take) }
            }
            try read(byte, take)
        }
    }

    /// Ends the file.
    mutating func finish(_ take: (Row, Int64) throws -> Void) throws {
        if let length = markLength, length > 0 {
            markLength = nil
            for byte in Self.mark[..<length] { try read(byte, take) }
        }
        if delimiter == nil { try decide(take) }
        if state == .quoted {
            throw ImportFileError(
                line: cellLine, column: cells.count + 1,
                message: localized("The file ends inside this quoted cell."),
                hint: localized("Close the quotes, or send the whole file."))
        }
        // The last line needs no line break.
        if !cells.isEmpty || state != .start { try endRow(take) }
    }

    // MARK: Finding the delimiter

    private mutating func read(_ byte: UInt8, _ take: (Row, Int64) throws -> Void) throws {
        guard delimiter == nil else { return try add(byte, take) }
        header.append(byte)
        if byte == Self.quote { isHeaderQuoted.toggle() }
        if !Self.isLineEnd(byte) { headerHasText = true }
        let isEnd = !isHeaderQuoted && Self.isLineEnd(byte) && headerHasText
        if isEnd || header.count >= ImportLimits.headerByteCount { try decide(take) }
    }

    private mutating func decide(_ take: (Row, Int64) throws -> Void) throws {
        var counts = Self.delimiters.map { _ in 0 }
        var isQuoted = false
        for byte in header {
            if byte == Self.quote { isQuoted.toggle() }
            if !isQuoted, let place = Self.delimiters.firstIndex(of: byte) { counts[place] += 1 }
        }
        let most = counts.max() ?? 0
        delimiter = Self.delimiters[counts.firstIndex(of: most) ?? 0]
        let bytes = header
        header = []
        for byte in bytes { try add(byte, take) }
    }

    // MARK: Reading

    private static func isLineEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\r") || byte == UInt8(ascii: "\n") }

    private func error(_ message: String, _ hint: String) -> ImportFileError {
        ImportFileError(line: line, column: cells.count + 1, message: message, hint: hint)
    }

    private mutating func add(_ byte: UInt8, _ take: (Row, Int64) throws -> Void) throws {
        let isSecondHalf = isAfterReturn && byte == UInt8(ascii: "\n")
        isAfterReturn = byte == UInt8(ascii: "\r")
        // Inside quotes it's part of the text.
        if isSecondHalf, state != .quoted { return }
        guard byte != 0 else {
            throw error(
                localized("There is a NUL byte, which text can't contain."),
                localized("Save the file as 'CSV UTF-8', and import that. This may be another kind of file."))
        }
        switch state {
        case .quoted:
            if byte == Self.quote {
                state = .quote
            } else {
                try append(byte)
                if Self.isLineEnd(byte), !isSecondHalf { line += 1 }
            }
        case .quote where byte == Self.quote:
            try append(byte)
            state = .quoted
        case .start where byte == Self.quote:
            state = .quoted
            cellLine = line
        case .start, .bare, .quote:
            if byte == delimiter {
                try endCell()
            } else if Self.isLineEnd(byte) {
                try endRow(take)
                line += 1
                rowLine = line
            } else if state == .quote {
                throw error(
                    localized("The cell continues after its closing quotes."),
                    localized("Double the quotes that belong to the text: \"say \"\"hello\"\"\"."))
            } else if byte == Self.quote {
                throw error(
                    localized("The cell contains quotes but doesn't begin with quotes."),
                    localized("Put the whole cell in quotes, and double those that belong to the text."))
            } else {
                state = .bare
                try append(byte)
            }
        }
    }

    /// The end of the bytes that are plain text of the cell. Most of a file is, and is taken in whole slices: going
    /// byte by byte would be several times slower.
    private func textEnd(in bytes: [UInt8], from start: Int) -> Int {
        guard state == .bare || state == .quoted else { return start }
        // Inside quotes a delimiter separates nothing.
        let separator = state == .bare ? delimiter : nil
        return bytes.withUnsafeBufferPointer { bytes in
            var place = start
            while place < bytes.count {
                let byte = bytes[place]
                if byte == 0 || byte == Self.quote || Self.isLineEnd(byte) || byte == separator { break }
                place += 1
            }
            return place
        }
    }

    private mutating func append(_ text: ArraySlice<UInt8>) throws {
        try checkRoom(for: text.count)
        cell += text
        isAfterReturn = false
    }

    private mutating func append(_ byte: UInt8) throws {
        try checkRoom(for: 1)
        cell.append(byte)
    }

    private func checkRoom(for count: Int) throws {
        guard cell.count + count <= ImportLimits.itemByteCount else {
            throw ImportFileError(
                line: state == .quoted ? cellLine : line, column: cells.count + 1,
                message: localized("The cell has more than \(ImportLimits.itemByteCount) bytes."),
                hint: localized("Shorten it. If it isn't that long, its quotes may not be closed."))
        }
        guard rowByteCount + cell.count + count <= ImportLimits.rowByteCount else {
            throw ImportFileError(
                line: rowLine, message: localized("The row has more than \(ImportLimits.rowByteCount) bytes."),
                hint: localized("Leave some columns out."))
        }
    }

    private mutating func endCell() throws {
        guard cells.count < ImportLimits.columnCount else {
            throw error(
                localized("The row has more than \(ImportLimits.columnCount) cells."),
                localized("Leave some columns out."))
        }
        if state == .start {
            cells.append(nil)
        } else {
            guard let text = String(validating: cell, as: UTF8.self) else {
                throw error(
                    localized("The cell isn't UTF-8, unlike the text before it."),
                    localized("Save the whole file as 'CSV UTF-8', and import that."))
            }
            cells.append(text)
        }
        rowByteCount += cell.count
        cell.removeAll(keepingCapacity: true)
        state = .start
    }

    private mutating func endRow(_ take: (Row, Int64) throws -> Void) throws {
        let isBlank = cells.isEmpty && state == .start
        try endCell()
        if !isBlank { try take(cells, rowLine) }
        cells = []
        rowByteCount = 0
    }
}
