public import Foundation
public import TomboloModel
public import TomboloRules

/// The login session of a browser's cookie: somebody logged in to the admin panel with a password.
public struct PanelSession: Hashable, Sendable {
    /// The session ends after this long without a request, in seconds: 2 hours.
    public static let idleSeconds: Int64 = 2 * 60 * 60
    /// The session ends this long after the login in any case, in seconds: 12 hours.
    public static let lifetimeSeconds: Int64 = 12 * 60 * 60
    /// How long a password counts as just entered, in seconds: 10 minutes.
    public static let proofSeconds: Int64 = 10 * 60
    /// How often the use of a session is recorded, in seconds: writing at every request would gain nothing.
    static let noteSeconds: Int64 = 60

    /// The id of the login session, in the user's list of logins and for revocation.
    public let id: ObjectId
    public let userID: ObjectId
    public let subject: Subject
    public let email: String
    public let displayName: String
    /// When the password was last entered.
    public let provedAt: Date
    /// Whether the account has a second factor: whatever asks for the password then asks for a code too.
    public let hasSecondFactor: Bool
    /// Whether everything that a login needs was entered. Otherwise the session can only be used to enter the code, and
    /// to log out.
    public let isComplete: Bool
    /// Whether the account must set up a second factor before anything else.
    public let mustSetUp: Bool
    /// When it began to view the panel as somebody else, in microseconds since 1970, for the audit log; nil if it
    /// doesn't.
    package let viewingSince: Int64?

    /// Whether the password was entered within this many seconds: ``proofSeconds``, except in tests.
    public func isProved(within seconds: Int64 = proofSeconds, now: Date = Date()) -> Bool {
        let age = now.timeIntervalSince(provedAt)
        return age >= 0 && age <= Double(seconds)
    }
}
