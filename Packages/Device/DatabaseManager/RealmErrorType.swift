public import Tombolo

/// Why a database couldn't be opened. Errors are equal if their codes are, whatever the reason:
/// `catch RealmErrorType.configurationFailure`.
public struct RealmErrorType: Error, Equatable, CustomStringConvertible {
    public enum Code: Hashable, Sendable, CaseIterable {
        /// The Realm couldn't be opened.
        case realmIsEmpty
        /// The name or identifier is invalid, so there's no configuration to open.
        case configurationFailure
    }

    public static let realmIsEmpty = RealmErrorType(.realmIsEmpty, reason: nil)
    public static let configurationFailure = RealmErrorType(.configurationFailure, reason: nil)

    public let code: Code
    /// What was wrong, and what to do.
    public let reason: Realm.Error?

    init(_ code: Code, reason: Realm.Error?) {
        self.code = code
        self.reason = reason
    }

    public var description: String { reason?.message ?? "\(code)" }

    public static func == (left: RealmErrorType, right: RealmErrorType) -> Bool { left.code == right.code }
}

/// Lets a `catch` name an error: `catch RealmErrorType.configurationFailure`.
public func ~= (expected: RealmErrorType, error: any Error) -> Bool { (error as? RealmErrorType) == expected }
