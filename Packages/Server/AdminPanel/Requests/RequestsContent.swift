import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// What the template `requests` shows: a chart of the last hour, and a list.
struct RequestsContent: Sendable {
    private static let pageSize = 100
    static let maximumPage = (RequestLog.maximumCount + pageSize - 1) / pageSize

    struct Tab: Sendable {
        let title: String
        let link: String
        let isChosen: Bool
    }

    struct Line: Sendable {
        let time: Moment
        let method: String
        let route: String
        let status: Int
        /// The kind of mark.
        let kind: String
        let duration: String
        let isSlow: Bool
        let userID: String?
        var user: String
        let address: String
        let requestID: String

        init(_ entry: RequestLog.Entry, now: Int64) {
            time = Moment(entry.time, now: now)
            method = entry.method
            route = entry.route ?? localized("no route")
            status = entry.status
            kind = entry.isFailed ? "no" : entry.status >= 400 ? "own" : "yes"
            let milliseconds = Int((entry.duration / .milliseconds(1)).rounded())
            duration = localized("\(PanelNumber.text(milliseconds)) ms")
            isSlow = entry.isSlow
            userID = entry.userID?.stringValue
            user = entry.userID?.stringValue ?? "—"
            address = entry.address
            requestID = entry.requestID
        }
    }

    let tabs: [Tab]
    let chart: RequestChart
    let summary: String
    var entries: [Line]
    let empty: String
    let page: Int
    let previous: String?
    let next: String?
    let slowSeconds: Int
    let kept: String

    init(_ log: RequestLog, _ kind: RequestLog.Kind, page: Int, now: Int64) {
        tabs = RequestLog.Kind.allCases.map { other in
            let title =
                switch other {
                case .all: localized("All", context: "requests")
                case .slow: localized("Slow", context: "requests")
                case .failed: localized("Failed", context: "requests")
                }
            return Tab(title: title, link: Self.address(other, page: 1), isChosen: other == kind)
        }
        let minutes = log.minutes(now: now)
        chart = RequestChart(minutes)
        func total(_ count: (RequestLog.Minute) -> Int) -> String {
            PanelNumber.text(minutes.reduce(0) { $0 + count($1) })
        }
        let (requests, refused, failed) = (total(\.requests), total(\.refused), total(\.failed))
        summary = localized(
            "In the last \(RequestLog.minuteCount) minutes: \(requests) requests, \(refused) refused (4xx), "
                + "\(failed) failed (5xx).")
        let all = log.entries(kind)
        let start = (page - 1) * Self.pageSize
        entries = all.dropFirst(start).prefix(Self.pageSize).map { Line($0, now: now) }
        empty =
            kind == .all
            ? localized("No requests yet.") : localized("None since the server started, among those that are kept.")
        self.page = page
        previous = page > 1 ? Self.address(kind, page: page - 1) : nil
        next = all.count > start + Self.pageSize ? Self.address(kind, page: page + 1) : nil
        slowSeconds = Int(RequestLog.slowDuration.components.seconds)
        kept = PanelNumber.text(RequestLog.maximumCount)
    }

    /// Says what users are called.
    mutating func name(_ names: [String: String]) {
        for index in entries.indices {
            if let id = entries[index].userID, let name = names[id] { entries[index].user = name }
        }
    }

    private static func address(_ kind: RequestLog.Kind, page: Int) -> String {
        var parts: [String] = []
        if kind != .all { parts.append("show=\(kind.rawValue)") }
        if page > 1 { parts.append("page=\(page)") }
        return RequestPages.path + (parts.isEmpty ? "" : "?\(parts.joined(separator: "&"))")
    }
}
