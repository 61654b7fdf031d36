package import PostgresClient
import TomboloModel
import TomboloLocalization

/// Why a statement of the SQL page has no result.
package enum SQLProblem: Error, Sendable {
    case empty
    case tooLong(limit: Int)
    /// The maximum number of statements is already running.
    case busy
    /// The database user may do more than read.
    case unsafeUser(SQLPower)
    /// The connections go through a pooler that shares sessions.
    case pooled
    case unreachable(PostgresError)
    case refused(PostgresError, SQLPlace?)

    /// What happened, in a sentence or PostgreSQL's own words.
    package var message: String {
        switch self {
        case .empty: localized("There is no statement.")
        case .tooLong(let limit): localized("The statement is longer than \(limit) bytes.")
        case .busy: localized("This server is already running as many statements as it allows at a time.")
        case .unsafeUser(let power): localized("\(power.sentence) Nothing was run.")
        case .pooled:
            localized(
                "\(SQLConsole.variable) points to a connection pooler in transaction mode, where statements could "
                    + "affect other sessions. Nothing was run.")
        case .unreachable:
            localized("The database in \(SQLConsole.variable) can't be reached. The server's log says why.")
        case .refused(let error, _) where error.code == .resultTooLarge:
            localized("The result is too large: the database sent more than this page reads.")
        case .refused(let error, _) where error.code == .adminShutdown:
            localized("The statement kept running after its time limit, so its connection was closed.")
        case .refused(let error, _): error.message.shortened(toByteCount: SQLBounds.messageBytes)
        }
    }

    package var detail: String? {
        guard case .refused(let error, _) = self else { return nil }
        return error.detail?.shortened(toByteCount: SQLBounds.messageBytes)
    }

    /// What to do about it.
    package var hint: String? {
        switch self {
        case .empty: localized("Enter one.")
        case .tooLong: localized("Shorten it.")
        case .busy: localized("Run it again in a few seconds.")
        case .unsafeUser: localized("docs/database-roles.md explains how to create a user that may only read.")
        case .pooled: localized("Connect to PostgreSQL directly.")
        case .unreachable: nil
        case .refused(let error, _) where error.code == .resultTooLarge:
            localized("Select fewer columns, or the beginning of long ones, such as left(text, 100).")
        case .refused(let error, _) where [.queryCanceled, .adminShutdown].contains(error.code):
            localized("A statement may run for only a few seconds. Select less, or use psql.")
        case .refused(let error, _): error.hint?.shortened(toByteCount: SQLBounds.messageBytes)
        }
    }

    package var place: SQLPlace? {
        guard case .refused(_, let place) = self else { return nil }
        return place
    }
}

/// A position in a statement, line and column counted from 1.
package struct SQLPlace: Hashable, Sendable {
    package let line: Int
    /// In code points.
    package let column: Int

    /// - Parameter position: PostgreSQL's position, in code points from 1.
    package init(position: Int, in statement: String) {
        let before = statement.unicodeScalars.prefix(max(0, position - 1))
        line = before.count { $0 == "\n" } + 1
        column = before.count - (before.lastIndex(of: "\n").map { before[...$0].count } ?? 0) + 1
    }
}
