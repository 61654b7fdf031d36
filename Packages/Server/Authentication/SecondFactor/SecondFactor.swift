public import Foundation

/// What is known about an account's second factor, apart from its secrets.
public struct SecondFactor: Hashable, Sendable {
    /// How many recovery codes are made.
    public static let recoveryCodeCount = RecoveryCode.count
    /// How many wrong codes an account may have, from all addresses, before each further attempt must wait: twice as
    /// long as the one before, up to ``maximumDelaySeconds``. One guess in 333,333 is right.
    public static let maximumFailures = 5
    public static let maximumDelaySeconds: Double = 5 * 60
    /// An account's wrong codes are forgotten after this long without one.
    public static let memorySeconds: Double = 24 * 60 * 60

    /// Nil if the account has none.
    public let since: Date?
    /// The number of unused recovery codes.
    public let recoveryCodesLeft: Int
    /// The setup in progress; nil if there is none.
    public let pending: Pending?

    /// A secret to enter into an authenticator app.
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
