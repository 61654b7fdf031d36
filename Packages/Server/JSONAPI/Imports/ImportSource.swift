import Foundation
import TomboloHTTP

/// One row of a file, as it's stored until the import is over.
enum ImportSource: Sendable {
    /// The row of a table, in the order of its columns; nil is an empty cell without quotes.
    case cells([String?])
    case members([String: JSON])

    /// - Parameter text: what ``text(of:)`` wrote, or a JSON object as it was sent.
    init(_ text: String, isTable: Bool) throws {
        let (decoder, data) = (JSONDecoder(), Data(text.utf8))
        self =
            isTable
            ? .cells(try decoder.decode([String?].self, from: data))
            : .members(try decoder.decode([String: JSON].self, from: data))
    }

    static func text(of cells: [String?]) -> String {
        JobStore.text(.array(cells.map { $0.map(JSON.string) ?? .null }))
    }

    /// The row of a table, with one cell replaced.
    func replacing(_ column: ImportMapping.Column, with text: String) -> ImportSource {
        guard case .cells(var cells) = self, cells.indices.contains(column.place) else { return self }
        cells[column.place] = text
        return .cells(cells)
    }

    /// The text that ``init(_:isTable:)`` reads.
    var text: String {
        switch self {
        case .cells(let cells): Self.text(of: cells)
        case .members(let members): JobStore.text(.object(members))
        }
    }

    /// The row's value for a column; nil if it says nothing about it.
    func value(_ column: ImportMapping.Column) -> JSON? {
        switch self {
        case .cells(let cells):
            cells.indices.contains(column.place) ? cells[column.place].map(JSON.string) ?? .null : nil
        case .members(let members): members[column.name]
        }
    }
}
