import TomboloHTTP
import TomboloLocalization

/// Bars for the requests of each minute, as parts of an SVG.
struct RequestChart: Sendable {
    private static let barWidth = 8
    private static let gap = 2
    private static let height = 80

    struct Part: Sendable {
        /// A class of the style sheet.
        let kind: String
        let y: Int
        let height: Int
    }

    struct Bar: Sendable {
        let x: Int
        /// What a pointer and a screen reader are told.
        let title: String
        let parts: [Part]
    }

    let width: Int
    let height: Int
    let barWidth: Int
    let bars: [Bar]
    /// Of the highest bar, in requests.
    let top: String

    init(_ minutes: [RequestLog.Minute]) {
        width = minutes.count * (Self.barWidth + Self.gap)
        height = Self.height
        barWidth = Self.barWidth
        let most = minutes.map(\.requests).max() ?? 0
        top = PanelNumber.text(most)
        bars = minutes.enumerated().map { index, minute in
            var bottom = Self.height
            var parts: [Part] = []
            let answered = minute.requests - minute.refused - minute.failed
            for (kind, count) in [("failed", minute.failed), ("refused", minute.refused), ("answered", answered)]
            where count > 0 {
                // A single failure among thousands of requests must be seen.
                let height = min(bottom, max(1, count * Self.height / max(1, most)))
                bottom -= height
                parts.append(Part(kind: kind, y: bottom, height: height))
            }
            let time = Moment(minute.number * 60_000_000, now: 0).exact
            let title = localized(
                "\(time): \(minute.requests) requests, \(minute.refused) refused, \(minute.failed) failed")
            return Bar(x: index * (Self.barWidth + Self.gap), title: title, parts: parts)
        }
    }
}
