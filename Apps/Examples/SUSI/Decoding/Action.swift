/// What the server wants shown or done, as plain values. Every text fits the store.
enum Action: Equatable, Sendable {
    case answer(expression: String, language: String?)
    /// `limit` nil is without limit.
    case websearch(query: String, limit: Int?, results: [Entry])
    case rss(limit: Int?, feed: [Entry])
    /// `rows` have a cell for each column.
    case table(columns: [Column], rows: [[String]])
    case map(latitude: Double, longitude: Double, zoom: Int)
    case anchor(link: String, text: String)
    case stop
    /// A video or a sound; `kind` says where the identifier is valid: `youtube`, `url`.
    case video(identifier: String, kind: String)
    case audio(identifier: String, kind: String)
    /// Not understood: its name, where it had one.
    case unknown(type: String)

    static let unknownType = "unknown"

    /// One line of a feed, or of the results of a search.
    struct Entry: Equatable, Sendable {
        var title: String
        var description: String
        var link: String
    }

    /// A column's name in the data, and the one to show.
    struct Column: Equatable, Sendable {
        var original: String
        var shown: String
    }

    /// The name of the type, as servers write it.
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
