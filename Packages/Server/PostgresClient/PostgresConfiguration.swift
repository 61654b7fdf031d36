import CLibPQ

/// Where and how to connect. The password shows in no description.
///
/// What is not set here comes from libpq's environment variables (`PGHOST`, `PGUSER`, …) and password file.
public struct PostgresConfiguration: Sendable, Equatable {
    /// libpq's connection keywords (PostgreSQL manual, section 34.1.2), such as `host`, `port`, `dbname`, `user`.
    public var keywords: [String: String]
    /// Shown in `pg_stat_activity`.
    public var applicationName: String {
        get { keywords["application_name"] ?? "" }
        set { keywords["application_name"] = newValue }
    }
    /// How long opening a connection may take.
    public var connectTimeout: Duration = Self.defaultConnectTimeout
    /// The server cancels statements that run longer; `nil` leaves the server's setting.
    public var statementTimeout: Duration?
    /// Server settings of every session, such as `["search_path": "public"]`.
    public var settings: [String: String] = [:]
    /// How many statements a connection keeps prepared; 0 prepares none (for poolers that forbid it).
    public var preparedStatementLimit = Self.defaultPreparedStatementLimit

    public static let defaultConnectTimeout = Duration.seconds(10)
    public static let defaultPreparedStatementLimit = 256

    /// Keeps dead network peers from holding a connection for hours: the first three while the connection waits for
    /// the server, the last (in milliseconds, Linux only) while the server doesn't confirm what it was sent.
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
    /// - Throws: `PostgresError` saying what libpq did not understand.
    public init(_ connectionString: String) throws {
        keywords = Self.defaultKeywords
        var message: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(connectionString, &message) else {
            // libpq quotes parts of the string, which may hold the password: not repeated here.
            PQfreemem(message)
            throw PostgresError(
                code: .unableToConnect, message: "the PostgreSQL connection string is malformed",
                hint: "Write postgresql://USER:PASSWORD@HOST:PORT/DATABASE or host=… port=… dbname=… user=…; "
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

    public var database: String? {
        get { keywords["dbname"] }
        set { keywords["dbname"] = newValue }
    }

    public var user: String? {
        get { keywords["user"] }
        set { keywords["user"] = newValue }
    }

    /// The same server and user with another database.
    public func database(_ name: String) -> Self {
        var copy = self
        copy.database = name
        return copy
    }

    /// What libpq gets, sorted by keyword, settings folded into `options`.
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

    /// The server splits `options` at blanks; a backslash protects one.
    private static func escapeOption(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
    }
}

extension PostgresConfiguration: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private static let secretKeywords: Set<String> = ["password", "sslpassword"]

    /// The keywords without the secret ones' values.
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
    /// Rounded up, at least 1.
    var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (value, overflow) = seconds.multipliedReportingOverflow(by: 1_000)
        guard !overflow else { return .max }
        return max(
            1, value.addingReportingOverflow((attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000).partialValue)
    }
}
