/// The five-character code of every PostgreSQL error. The constants have the condition names of the manual's appendix
/// A.
public struct PostgresSQLState: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral,
    CustomStringConvertible
{
    /// The code, such as `23505`.
    public let rawValue: String

    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    public init(stringLiteral value: String) {
        self.init(rawValue: value)
    }

    /// The first two characters: the class of the error.
    public var errorClass: String {
        String(rawValue.prefix(2))
    }

    public var description: String {
        rawValue
    }
}

extension PostgresSQLState {
    public static let connectionException: Self = "08000"
    /// The client couldn't open a connection.
    public static let unableToConnect: Self = "08001"
    /// The connection was closed.
    public static let connectionDoesNotExist: Self = "08003"
    /// An open connection was lost.
    public static let connectionFailure: Self = "08006"
    /// The connection was lost during COMMIT: the transaction may or may not have been committed.
    public static let transactionResolutionUnknown: Self = "08007"
    /// Defined by this client: a response is larger than ``PostgresResultLimit`` allows.
    public static let resultTooLarge: Self = "TBL01"
    public static let featureNotSupported: Self = "0A000"
    public static let numericValueOutOfRange: Self = "22003"
    public static let datetimeFieldOverflow: Self = "22008"
    public static let characterNotInRepertoire: Self = "22021"
    public static let invalidTextRepresentation: Self = "22P02"
    public static let notNullViolation: Self = "23502"
    public static let foreignKeyViolation: Self = "23503"
    public static let uniqueViolation: Self = "23505"
    public static let checkViolation: Self = "23514"
    public static let exclusionViolation: Self = "23P01"
    public static let activeTransaction: Self = "25001"
    public static let readOnlyTransaction: Self = "25006"
    public static let inFailedTransaction: Self = "25P02"
    public static let invalidStatementName: Self = "26000"
    public static let invalidPassword: Self = "28P01"
    public static let invalidCatalogName: Self = "3D000"
    public static let serializationFailure: Self = "40001"
    public static let deadlockDetected: Self = "40P01"
    public static let insufficientPrivilege: Self = "42501"
    public static let syntaxError: Self = "42601"
    public static let undefinedColumn: Self = "42703"
    public static let undefinedFunction: Self = "42883"
    public static let undefinedObject: Self = "42704"
    public static let duplicateDatabase: Self = "42P04"
    public static let undefinedTable: Self = "42P01"
    public static let duplicateTable: Self = "42P07"
    public static let insufficientResources: Self = "53000"
    public static let tooManyConnections: Self = "53300"
    /// For instance, a value is too long for an index.
    public static let programLimitExceeded: Self = "54000"
    public static let objectNotInPrerequisiteState: Self = "55000"
    public static let objectInUse: Self = "55006"
    public static let lockNotAvailable: Self = "55P03"
    /// Cancelled by a request or by `statement_timeout`.
    public static let queryCanceled: Self = "57014"
    public static let adminShutdown: Self = "57P01"
    public static let crashShutdown: Self = "57P02"
    public static let cannotConnectNow: Self = "57P03"
    public static let raiseException: Self = "P0001"
    public static let outOfMemory: Self = "53200"
    public static let internalError: Self = "XX000"
}
