import AdminService
import TomboloHTTP
import TomboloLocalization

/// The values for the template `requests`: a chart, a form to filter the requests, and a list.
struct RequestsContent: Sendable {
    private static let pageSize = 100
    static let maximumPage = (RequestLog.maximumCount + pageSize - 1) / pageSize

    struct Tab: Sendable {
        let title: String
        let link: String
        let isChosen: Bool
    }

    struct Choice: Sendable {
        let value: String
        let isChosen: Bool
    }

    let path = RequestPages.path
    /// The periods to choose from; empty if only the latest requests are kept.
    let ranges: [Tab]
    let tabs: [Tab]
    /// Whether the latest requests of this server are shown.
    let isLatest: Bool
    let chart: RequestChart?
    /// Why there is no chart.
    let chartProblem: String?
    /// A warning that requests are missing.
    let dropped: String?
    let methods: [Choice]
    let route: String
    let user: String
    let address: String
    let request: String
    let server: String
    /// The values that the form passes on; nil for defaults.
    let range: String?
    let show: String?
    /// The address without any filter; nil if there is no filter.
    let everything: String?
    var entries: [RequestLine]
    let empty: String
    let page: Int
    let previous: String?
    let newest: String?
    let next: String?
    let slowSeconds: Int
    let kept: String

    /// The latest requests of this server.
    init(_ log: RequestLog, _ kept: KeptRequests?, _ wish: RequestWish, now: Int64) {
        let all = log.entries(wish.filter.kind).filter(wish.filter.matches)
        let start = (wish.page - 1) * Self.pageSize
        let spans = log.minutes(now: now).map {
            RequestSpan(
                start: $0.number * 60_000_000, requests: $0.requests, refused: $0.refused, failed: $0.failed)
        }
        let chart = RequestChart(spans, by: .minute) { requests, refused, failed in
            localized(
                "In the last \(RequestLog.minuteCount) minutes: \(requests) requests, \(refused) refused (4xx), "
                    + "\(failed) failed (5xx).")
        }
        self.init(
            kept, wish, chart: chart,
            entries: all.dropFirst(start).prefix(Self.pageSize).map { RequestLine($0, wish, now: now) },
            previous: wish.page > 1 ? wish.address(["page": wish.page > 2 ? "\(wish.page - 1)" : nil]) : nil,
            next: all.count > start + Self.pageSize ? wish.address(["page": "\(wish.page + 1)"]) : nil)
    }

    /// The requests of all servers, from the database.
    /// - Parameters:
    ///   - spans: nil if counting took too long.
    ///   - unit: the interval that a bar of the chart represents.
    init(
        _ kept: KeptRequests, _ wish: RequestWish, _ page: KeptRequests.Page, spans: [RequestSpan]?,
        by unit: RequestChart.Unit, now: Int64
    ) {
        let chart = spans.map { spans in
            RequestChart(spans, by: unit) { requests, refused, failed in
                localized("Found: \(requests) requests, \(refused) refused (4xx), \(failed) failed (5xx).")
            }
        }
        self.init(
            kept, wish, chart: chart,
            entries: page.entries.map { RequestLine($0.entry, server: $0.server, wish, now: now) }, previous: nil,
            next: page.next.map { wish.address(["after": $0.text]) })
    }

    private init(
        _ kept: KeptRequests?, _ wish: RequestWish, chart: RequestChart?, entries: [RequestLine], previous: String?,
        next: String?
    ) {
        isLatest = wish.range == .latest
        ranges = Self.ranges(kept, wish)
        tabs = RequestLog.Kind.allCases.map { kind in
            let title =
                switch kind {
                case .all: localized("All", context: "requests")
                case .slow: localized("Slow", context: "requests")
                case .refused: localized("Refused", context: "requests")
                case .failed: localized("Failed", context: "requests")
                }
            return Tab(
                title: title, link: wish.address(["show": kind == .all ? nil : kind.rawValue]),
                isChosen: kind == wish.filter.kind)
        }
        self.chart = chart
        chartProblem =
            chart == nil
            ? localized(
                "There is no chart: counting takes longer than \(KeptRequests.statementTimeout.components.seconds) seconds."
            )
            : nil
        let count = kept?.log.droppedCount ?? 0
        dropped =
            count > 0
            ? localized(
                count,
                one:
                    "\(PanelNumber.text(count)) request to this server is missing from the log: the database was too slow.",
                other:
                    "\(PanelNumber.text(count)) requests to this server are missing from the log: the database was too slow."
            )
            : nil
        methods = RequestWish.methods.map { Choice(value: $0, isChosen: $0 == wish.values["method"]) }
        route = wish.values["route"] ?? ""
        user = wish.values["user"] ?? ""
        address = wish.values["address"] ?? ""
        request = wish.values["request"] ?? ""
        server = wish.values["server"] ?? ""
        range = wish.range == .latest ? nil : wish.range.rawValue
        show = wish.filter.kind == .all ? nil : wish.filter.kind.rawValue
        everything =
            wish.values.isEmpty
            ? nil : wish.address(Dictionary(uniqueKeysWithValues: RequestWish.fields.map { ($0, nil) }))
        self.entries = entries
        empty =
            !wish.values.isEmpty || wish.range != .latest
            ? localized("No requests match.")
            : wish.filter.kind == .all
                ? localized("No requests yet.") : localized("None since the server started, among those that are kept.")
        page = wish.page
        self.previous = previous
        newest = wish.after == nil ? nil : wish.address([:])
        self.next = next
        slowSeconds = Int(RequestLog.slowDuration.components.seconds)
        self.kept = PanelNumber.text(RequestLog.maximumCount)
    }

    private static func ranges(_ kept: KeptRequests?, _ wish: RequestWish) -> [Tab] {
        guard let kept else { return [] }
        func tab(_ range: RequestWish.Range, _ title: String) -> Tab {
            Tab(
                title: title, link: wish.address(["range": range == .latest ? nil : range.rawValue]),
                isChosen: range == wish.range)
        }
        let (latest, day) = (
            tab(.latest, localized("This server, latest")), tab(.day, localized("All servers, last day"))
        )
        let all = tab(
            .all,
            localized(
                kept.days, one: "All servers, \(kept.days) day", other: "All servers, \(kept.days) days"))
        return kept.days > 1 ? [latest, day, all] : [latest, day]
    }

    /// Fills in the names of users.
    mutating func name(_ names: [String: String]) {
        for index in entries.indices {
            if let id = entries[index].userID, let name = names[id] { entries[index].user = name }
        }
    }
}
