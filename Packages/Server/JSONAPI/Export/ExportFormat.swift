/// How the rows of an export are written.
enum ExportFormat: String, CaseIterable, Sendable {
    /// RFC 4180 in UTF-8, with a header.
    case csv
    /// One array, an element on each line.
    case json
    /// JSON lines: an object on each line.
    case ndjson

    var contentType: String {
        switch self {
        case .csv: "text/csv; charset=utf-8; header=present"
        case .json: "application/json; charset=utf-8"
        case .ndjson: "application/x-ndjson; charset=utf-8"
        }
    }

    /// What precedes the rows.
    var opening: [UInt8] { self == .json ? Array("[\n".utf8) : [] }
    var closing: [UInt8] { self == .json ? Array("]\n".utf8) : [] }
}
