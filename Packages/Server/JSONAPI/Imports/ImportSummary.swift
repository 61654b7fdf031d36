import TomboloHTTP
import TomboloModel

/// What is known about an uploaded file before any choices.
package struct ImportSummary: Sendable {
    /// The file's name, if the sender gave one.
    package let file: String?
    /// What the user should check.
    package let note: String?
    package let isTable: Bool
    /// Whether rows are numbered by lines, and not by positions in an array.
    package let numbersLines: Bool
    /// In the file's order.
    package let columns: [String]
    package let rowCount: Int64
    /// The member that each column probably means, by its name.
    package let suggestions: [String: String]
    /// What rows can be matched by instead of the id: names of members that are unique together.
    package let matches: [[String]]
    /// Whether the import hasn't been started.
    package let isWaiting: Bool
    let rows: [ImportSource]

    private static let sampleByteCount = 100

    /// The first values of a column, for people.
    package func sample(of column: String) -> String {
        guard let place = columns.firstIndex(of: column) else { return "" }
        let column = ImportMapping.Column(name: column, place: place)
        let texts = rows.compactMap { row -> String? in
            switch row.value(column) {
            case nil, .null?: nil
            case .string(let text)?: text
            case let json?: JobStore.text(json)
            }
        }
        return texts.map { $0.shortened(toByteCount: Self.sampleByteCount) }.joined(separator: ", ")
    }
}
