/// What the server wants to be shown or done, as plain values. Every text fits into the store.
enum Action: Equatable, Sendable {
    case answer(expression: String, language: String?)
    /// A nil `limit` means no limit.
    case websearch(query: String, limit: Int?, results: [Entry])
    case rss(limit: Int?, feed: [Entry])
    /// Each of the `rows` has a cell for each column.
    case table(columns: [Column], rows: [[String]])
    case map(latitude: Double, longitude: Double, zoom: Int)
    case anchor(link: String, text: String)
    case stop
    /// A video or a sound. `kind` says where the identifier is valid: `youtube`, `url`.
    case video(identifier: String, kind: String)
    case audio(identifier: String, kind: String)
    /// An action that wasn't understood, with its name if it had one.
    case unknown(type: String)

    static let unknownType = "unknown"

    /// An entry in a feed or in search results.
    struct Entry: Equatable, Sendable {
        var title: String
        var description: String
        var link: String
    }

    /// A column's name in the data, and the name to show.
    struct Column: Equatable, Sendable {
        var original: String
        var shown: String
    }

    /// The name that servers use for the type.
    var type: String {
        switch self {
        case .answer: ActionType.answer.rawValue
        case .websearch: ActionType.websearch.rawValue
        case .rss: ActionType.rss.rawValue
        case .table: ActionType.table.rawValue
        case .map: ActionType.map.rawValue
        case .anchor: ActionType.anchor.rawValue
        case .stop: ActionType.stop.rawValue
        case .video: ActionType.videoPlay.rawValue
        case .audio: ActionType.audioPlay.rawValue
        case .unknown(let type): type
        }
    }
}
