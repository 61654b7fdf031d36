public import Foundation
internal import TomboloSyncProtocol

/// An error of synchronisation.
public struct SyncError: Error, Sendable, CustomStringConvertible {
    public enum Code: Int, Sendable {
        /// The session can't continue; the message says what to do.
        case clientSessionError = 4
        /// The server didn't accept the token; log in again.
        case clientUserError = 5
        /// The device has to start over, and the app must decide how: either the mode is
        /// ``ClientResetMode/manual(errorHandler:)``, or unsynced changes couldn't be recovered. See
        /// ``SyncError/clientResetInfo()``. No unsynced changes are lost so far.
        case clientResetError = 7
        /// The user may not open the Realm's partition.
        case permissionDeniedError = 9
        /// The server didn't accept the subscriptions.
        case invalidFlexibleSyncSubscriptions = 10
        /// The server can't be reached. Reported only if ``SyncConfiguration/cancelAsyncOpenOnNonFatalErrors`` is set.
        case connectionFailed = 12
        /// The server refused changes of this device and undid them; see ``SyncError/compensatingWrites``.
        case writeRejected = 11
    }

    /// What kind of error it is.
    public let code: Code
    public let message: String
    /// For ``Code/writeRejected``, the refused transactions; otherwise empty.
    public let compensatingWrites: [CompensatingWriteInfo]
    /// The same under Realm's name. Nil for other codes.
    public var compensatingWriteInfo: [CompensatingWriteInfo]? { code == .writeRejected ? compensatingWrites : nil }

    let actionToken: ActionToken?

    init(
        _ code: Code, _ message: String, compensatingWrites: [CompensatingWriteInfo] = [],
        actionToken: ActionToken? = nil
    ) {
        self.code = code
        self.message = message
        self.compensatingWrites = compensatingWrites
        self.actionToken = actionToken
    }

    init(_ failure: SessionFailure) {
        let code: Code =
            switch failure.code {
            case .notAuthenticated: .clientUserError
            case .badSubscription: .invalidFlexibleSyncSubscriptions
            case .notPermitted: .permissionDeniedError
            default: .clientSessionError
            }
        self.init(code, failure.message)
    }

    public var description: String { message }
}

/// Gives caught errors a `localizedDescription`, and `NSError` Realm's domain and code.
extension SyncError: LocalizedError, CustomNSError {
    public static var errorDomain: String { "io.realm.sync" }
    public var errorCode: Int { code.rawValue }
    public var errorDescription: String? { message }
    public var errorUserInfo: [String: Any] { [NSLocalizedDescriptionKey: message] }
}
