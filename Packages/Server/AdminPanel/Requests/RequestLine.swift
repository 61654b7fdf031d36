import TomboloHTTP
import TomboloLocalization
import TomboloModel

/// A line of the list of requests.
struct RequestLine: Sendable {
    let time: Moment
    let method: String
    let route: String
    let status: Int
    /// The style of the mark.
    let kind: String
    let duration: String
    let isSlow: Bool
    let userID: String?
    var user: String
    /// The list narrowed to the same user or address; nil if it already is.
    let ofUser: String?
    let ofAddress: String?
    let address: String
    let requestID: String
    /// Nil if all requests are from one server.
    let server: String?

    init(_ entry: RequestLog.Entry, server: String? = nil, _ wish: RequestWish, now: Int64) {
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
        ofUser = wish.values["user"] == nil ? userID.map { wish.address(["user": $0]) } : nil
        ofAddress = wish.values["address"] == nil ? wish.address(["address": entry.address]) : nil
        address = entry.address
        requestID = entry.requestID
        self.server = server
    }
}
