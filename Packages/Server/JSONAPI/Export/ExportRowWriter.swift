import TomboloHTTP

/// Writes rows as JSON objects, each on a line and, if they are elements of an array, after a comma. The input is
/// PostgreSQL's `COPY` text format: cells separated by tabs, `\N` for null, and a backslash before anything that would
/// be a delimiter (PostgreSQL's manual, COPY, "Text Format").
///
/// PostgreSQL takes two to three times as long to build such objects as to write cells, and this server would wait for
/// it.
struct ExportRowWriter: Sendable {
    /// How a cell becomes a JSON value. Only strings and JSON can contain a backslash.
    enum Cell: Sendable {
        /// A number. If it isn't finite, it becomes a string.
        case number
        /// `t` or `f`.
        case truth
        /// A string of digits, letters and signs, none of which need escapes.
        case quoted
        case text
        /// JSON that is copied.
        case json
    }

    private let cells: [(name: [UInt8], kind: Cell)]

    /// - Parameter cells: the names of members, in the order of the cells.
    init(_ cells: [(name: String, kind: Cell)], isArray: Bool) {
        self.cells = cells.enumerated().map { place, cell in
            var name = JSONBytes()
            if place == 0, isArray { name.append(",") }
            name.append(place == 0 ? "{" : ",")
            name.append(string: cell.name)
            name.append(":")
            return (name.bytes, cell.kind)
        }
    }

    /// - Parameter rows: complete rows.
    func objects(_ rows: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        // Names take about as much room as values.
        result.reserveCapacity(rows.count * 5 / 2)
        rows.withUnsafeBytes { bytes in
            var place = 0
            while place < bytes.count {
                for (name, kind) in cells {
                    result.append(contentsOf: name)
                    let start = min(place, bytes.count)
                    var end = start
                    while end < bytes.count, bytes[end] != Self.tab, bytes[end] != Self.newline { end += 1 }
                    Self.append(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), kind, to: &result)
                    place = end + 1
                }
                result.append(UInt8(ascii: "}"))
                result.append(Self.newline)
            }
        }
        return result
    }

    private static let tab = UInt8(ascii: "\t")
    private static let newline = UInt8(ascii: "\n")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let null = Array("null".utf8)

    private static func append(_ cell: UnsafeRawBufferPointer, _ kind: Cell, to json: inout [UInt8]) {
        if cell.count == 2, cell[0] == backslash, cell[1] == UInt8(ascii: "N") {
            json.append(contentsOf: null)
            return
        }
        switch kind {
        case .truth: json.append(contentsOf: Array((cell.first == UInt8(ascii: "t") ? "true" : "false").utf8))
        case .number:
            // NaN, Infinity, -Infinity.
            let isFinite = !cell.contains { $0 == UInt8(ascii: "N") || $0 == UInt8(ascii: "I") }
            if !isFinite { json.append(quote) }
            json.append(contentsOf: cell)
            if !isFinite { json.append(quote) }
        case .quoted:
            json.append(quote)
            json.append(contentsOf: cell)
            json.append(quote)
        case .text:
            json.append(quote)
            append(text: cell, to: &json)
            json.append(quote)
        case .json: append(json: cell, to: &json)
        }
    }

    /// Appends a string. COPY's escapes are JSON's, except for the vertical tab. COPY escapes neither quotes nor rare
    /// control characters.
    private static func append(text cell: UnsafeRawBufferPointer, to json: inout [UInt8]) {
        var (start, place) = (0, 0)
        while place < cell.count {
            let byte = cell[place]
            if byte >= 0x20, byte != quote, byte != backslash {
                place += 1
                continue
            }
            if byte == backslash, place + 1 < cell.count, cell[place + 1] != UInt8(ascii: "v") {
                place += 2
                continue
            }
            json.append(contentsOf: UnsafeRawBufferPointer(rebasing: cell[start..<place]))
            switch byte {
            case quote: json.append(contentsOf: [backslash, quote])
            case backslash:
                append(control: 0x0B, to: &json)
                place += 1
            default: append(control: byte, to: &json)
            }
            place += 1
            start = place
        }
        json.append(contentsOf: UnsafeRawBufferPointer(rebasing: cell[min(start, cell.count)...]))
    }

    private static func append(control byte: UInt8, to json: inout [UInt8]) {
        let digits = Array("0123456789abcdef".utf8)
        json.append(contentsOf: Array("\\u00".utf8) + [digits[Int(byte >> 4)], digits[Int(byte & 15)]])
    }

    /// Appends JSON without COPY's escapes. Whitespace can only occur between JSON's own tokens.
    private static func append(json cell: UnsafeRawBufferPointer, to json: inout [UInt8]) {
        var place = 0
        while place < cell.count {
            var byte = cell[place]
            if byte == backslash, place + 1 < cell.count {
                place += 1
                byte = cell[place]
                switch byte {
                case UInt8(ascii: "b"), UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"),
                    UInt8(ascii: "v"):
                    // A line break would end the row for programs that read lines.
                    byte = UInt8(ascii: " ")
                default: break
                }
            }
            json.append(byte)
            place += 1
        }
    }
}
