import Foundation
import PostgresClient

/// An environment variable that configures a server. Every server's `--help` and the panel's settings page are generated
/// from these.
public struct ServerVariable: Sendable {
    public enum Topic: String, CaseIterable, Sendable {
        case database = "Database"
        case network = "Network"
        case accounts = "Accounts"
        case mail = "Mail"
        case maps = "Maps"
        case images = "Images"
        case languages = "Languages"
        case backups = "Backups"
        case monitoring = "Monitoring"
    }

    /// How much of the value people may see.
    public enum Kind: Sendable {
        case plain
        /// Only whether it's set.
        case secret
        /// A connection string: user, host, port and database.
        case database
        /// A web address, without user, password and query.
        case link
        /// The mail carrier: the host of an address, whose path may be a secret, or a program without its arguments.
        case mail
    }

    public let name: String
    public let topic: Topic
    public let kind: Kind
    /// What the variable does.
    public let summary: String
    /// The default.
    public let fallback: String

    package init(
        _ name: String, _ topic: Topic, _ kind: Kind = .plain, does summary: String, without fallback: String
    ) {
        self.name = name
        self.topic = topic
        self.kind = kind
        self.summary = summary
        self.fallback = fallback
    }

    /// The visible part of a value, never a password or a key.
    public func shown(_ value: String) -> String {
        switch kind {
        case .plain: value
        case .secret: "set"
        case .database: Self.database(value)
        case .link: Self.link(value)
        case .mail: Self.mail(value)
        }
    }

    /// Includes only parts that are known to be harmless, since libpq's other keywords may be secrets.
    private static func database(_ value: String) -> String {
        guard let keywords = try? PostgresConfiguration(value).keywords else { return "set" }
        let user = keywords["user"].map { "\($0)@" } ?? ""
        let port = keywords["port"].map { ":\($0)" } ?? ""
        let host = ListeningAddress.host(keywords["host"] ?? "")
        return "postgresql://\(user)\(host)\(port)/\(keywords["dbname"] ?? "")"
    }

    private static func link(_ value: String) -> String {
        guard var parts = URLComponents(string: value), parts.host != nil else { return "set" }
        let rest = parts.query == nil ? "" : "?…"
        (parts.user, parts.password, parts.query, parts.fragment) = (nil, nil, nil, nil)
        // Restores the braces of a map tile address.
        let shown = parts.string?.replacing("%7B", with: "{").replacing("%7D", with: "}")
        return (shown ?? "set") + rest
    }

    private static func mail(_ value: String) -> String {
        if value.hasPrefix("folder:") { return value }
        if value.hasPrefix("command:") {
            let program = value.prefix { $0 != " " }
            return program == value[...] ? value : "\(program) …"
        }
        guard let parts = URLComponents(string: value), let scheme = parts.scheme, let host = parts.host else {
            return "set"
        }
        return "\(scheme)://\(host)\(parts.port.map { ":\($0)" } ?? "")/…"
    }
}
