import Foundation
import PostgresClient
import TomboloHTTP

/// A variable of the environment that a server is configured by. `--help` and the panel's page of settings are made of it.
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

    /// How much of its value people may see.
    public enum Kind: Sendable {
        case plain
        /// Nothing but that it's set.
        case secret
        /// A connection string: user, host, port and database.
        case database
        /// An address of the web, without user, password and query.
        case link
        /// Who carries mails: the host of an address, whose path may be a secret, or a program without its arguments.
        case mail
    }

    public let name: String
    public let topic: Topic
    public let kind: Kind
    /// What it does.
    public let summary: String
    /// What counts without it.
    public let fallback: String

    init(
        _ name: String, _ topic: Topic, _ kind: Kind = .plain, does summary: String, without fallback: String
    ) {
        self.name = name
        self.topic = topic
        self.kind = kind
        self.summary = summary
        self.fallback = fallback
    }

    /// What people may see of a value; never a password or a key.
    public func shown(_ value: String) -> String {
        switch kind {
        case .plain: value
        case .secret: "set"
        case .database: Self.database(value)
        case .link: Self.link(value)
        case .mail: Self.mail(value)
        }
    }

    /// Made of what is known to be harmless: other keywords of libpq's may be secrets.
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
        // The braces of a map's address.
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
