import PostgresClient
package import TomboloHTTP
package import TomboloModel
import TomboloPostgresStore

/// Which requests to show, both from memory and from the database.
package struct RequestFilter: Sendable {
    package enum User: Sendable {
        case account(ObjectId)
        /// A user to whom no request belongs.
        case unknown
    }

    package var kind = RequestLog.Kind.all
    package var method: String?
    /// The beginning of the route.
    package var route: String?
    package var user: User?
    package var address: String?
    package var requestID: String?
    /// Only for the database, since memory has only one server's requests.
    package var server: String?

    package init() {}

    package func matches(_ entry: RequestLog.Entry) -> Bool {
        if let method, entry.method != method { return false }
        if let route, !(entry.route?.hasPrefix(route) ?? false) { return false }
        switch user {
        case .account(let id) where entry.userID != id: return false
        case .unknown: return false
        case .account, nil: break
        }
        if let address, entry.address != address { return false }
        if let requestID, entry.requestID != requestID { return false }
        switch kind {
        case .all: return true
        case .slow: return entry.isSlow
        case .refused: return entry.isRefused
        case .failed: return entry.isFailed
        }
    }

    /// The filter in SQL.
    /// - Parameter parameters: the values are appended to it.
    func conditions(_ parameters: inout [PostgresParameter]) -> [String] {
        var conditions: [String] = []
        func add(_ value: PostgresParameter, _ condition: (_ place: String) -> String) {
            parameters.append(value)
            conditions.append(condition("$\(parameters.count)"))
        }
        switch kind {
        case .all: break
        case .slow: conditions.append(NotableRequest.slow)
        case .refused: conditions.append(NotableRequest.refused)
        case .failed: conditions.append(NotableRequest.failed)
        }
        if let method { add(.text(method)) { "method = \($0)" } }
        if let route { add(.text(route)) { "starts_with(route, \($0))" } }
        switch user {
        case .account(let id): add(.bytea(id.bytes)) { "user_id = \($0)" }
        case .unknown: conditions.append("false")
        case nil: break
        }
        if let address { add(.text(address)) { "address = \($0)" } }
        if let requestID { add(.text(requestID)) { "request_id = \($0)" } }
        if let server { add(.text(server)) { "server = \($0)" } }
        return conditions
    }
}
