import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
public import PostgresClient
import TomboloAuthentication
import TomboloLocalization
import TomboloModel

extension RequestFailure {
    /// Any error, worded for clients. An unknown error becomes ``Code/internalError`` without details.
    public init(_ error: any Error) {
        switch error {
        case let failure as RequestFailure: self = failure
        case let error as PostgresError: self.init(error)
        case let error as AuthenticationError: self.init(error)
        case let error as PostgresPoolError:
            self.init(.unavailable, Wording("The server is busy."), hint: Self.retryHint, cause: error)
        case let error as HTTPError: self.init(error)
        case is NIOTooManyBytesError: self = .bodyTooLarge
        case is HTTPParserError:
            self.init(.badRequest, Wording("The request's body is incomplete or isn't valid HTTP."), cause: error)
        default:
            self.init(
                .internalError, Wording("The server could not carry out the request."),
                hint: Wording("The server's log has the details under this request's id."), cause: error)
        }
    }

    /// A database error. A violated constraint becomes a conflict that names the properties; lost connections and locks
    /// become ``Code/unavailable``.
    public init(_ error: PostgresError) {
        switch error.code {
        case .uniqueViolation:
            let columns = Self.columns(inKeyDetail: error.detail)
            let names = columns.joined(separator: ", ")
            self.init(
                .conflict,
                columns.isEmpty
                    ? Wording("Another object already has a value that must be unique.")
                    : Wording("Another object already has the same \(names)."),
                hint: columns.isEmpty
                    ? Wording("Change it on one of the two, then try again.")
                    : Wording("Change \(names) on one of the two, then try again."),
                properties: columns, cause: error)
        case .resultTooLarge:
            self.init(
                .unprocessable, Wording("The answer would be too large."),
                hint: Wording(
                    untranslated:
                        "Ask for less at once: use page[size] for fewer resources, and fields[…] for fewer of their "
                        + "fields."),
                pageHint: localized("Choose fewer columns, or filter the list."),
                cause: error)
        case .undefinedTable where Self.isInFunction(error), .undefinedColumn where Self.isInFunction(error):
            // Tombolo's own functions change together with their tables. This is an operator's function that was left
            // behind, and trying again won't help.
            self.init(
                .internalError,
                Wording("A function in the database uses a table or a column that no longer exists."),
                hint: Wording(
                    "It may have been renamed. The server's log has the function under this request's id: change the "
                        + "function, or give the table or the column its old name back."), cause: error)
        case .undefinedTable, .undefinedColumn:
            // A migration has renamed it; servers follow with the next tick.
            self.init(.unavailable, Wording("The server's model is changing."), hint: Self.retryHint, cause: error)
        // There is a moment without a database while a restored one takes its name.
        case _ where error.isRetryable || error.code == .invalidCatalogName:
            self.init(
                .unavailable, Wording("The database does not answer at the moment."), hint: Self.retryHint,
                cause: error)
        case _ where error.isRefusal:
            // A constraint's name says what it demands, and contains no value.
            let rule = error.code == .checkViolation ? error.constraintName : nil
            self.init(
                .unprocessable,
                error.raisedSentence.map { Wording(untranslated: $0) }
                    ?? rule.map { Wording("The database refused the change: it would break the rule '\($0)'.") }
                    ?? Wording("The database refused a value."),
                hint: error.raisedSentence == nil ? nil : error.hint.map { Wording(untranslated: $0) },
                cause: error)
        default:
            self.init(
                .internalError, Wording("The server could not carry out the request."),
                hint: Wording("The server's log has the details under this request's id."), cause: error)
        }
    }

    private init(_ error: HTTPError) {
        switch error.status {
        case .notFound: self = .noSuchRoute
        case .contentTooLarge: self = .bodyTooLarge
        case let status where (400..<500).contains(status.code):
            self.init(.badRequest, error.body ?? localized("The request is malformed."), cause: error)
        default: self.init(.internalError, localized("The server could not carry out the request."), cause: error)
        }
    }

    private static func isInFunction(_ error: PostgresError) -> Bool {
        error.context?.contains("PL/pgSQL function") == true
    }

    static var retryHint: Wording { Wording("Try the same request again in a moment.") }
    /// 503 for a request that would have to wait with too many others for a shared answer.
    package static var tooManyWaiting: RequestFailure {
        RequestFailure(
            .unavailable, Wording("The server has more requests of this kind than it can hold."), hint: retryHint)
    }
    /// 401 for a request that only makes sense for somebody who is logged in.
    package static var needsUser: RequestFailure {
        RequestFailure(
            .unauthenticated, localized("This requires a user who is logged in."), hint: "Log in with POST /login.")
    }
    static var noSuchRoute: RequestFailure {
        RequestFailure(.notFound, localized("There is nothing at this address."))
    }
    static var bodyTooLarge: RequestFailure {
        RequestFailure(.tooLarge, localized("The request's body is too long."))
    }

    /// The column names in PostgreSQL's `Key (email, event)=(…) already exists.`: never the values.
    static func columns(inKeyDetail detail: String?) -> [String] {
        guard let detail, let open = detail.firstIndex(of: "("), let close = detail.range(of: ")=(") else { return [] }
        guard open < close.lowerBound else { return [] }
        return detail[detail.index(after: open)..<close.lowerBound].split(separator: ",")
            .map { $0.trimmingPrefix(" ").filter { $0 != "\"" } }
    }
}
