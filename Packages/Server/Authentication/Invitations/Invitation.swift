public import Foundation
public import TomboloModel

/// A role that somebody offers to the owner of an e-mail address. Which class gives it, and what it means, is up to the
/// app's rules; here it is a name.
public struct Invitation: Hashable, Sendable {
    public enum State: String, Sendable {
        case open
        case expired
        case revoked
        case accepted
    }

    /// How long an invitation can be accepted after it was sent, in seconds.
    public static let lifetimeSeconds: Int64 = 7 * 24 * 60 * 60
    /// The most open invitations of one inviter, and of one scope.
    public static let maximumOfInviter = 100
    public static let maximumOfScope = 500
    /// How often one invitation is sent, and the seconds between two times.
    public static let maximumSendCount = 10
    public static let resendPauseSeconds: Int64 = 60
    /// How long those that are over are kept, in seconds.
    public static let historySeconds: Int64 = 90 * 24 * 60 * 60

    public let id: ObjectId
    /// In lower case.
    public let email: String
    /// The class whose objects give the role.
    public let className: String
    public let role: String
    /// The key of what the role is in, as text; nil for a role that counts everywhere.
    public let scope: String?
    /// Who vouches for it: who made it or sent it last.
    public let invitedBy: ObjectId
    public let createdAt: Date
    public let expiresAt: Date
    public let sentAt: Date
    public let sendCount: Int
    /// Whether the newest token went by mail to the address, and to nobody else.
    public let isMailed: Bool
    public let acceptedAt: Date?
    public let acceptedBy: ObjectId?
    public let revokedAt: Date?

    public func state(at now: Date) -> State {
        if acceptedAt != nil { return .accepted }
        if revokedAt != nil { return .revoked }
        return expiresAt > now ? .open : .expired
    }
}
