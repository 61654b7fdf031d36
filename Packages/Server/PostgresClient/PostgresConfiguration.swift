import CLibPQ

/// Where and how to connect. No description shows the password.
///
/// Anything not set here comes from libpq's environment variables (`PGHOST`, `PGUSER`, …) and password file.
public struct PostgresConfiguration: Sendable, Equatable {
    /// libpq's connection keywords (PostgreSQL manual, section 34.1.2), such as `host`, `port`, `dbname`, `user`.
    public var keywords: [String: String]
    /// The name shown in `pg_stat_activity`.
    public var applicationName: String {
        get { keywords["application_name"] ?? "" }
        set { keywords["application_name"] = newValue }
    }
    /// The time limit for opening a connection.
    public var connectTimeout: Duration = Self.defaultConnectTimeout
    /// The server cancels statements that run longer than this; nil keeps the server's setting.
    public var statementTimeout: Duration?
    /// Server settings for every session, such as `["search_path": "public"]`.
    public var settings: [String: String] = [:]
    /// The number of statements a connection keeps prepared; 0 for none, for poolers that don't support them.
    public var preparedStatementLimit = Self.defaultPreparedStatementLimit

    public static let defaultConnectTimeout = Duration.seconds(10)
    public static let defaultPreparedStatementLimit = 256

    /// Keep dead network peers from holding a connection for hours. The first three apply while waiting for the server,
    /// the last (in milliseconds, Linux only) while the server doesn't confirm data sent to it.
    private static let defaultKeywords = [
        "application_name": "tombolo", "client_encoding": "UTF8", "keepalives_idle": "30", "keepalives_interval": "10",
        "keepalives_count": "3", "tcp_user_timeout": "60000",
    ]

    public init(
        host: String? = nil, port: Int? = nil, user: String? = nil, password: String? = nil, database: String? = nil
    ) {
        keywords = Self.defaultKeywords
        keywords["host"] = host
        keywords["port"] = port.map(String.init)
        keywords["user"] = user
        keywords["password"] = password
        keywords["dbname"] = database
    }

    /// Reads `postgresql://user@host:port/database?…` or `host=… dbname=…`.
    ///
    /// - Throws: `PostgresError` if libpq can't parse the string. It never quotes the string, which may have a
    ///   password.
    public init(_ connectionString: String) throws {
        keywords = Self.defaultKeywords
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connectionString, &message) else {
            // libpq's message quotes parts of the string, which may contain the password, so it's not repeated.
            PQfreemem(message)
            throw PostgresError(
                code: .unableToConnect, message: "the PostgreSQL connection string is malformed",
                hint: "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE or host=… port=… dbname=… user=…, and "
                    + "percent-encode special characters in a URL.")
        }
        defer { PQconninfoFree(options) }
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { keywords[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        if let seconds = keywords.removeValue(forKey: "connect_timeout").flatMap(Int.init), seconds > 0 {
            connectTimeout = .seconds(seconds)
        }
    }

    /// The database name in ``keywords``.
    public var database: String? {
        get { keywords["dbname"] }
        set { keywords["dbname"] = newValue }
    }

    /// The user name in ``keywords``.
    public var user: String? {
        get { keywords["user"] }
        set { keywords["user"] = newValue }
    }

    /// The same configuration for another database.
    public func database(_ name: String) -> Self {
        var copy = self
        copy.database = name
        return copy
    }

    /// The keywords for libpq, sorted, with the settings in `options`.
    var connectionKeywords: [(String, String)] {
        var all = keywords
        var serverSettings = settings
        if let statementTimeout {
            serverSettings["statement_timeout"] = String(statementTimeout.wholeMilliseconds)
        }
        let options = serverSettings.sorted { $0.key < $1.key }.map { name, value in
            "-c " + Self.escapeOption("\(name)=\(value)")
        }
        if !options.isEmpty {
            all["options"] = ([all["options"]].compactMap { $0 } + options).joined(separator: " ")
        }
        return all.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The server splits `options` at spaces; a backslash escapes one.
    private static func escapeOption(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private static let secretKeywords: Set<String> = ["password", "sslpassword"]

    /// The keywords, with secret values left out.
    public var description: String {
        keywords.sorted { $0.key < $1.key }
            .map { key, value in "\(key)=\(Self.secretKeywords.contains(key) ? "****" : value)" }
            .joined(separator: " ")
    }

    public var debugDescription: String {
        description
    }

    public var customMirror: Mirror {
        Mirror(self, children: ["keywords": description])
    }
}

extension Duration {
    /// The duration in milliseconds, rounded up, at least 1.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (value, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return .max }
        return max(
            1, value.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000).partialValue)
    }
}
