public import Foundation
public import TomboloModel
public import TomboloRules

/// A login session that a browser's cookie stands for: of somebody who logged in to the admin panel with a password.
public struct PanelSession: Hashable, Sendable {
    /// Without a request for so long, in seconds, it ends: 2 hours.
    public static let idleSeconds: Int64 = 2 * 60 * 60
    /// It ends so long after the log-in, in seconds, whatever happens: 12 hours.
    public static let lifetimeSeconds: Int64 = 12 * 60 * 60
    /// How long a password counts as just given, in seconds: 10 minutes.
    public static let proofSeconds: Int64 = 10 * 60
    /// The use of a session is noted this often, in seconds: a write for every request would help nobody.
    static let noteSeconds: Int64 = 60

    /// Of the login session: in the user's list of logins, and what revokes it.
    public let id: ObjectId
    public let userID: ObjectId
    public let subject: Subject
    public let email: String
    public let displayName: String
    /// When the password was given last.
    public let provedAt: Date
    /// Whether the account has a second factor: whatever asks for the password asks for a code too.
    public let hasSecondFactor: Bool
    /// Whether all that a log-in takes was given. Without that the session is good for giving the code, and for log-out.
    public let isComplete: Bool
    /// Whether the account must set a second factor up before anything else.
    public let mustSetUp: Bool
    /// Since when it looks at the panel as somebody else, in microseconds since 1970, by the audit log; nil if it doesn't.
    package let viewingSince: Int64?

    /// Whether the password was given within so many seconds, which are ``proofSeconds`` but in tests.
    public func isProved(within seconds: Int64 = proofSeconds, now: Date = Date()) -> Bool {
        let age = now.timeIntervalSince(provedAt)
        return age >= 0 && age <= Double(seconds)
    }
}
