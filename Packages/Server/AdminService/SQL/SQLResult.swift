import PostgresClient

/// The part of a statement's result that is shown.
package struct SQLResult: Sendable {
    package struct Cell: Sendable {
        /// In PostgreSQL's text form; nil for NULL.
        package let text: String?
        /// Whether the text was cut.
        package let isCut: Bool
    }

    /// Why rows are left out.
    package enum Excess: Sendable {
        case rows, bytes
    }

    package private(set) var columns: [String] = []
    package private(set) var rows: [[Cell]] = []
    package private(set) var excess: Excess?
    /// PostgreSQL's command tag, such as `SELECT 3`; empty if rows are left out.
    package private(set) var commandTag = ""
    package var duration = Duration.zero
    private let bounds: SQLBounds
    private var byteCount = 0

    init(_ bounds: SQLBounds) { self.bounds = bounds }

    /// Takes the next row in text form, or the end.
    /// - Returns: false if it doesn't fit.
    mutating func add(_ result: PostgresResult) -> Bool {
        columns = result.columnNames
        guard let row = result.first else {
            commandTag = result.commandTag
            return true
        }
        guard rows.count < bounds.rows else {
            excess = .rows
            return false
        }
        let cells = (0..<result.columnCount).map { cell(row[$0]) }
        byteCount += cells.reduce(0) { $0 + ($1.text?.utf8.count ?? 0) + SQLBounds.cellOverhead }
        guard byteCount <= bounds.resultBytes else {
            excess = .bytes
            return false
        }
        rows.append(cells)
        return true
    }

    private func cell(_ cell: PostgresCell) -> Cell {
        guard !cell.isNull else { return Cell(text: nil, isCut: false) }
        return cell.withUnsafeBytes { bytes in
            var end = min(bytes.count, bounds.cellBytes)
            // Cuts between two UTF-8 characters.
            while end > 0, end < bytes.count, bytes[end] & 0xC0 == 0x80 { end -= 1 }
            return Cell(
                text: String(decoding: UnsafeRawBufferPointer(rebasing: bytes[..<end]), as: UTF8.self),
                isCut: end < bytes.count)
        }
    }
}
