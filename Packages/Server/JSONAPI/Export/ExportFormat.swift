/// The format of an export's rows.
enum ExportFormat: String, CaseIterable, Sendable {
    /// RFC 4180 in UTF-8, with a header.
    case csv
    /// One array, with one element on each line.
    case json
    /// JSON lines: one object on each line.
    case ndjson

    var contentType: String {
        switch self {
        case .csv: "text/csv; charset=utf-8; header=present"
        case .json: "application/json; charset=utf-8"
        case .ndjson: "application/x-ndjson; charset=utf-8"
        }
    }

    /// The bytes before the rows.
    var opening: [UInt8] { self == .json ? Array("[\n".utf8) : [] }
    var closing: [UInt8] { self == .json ? Array("]\n".utf8) : [] }
}
