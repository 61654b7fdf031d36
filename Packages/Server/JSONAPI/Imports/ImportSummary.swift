import TomboloHTTP
import TomboloModel

/// What is known of an uploaded file before anything is chosen.
package struct ImportSummary: Sendable {
    /// Its name, if its sender said one.
    package let file: String?
    /// What its person should check.
    package let note: String?
    package let isTable: Bool
    /// Whether rows are numbered by lines, and not by their places in an array.
    package let numbersLines: Bool
    /// In its order.
    package let columns: [String]
    package let rowCount: Int64
    /// The member that each column probably is, by its name.
    package let suggestions: [String: String]
    /// What rows can be matched by besides the id: names of members that are unique together.
    package let matches: [[String]]
    /// Whether it's still to be started.
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
