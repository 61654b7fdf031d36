public import PostgresClient

/// The error message of a command: what happened and what to do.
public struct ToolError: Error, CustomStringConvertible {
    public let message: String
    public let fix: String

    public init(_ message: String, fix: String) {
        self.message = message
        self.fix = fix
    }

    /// - Parameter configuration: the configuration of the connection that failed.
    public init(_ error: PostgresError, _ configuration: PostgresConfiguration) {
        let host = configuration.keywords["host"] ?? "the default socket"
        let port = configuration.keywords["port"].map { ", port \($0)" } ?? ""
        let database = configuration.database ?? configuration.user ?? "of the user's name"
        switch error.code {
        case .invalidPassword, "28000":
            self.init(
                "PostgreSQL refused the login: \(error.message)",
                fix: "Check the user and password in TOMBOLO_DATABASE_URL.")
        case .invalidCatalogName:
            self.init(
                "There's no database '\(database)' on \(host)\(port).",
                fix: "Create it with 'createdb \(database)', or correct the name in TOMBOLO_DATABASE_URL.")
        case .undefinedTable, .undefinedColumn, "3F000":
            self.init(
                "The database lacks something that this command needs: \(error.message)",
                fix: "Bring the database up to date first, with 'migration-tool apply' or the app's own tool.")
        case .insufficientPrivilege:
            self.init(
                "The role may not do this: \(error.message)",
                fix: "Connect as the role that owns the database's tables.")
        case let code where code.errorClass == "08" || code == .cannotConnectNow:
            self.init(
                "Can't reach PostgreSQL on \(host)\(port): \(error.message)",
                fix: "Start it ('make up' runs its own), or correct TOMBOLO_DATABASE_URL.")
        default: self.init("\(error)", fix: error.hint ?? "See the message above.")
        }
    }

    public var description: String { "\(message)\n  What to do: \(fix)" }
}
