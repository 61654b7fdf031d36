import HTTPTypes
import Hummingbird
public import PostgresClient
import TomboloRules

/// Who makes changes, for the audit log. Where it's in force, every transaction that changes something says so.
public struct ChangeOrigin: Hashable, Sendable {
    /// Who changes something without a device.
    public enum Kind: String, Sendable {
        /// A request.
        case http
        /// A server by itself, such as the purge of the trash.
        case system
    }

    public let kind: Kind
    /// The account's id in hexadecimal; nil for nobody.
    public let user: String?
    /// The IP address that the request came from.
    public let address: String?
    /// The route's method and path, or what the server is doing, in words. Never what callers put into addresses.
    public let route: String

    /// - Parameters:
    ///   - route: of a request its method and path, of the system's work its name, such as `purge of the trash`.
    public init(_ kind: Kind, user: String? = nil, address: String? = nil, route: String) {
        self.kind = kind
        self.user = user
        self.address = address
        self.route = route
    }

    /// The same on behalf of another account.
    public func by(_ user: String) -> ChangeOrigin { ChangeOrigin(kind, user: user, address: address, route: route) }

    /// Does something whose changes are from here. Transactions of tasks that `body` starts count too; statements outside of
    /// transactions don't.
    nonisolated(nonsending) public func run<R>(
        _ body: nonisolated(nonsending) () async throws -> R
    ) async rethrows -> R {
        try await Self.$current.withValue(self) {
            try await PostgresTransactionEnding.$statement.withValue(statement) { try await body() }
        }
    }

    /// What is in force: for work that is handed to a task of its own, together with that of others.
    @TaskLocal public static var current: ChangeOrigin?

    /// Says at the end of a transaction that several users share who changes which object.
    /// - Parameters:
    ///   - origins: by the object's key, as the changelog has it: of an ObjectId its hexadecimal digits.
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

    /// Of an object's part of ``statement(of:route:)``.
    private static let expectedByteCount = 96

    /// Says it at the end of a transaction, for transactions that are made in another way.
    public var statement: PostgresStatement {
        PostgresStatement(
            "SELECT tombolo.name_author($1, $2, $3, $4)",
            [.text(kind.rawValue), .text(user), .text(address), .text(route)])
    }
}
