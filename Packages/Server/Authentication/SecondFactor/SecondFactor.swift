public import Foundation

/// What is known of an account's second factor, apart from its secrets.
public struct SecondFactor: Hashable, Sendable {
    /// How many recovery codes are made.
    public static let recoveryCodeCount = RecoveryCode.count
    /// Wrong codes of an account, from all addresses, before each further attempt waits, twice as long as the one before, up
    /// to ``maximumDelaySeconds``: a guess is right once in 333,333 times.
    public static let maximumFailures = 5
    public static let maximumDelaySeconds: Double = 5 * 60
    /// An account's wrong codes are forgotten after this long without one.
    public static let memorySeconds: Double = 24 * 60 * 60

    /// Nil if the account has none.
    public let since: Date?
    /// Recovery codes that weren't used.
    public let recoveryCodesLeft: Int
    /// What is being set up; nil if nothing is.
    public let pending: Pending?

    /// A secret that an authenticator app has to be told.
    public struct Pending: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
        /// In base32.
        public let secret: String
        /// For a QR code.
        public let uri: String

        /// Without the secret: it must not end up in logs.
        public var description: String { "<second factor being set up>" }
        public var customMirror: Mirror { Mirror(self, children: [:]) }
    }
}
