import HTTPTypes
import Hummingbird
public import PostgresClient
import TomboloRules

/// Who makes changes, for the audit log. While it's in force, every transaction that changes something records it.
public struct ChangeOrigin: Hashable, Sendable {
    /// The kind of origin, other than a device.
    public enum Kind: String, Sendable {
        /// A request.
        case http
        /// The server itself, such as when it purges the trash.
        case system
    }

    public let kind: Kind
    /// The account's id in hexadecimal; nil for nobody.
    public let user: String?
    /// The IP address that the request came from.
    public let address: String?
    /// The route's method and path, or a description of the server's work. Never what callers put into addresses.
    public let route: String

    /// - Parameters:
    ///   - route: a request's method and path, or the name of the system's work, such as `purge of the trash`.
    public init(_ kind: Kind, user: String? = nil, address: String? = nil, route: String) {
        self.kind = kind
        self.user = user
        self.address = address
        self.route = route
    }

    /// The same origin on behalf of another account.
    public func by(_ user: String) -> ChangeOrigin { ChangeOrigin(kind, user: user, address: address, route: route) }

    /// Runs `body` with this origin in force. It also applies to transactions of tasks that `body` starts, but not to
    /// statements outside of transactions.
    nonisolated(nonsending) public func run<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R {
        try await Self.$current.withValue(self) {
            try await PostgresTransactionEnding.$statement.withValue(statement) { try await body() }
        }
    }

    /// The origin in force. Work that is handed to another task, together with others' work, has to pass it on.
    @TaskLocal public static var current: ChangeOrigin?

    /// For the end of a transaction that several users share: records who changes which object.
    /// - Parameters:
    ///   - origins: by the object's key as the changelog has it; for an ObjectId, its hexadecimal digits.
    ///   - route: as in ``init(_:user:address:route:)``.
    public static func statement(of origins: [String: ChangeOrigin], route: String) -> PostgresStatement {
        var json = JSONBytes(capacity: origins.count * expectedByteCount)
        for (key, origin) in origins {
            json.append(json.bytes.isEmpty ? "{" : ",")
            json.append(string: key)
            json.append(#":{"user":"#)
            if let user = origin.user { json.append(string: user) } else { json.append(null: ()) }
            json.append(#","address":"#)
            if let address = origin.address { json.append(string: address) } else { json.append(null: ()) }
            json.append("}")
        }
        json.append(json.bytes.isEmpty ? "{}" : "}")
        return PostgresStatement(
            "SELECT tombolo.name_authors($1, $2::text::jsonb, $3)",
            [.text(Kind.http.rawValue), .text(String(decoding: json.bytes, as: UTF8.self)), .text(route)])
    }

    /// For one object's part of ``statement(of:route:)``.
    private static let expectedByteCount = 96

    /// For the end of a transaction that is made in another way: records this origin.
    public var statement: PostgresStatement {
        PostgresStatement(
            "SELECT tombolo.name_author($1, $2, $3, $4)",
            [.text(kind.rawValue), .text(user), .text(address), .text(route)])
    }
}
