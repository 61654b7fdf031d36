import AdminService
import TomboloLocalization

/// A chart of requests per interval, as parts of an SVG.
struct RequestChart: Sendable {
    /// In units of the SVG, which is stretched.
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
        /// The text for the pointer's tooltip and for screen readers.
        let title: String
        let parts: [Part]
    }

    /// The interval that a bar represents.
    enum Unit: Int64 {
        case minute = 60
        case hour = 3_600
        case day = 86_400

        var seconds: Int64 { rawValue }
    }

    let width: Int
    let height: Int
    let barWidth: Int
    let bars: [Bar]
    let summary: String
    /// The height of the highest bar, in requests.
    let top: String
    let isOfMinutes: Bool
    let isOfHours: Bool
    let isOfDays: Bool

    /// - Parameter summary: makes the chart's description from the total number of requests, and the numbers of refused
    ///   and failed ones.
    init(_ spans: [RequestSpan], by unit: Unit, summary: (_ all: String, _ refused: String, _ failed: String) -> String)
    {
        width = spans.count * (Self.barWidth + Self.gap)
        height = Self.height
        barWidth = Self.barWidth
        (isOfMinutes, isOfHours, isOfDays) = (unit == .minute, unit == .hour, unit == .day)
        func total(_ count: (RequestSpan) -> Int) -> String { PanelNumber.text(spans.reduce(0) { $0 + count($1) }) }
        self.summary = summary(total(\.requests), total(\.refused), total(\.failed))
        let most = spans.map(\.requests).max() ?? 0
        top = PanelNumber.text(most)
        bars = spans.enumerated().map { index, span in
            var bottom = Self.height
            var parts: [Part] = []
            let answered = span.requests - span.refused - span.failed
            for (kind, count) in [("failed", span.failed), ("refused", span.refused), ("answered", answered)]
            where count > 0 {
                // A single failure among thousands of requests must remain visible.
                let height = min(bottom, max(1, count * Self.height / max(1, most)))
                bottom -= height
                parts.append(Part(kind: kind, y: bottom, height: height))
            }
            let moment = Moment(span.start, now: 0)
            let time = unit == .day ? moment.day : moment.exact
            let title = localized("\(time): \(span.requests) requests, \(span.refused) refused, \(span.failed) failed")
            return Bar(x: index * (Self.barWidth + Self.gap), title: title, parts: parts)
        }
    }
}
