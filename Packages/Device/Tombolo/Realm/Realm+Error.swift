public import Foundation
internal import TomboloModel
internal import TomboloSQLiteStore

extension Realm {
    /// Why a Realm couldn't be opened, read or written. Programming mistakes (a wrong thread, a write outside a
    /// transaction) aren't errors: they stop the program with a message.
    public struct Error: Swift.Error, Hashable, Sendable, CustomStringConvertible {
        /// Error codes, with Realm's numbers.
        public enum Code: Int, Sendable, CaseIterable {
            case fail = 1
            case fileAccess = 2
            case filePermissionDenied = 3
            case fileExists = 4
            case fileNotFound = 5
            case fileFormatUpgradeRequired = 6
            case incompatibleLockFile = 8
            case addressSpaceExhausted = 9
            case schemaMismatch = 10
            case alreadyOpen = 12
            case invalidInput = 13
            case outOfDiskSpace = 14
            case incompatibleSession = 15
            case unsupportedFileFormatVersion = 16
            case multipleSyncAgents = 17
            case subscriptionFailed = 18
            case fileOperationFailed = 19
            case invalidDatabase = 20
            case incompatibleHistories = 21
            case noSubscriptionForWrite = 22
        }

        /// What kind of error it is.
        public let code: Code
        /// What was wrong, where, and what to do.
        public let message: String

        public init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }

        public var description: String { message }
    }
}

/// Gives caught errors a `localizedDescription`, and `NSError` Realm's domain and code.
extension Realm.Error: LocalizedError, CustomNSError {
    public static var errorDomain: String { "io.realm" }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { message }
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}

/// Lets a `catch` clause name a code: `catch Realm.Error.schemaMismatch`.
public func ~= (code: Realm.Error.Code, error: any Error) -> Bool { (error as? Realm.Error)?.code == code }

extension Realm.Error {
    public static var fail: Code { .fail }
    public static var fileAccess: Code { .fileAccess }
    public static var filePermissionDenied: Code { .filePermissionDenied }
    public static var fileExists: Code { .fileExists }
    public static var fileNotFound: Code { .fileNotFound }
    public static var fileFormatUpgradeRequired: Code { .fileFormatUpgradeRequired }
    public static var incompatibleLockFile: Code { .incompatibleLockFile }
    public static var addressSpaceExhausted: Code { .addressSpaceExhausted }
    public static var schemaMismatch: Code { .schemaMismatch }
    public static var alreadyOpen: Code { .alreadyOpen }
    public static var invalidInput: Code { .invalidInput }
    public static var outOfDiskSpace: Code { .outOfDiskSpace }
    public static var incompatibleSession: Code { .incompatibleSession }
    public static var unsupportedFileFormatVersion: Code { .unsupportedFileFormatVersion }
    public static var multipleSyncAgents: Code { .multipleSyncAgents }
    public static var subscriptionFailed: Code { .subscriptionFailed }
    public static var fileOperationFailed: Code { .fileOperationFailed }
    public static var invalidDatabase: Code { .invalidDatabase }
    public static var incompatibleHistories: Code { .incompatibleHistories }
    public static var noSubscriptionForWrite: Code { .noSubscriptionForWrite }
}

extension Realm.Error {
    /// Wraps an error for the app; errors of other types keep their description.
    init(wrapping error: any Swift.Error) {
        switch error {
        case let error as Realm.Error: self = error
        case let error as SQLiteStoreError: self.init(Self.code(error.code), error.description)
        case let error as SchemaError: self.init(.invalidInput, error.description)
        case let error as ValueError: self.init(.invalidInput, error.description)
        default: self.init(.fail, String(describing: error))
        }
    }

    private static func code(_ code: SQLiteStoreError.Code) -> Code {
        switch code {
        case .fileAccess: .fileAccess
        case .permissionDenied: .filePermissionDenied
        case .fileExists: .fileExists
        case .fileNotFound: .fileNotFound
        case .invalidDatabase: .invalidDatabase
        case .busy: .fail
        case .diskFull: .outOfDiskSpace
        case .schemaMismatch: .schemaMismatch
        case .unsupportedFormat: .unsupportedFileFormatVersion
        case .incompatibleHistory: .incompatibleHistories
        case .invalidInput: .invalidInput
        case .outdated, .failure: .fail
        }
    }
}
