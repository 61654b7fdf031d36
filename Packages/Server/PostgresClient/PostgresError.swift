/// An error of a statement or a connection.
///
/// `description` is safe for logs: it has the server's message, the SQL text and where the statement was issued, but
/// never a parameter's value. `detail` and `context` come unchanged from the server and may quote values of rows, so
/// they aren't part of it.
public struct PostgresError: Error, Sendable {
    /// The SQLSTATE, from the server or set by the client.
    public var code: PostgresSQLState
    /// The server's primary message. Messages of class 22 quote the offending value; descriptions leave it out.
    public var message: String
    /// The server's second line, such as `Key (email)=(…) already exists.` May quote values.
    public var detail: String?
    /// What to do about the error.
    public var hint: String?
    /// The server's call stack (functions, COPY line). May quote values.
    public var context: String?
    public var schemaName: String?
    public var tableName: String?
    public var columnName: String?
    public var dataTypeName: String?
    public var constraintName: String?
    /// The name of the server's C function that reported the error.
    public var routine: String?
    /// The position of the error in `sql`, in characters from 1.
    public var position: Int?
    /// The statement's text, without its parameters.
    public var sql: String?
    /// The index of the failed statement of a pipeline, from 0.
    public var statementIndex: Int?
    /// The source file of the call that issued the statement.
    public var file: String?
    /// The line in ``file``.
    public var line: Int?

    public init(
        code: PostgresSQLState, message: String, detail: String? = nil, hint: String? = nil, sql: String? = nil,
        file: String? = nil, line: Int? = nil
    ) {
        self.code = code
        self.message = message
        self.detail = detail
        self.hint = hint
        self.sql = sql
        self.file = file
        self.line = line
    }
}

extension PostgresError {
    private static let retryableClasses: Set<String> = ["08", "40", "53", "55", "57", "58"]
    private static let refusalClasses: Set<String> = ["22", "23"]

    /// Whether repeating the whole transaction may succeed: errors of connections, serialization, resources, locks,
    /// operator intervention and the system, and a cached plan that a schema change made invalid.
    public var isRetryable: Bool {
        Self.retryableClasses.contains(code.errorClass) || isStalePlan
    }

    /// Whether the data itself is at fault (a bad value, a violated constraint, a value too long for an index), so that
    /// repeating can't help. The other limits of class 54 (columns, arguments, nesting) concern statements, not data.
    public var isRefusal: Bool {
        Self.refusalClasses.contains(code.errorClass) || code == .programLimitExceeded
    }

    /// The message that a trigger raised with `check_violation`, as a sentence; nil for PostgreSQL's own messages.
    package var raisedSentence: String? {
        guard code == .checkViolation, routine == "exec_stmt_raise", let first = message.first else { return nil }
        let sentence = first.uppercased() + message.dropFirst()
        return sentence.hasSuffix(".") ? sentence : sentence + "."
    }

    /// Whether a prepared statement's plan or result columns no longer fit the tables.
    var isStalePlan: Bool {
        code == .featureNotSupported && routine == "RevalidateCachedQuery"
    }
}

extension PostgresError: CustomStringConvertible, CustomDebugStringConvertible {
    /// The number of code points that a description shows of the SQL text, and of the server's message and hint.
    static let shownSQLLimit = 2_000

    public var description: String {
        var text = "PostgreSQL error \(code): \(Self.shortened(messageWithoutValues))"
        if let statementIndex { text += " (statement \(statementIndex) of the pipeline)" }
        let names = [
            ("constraint", constraintName), ("schema", schemaName), ("table", tableName), ("column", columnName),
            ("type", dataTypeName),
        ]
        let known = names.compactMap { label, name in name.map { "\(label) \($0)" } }
        if !known.isEmpty { text += " [\(known.joined(separator: ", "))]" }
        if let hint { text += "; hint: \(Self.shortened(hint))" }
        if let sql {
            text += "; SQL: \(Self.shortened(sql))"
        }
        if let position { text += "; at character \(position)" }
        if let file, let line { text += "; issued at \(file):\(line)" }
        return text
    }

    public var debugDescription: String {
        description
    }

    /// Cuts between code points, since a `Character` may have any number of them.
    private static func shortened(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let end = scalars.index(scalars.startIndex, offsetBy: shownSQLLimit, limitedBy: scalars.endIndex),
            end < scalars.endIndex
        else { return text }
        return String(scalars[..<end]) + "…"
    }

    /// Messages of class 22 quote the offending value, for instance `invalid input syntax for type integer: "…"`. The
    /// value may contain quotes itself, so everything from the first to the last one is left out.
    private var messageWithoutValues: String {
        guard code.errorClass == "22", let first = message.firstIndex(of: "\""),
            let last = message.lastIndex(of: "\"")
        else { return message }
        return message[...first] + "…" + message[last...]
    }
}
