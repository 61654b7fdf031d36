public import Foundation
public import TomboloModel

/// A role that somebody offers to the owner of an e-mail address. The app's rules decide which class gives it and what
/// it means; here it is just a name.
public struct Invitation: Hashable, Sendable {
    public enum State: String, Sendable {
        case open
        case expired
        case revoked
        case accepted
    }

    /// How long an invitation can be accepted after it was sent, in seconds.
    public static let lifetimeSeconds: Int64 = 7 * 24 * 60 * 60
    /// The most open invitations of one inviter, and in one scope.
    public static let maximumOfInviter = 100
    public static let maximumOfScope = 500
    /// How often one invitation may be sent, and the seconds to wait in between.
    public static let maximumSendCount = 10
    public static let resendPauseSeconds: Int64 = 60
    /// How long closed invitations are kept, in seconds.
    public static let historySeconds: Int64 = 90 * 24 * 60 * 60

    public let id: ObjectId
    /// In lower case.
    public let email: String
    /// The class whose objects give the role.
    public let className: String
    public let role: String
    /// The key of the object within which the role counts, as text; nil for a role that applies everywhere.
    public let scope: String?
    /// Who vouches for it: the user who made it or last sent it.
    public let invitedBy: ObjectId
    public let createdAt: Date
    public let expiresAt: Date
    public let sentAt: Date
    public let sendCount: Int
    /// Whether the newest token was mailed to the address, and given to nobody else.
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
