/// How the points of a stroke are stored.
enum PointsForm: String, CaseIterable, Sendable {
    /// One column: x and y of each point as little-endian doubles.
    case doubles = "one column of doubles"
    /// One column: `[[x,y],…]`, the shortest decimals that read back the same.
    case json = "one column of JSON"
    /// A child table with a row for each point: id, owner, rank, x, y.
    case rows = "a row for each point"

    var strokeTable: String {
        switch self {
        case .doubles: "doubles_stroke"
        case .json: "json_stroke"
        case .rows: "rows_stroke"
        }
    }

    static let pointTable = "rows_point"
}
