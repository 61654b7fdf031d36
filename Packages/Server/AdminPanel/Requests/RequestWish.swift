import AdminService
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel

/// Which requests to show, as given in the address of the page.
struct RequestWish: Sendable {
    enum Range: String, Sendable {
        /// The latest requests of this server, from memory.
        case latest
        case day
        /// All requests that are kept.
        case all
    }

    /// The maximum size of a search text, in bytes.
    private static let maximumTextByteCount = 200
    static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
    /// The fields of the form.
    static let fields = ["method", "route", "user", "address", "request", "server"]

    let range: Range
    let filter: RequestFilter
    /// The values of the form's fields, without empty ones.
    let values: [String: String]
    let page: Int
    let after: RequestCursor?

    /// - Throws: ``RequestFailure`` with status 400 for an invalid parameter, or for a period of which nothing is kept.
    init(_ request: PanelRequest, keepsDays: Bool) async throws {
        page = try request.pageNumber(limit: RequestsContent.maximumPage)
        let range = Range(rawValue: request.query("range") ?? Range.latest.rawValue)
        guard let range, keepsDays || range == .latest else {
            throw RequestFailure(
                .badRequest, "'range' must be latest, day or all, and only latest if requests aren't kept.")
        }
        self.range = range
        var filter = RequestFilter()
        guard let kind = RequestLog.Kind(rawValue: request.query("show") ?? RequestLog.Kind.all.rawValue) else {
            throw RequestFailure(.badRequest, "'show' must be all, slow, refused or failed.")
        }
        filter.kind = kind
        after = try request.query("after").map { text in
            guard let cursor = RequestCursor(text) else {
                throw RequestFailure(.badRequest, localized("'after' must be the 'next' value of an earlier response."))
            }
            return cursor
        }
        var values: [String: String] = [:]
        for name in Self.fields {
            guard let text = request.query(name) else { continue }
            guard text.utf8.count <= Self.maximumTextByteCount, !text.utf8.contains(0) else {
                throw RequestFailure(
                    .badRequest,
                    localized("'\(name)' is longer than \(Self.maximumTextByteCount) bytes, or contains U+0000."),
                    hint: localized("Search for a shorter part of it."))
            }
            values[name] = text
        }
        (filter.method, filter.route, filter.address) = (values["method"], values["route"], values["address"])
        filter.requestID = values["request"]
        // Memory has only this server's requests.
        filter.server = range == .latest ? nil : values["server"]
        if let user = values["user"], let id = try? ObjectId(string: user) {
            // This also finds requests of deleted accounts.
            filter.user = .account(id)
        } else if let user = values["user"] {
            do {
                filter.user = .account(try await request.core.authenticator.userID(user))
            } catch AuthenticationError.unknownUser {
                filter.user = .unknown
            }
        }
        (self.filter, self.values) = (filter, values)
    }

    /// The address of the page with some parameters replaced.
    /// - Parameter others: the replacements. The number of the list's page is always dropped.
    func address(_ others: [String: String?]) -> String {
        var parameters = values
        if range != .latest { parameters["range"] = range.rawValue }
        if filter.kind != .all { parameters["show"] = filter.kind.rawValue }
        for (name, value) in others { parameters[name] = value }
        let query = parameters.sorted { $0.key < $1.key }
            .map { "\(RequestParameters.encode($0.key))=\(RequestParameters.encode($0.value))" }
        return RequestPages.path + (query.isEmpty ? "" : "?\(query.joined(separator: "&"))")
    }
}
