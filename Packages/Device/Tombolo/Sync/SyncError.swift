internal import TomboloSyncProtocol

/// What went wrong while synchronising.
public struct SyncError: Error, Sendable, CustomStringConvertible {
    public enum Code: Int, Sendable {
        /// The session cannot go on; the message says what to do.
        case clientSession = 4
        /// The token was not accepted.
        case clientUser = 5
        /// The device started over; nothing that was not sent is lost.
        case clientReset = 7
        /// The server did not accept the subscriptions.
        case invalidFlexibleSyncSubscriptions = 10
        /// The server did not accept changes of this device and took them back: ``SyncError/compensatingWrites``.
        case writeRejected = 11
    }

    public let code: Code
    public let message: String
    /// For ``Code/writeRejected``: what was refused, and why.
    public let compensatingWrites: [CompensatingWriteInfo]

    init(_ code: Code, _ message: String, compensatingWrites: [CompensatingWriteInfo] = []) {
        self.code = code
        self.message = message
        self.compensatingWrites = compensatingWrites
    }

    init(_ failure: SessionFailure) {
        let code: Code =
            switch failure.code {
            case .notAuthenticated: .clientUser
            case .badSubscription: .invalidFlexibleSyncSubscriptions
            default: .clientSession
            }
        self.init(code, failure.message)
    }

    public var description: String { message }
}
