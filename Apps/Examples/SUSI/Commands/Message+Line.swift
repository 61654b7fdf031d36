import Foundation

extension Message {
    /// The most rows of a feed or table to show, because there may be thousands.
    private static let shownRowCount = 3

    /// The message on one line: the date, the author and the text.
    var line: String {
        let date = queryDate.formatted(.iso8601)
        guard !fromUser else {
            return "\(date)  you   \(LineText.line(message))\(isSent ? "" : "  (unsent)")"
        }
        let parts = [actionType, content, raw.map { "kept raw: \($0)" } ?? ""].filter { !$0.isEmpty }
        return "\(date)  susi  \(LineText.line(parts.joined(separator: "  ")))"
    }

    private var content: String {
        if let mapData { return "\(mapData.latitude), \(mapData.longitude), zoom \(mapData.zoom)" }
        if let anchorData { return "\(anchorData.text) <\(anchorData.link)>" }
        if let mediaData {
            return [mediaData.kind, mediaData.identifier].filter { !$0.isEmpty }.joined(separator: " ")
        }
        if let rssData { return Self.rows(rssData.feed.count, rssData.feed.lazy.map(Self.text)) }
        if let websearchData {
            let results = websearchData.results
            return results.isEmpty ? message : "\(message): \(Self.rows(results.count, results.lazy.map(Self.text)))"
        }
        if let tableData {
            let titles = tableData.columns.map(\.changed).joined(separator: " | ")
            return Self.rows(
                tableData.rows.count, tableData.rows.lazy.map { $0.cells.joined(separator: " | ") }, titles)
        }
        return message
    }

    private static func text(_ entry: Entry) -> String {
        [entry.title, entry.text, entry.link].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    private static func rows(_ count: Int, _ texts: some Sequence<String>, _ titles: String = "") -> String {
        let shown = [titles].filter { !$0.isEmpty } + texts.prefix(shownRowCount)
        let more = count > shownRowCount ? ["and \(count - shownRowCount) more"] : []
        return "\(count) \(count == 1 ? "row" : "rows"): " + (shown + more).joined(separator: "; ")
    }
}
