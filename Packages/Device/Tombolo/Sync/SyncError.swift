internal import TomboloSyncProtocol

/// An error of synchronisation.
public struct SyncError: Error, Sendable, CustomStringConvertible {
    public enum Code: Int, Sendable {
        /// The session can't continue; the message says what to do.
        case clientSession = 4
        /// The token wasn't accepted; log in again.
        case clientUser = 5
        /// The device started over. Nothing unsent is lost.
        case clientReset = 7
        /// The server didn't accept the subscriptions.
        case invalidFlexibleSyncSubscriptions = 10
        /// The server refused changes of this device and undid them; see ``SyncError/compensatingWrites``.
        case writeRejected = 11
    }

    /// What kind of error it is.
    public let code: Code
    public let message: String
    /// For ``Code/writeRejected``, the refused transactions; otherwise empty.
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
