internal import Dispatch
internal import Synchronization

/// What all of an app's sync sessions share.
public final class SyncManager: Sendable {
    /// Receives an error that occurred outside the app's own calls, and the session it concerns. Called on the main
    /// queue.
    public typealias ErrorReportingBlock = @Sendable (_ error: any Error, _ session: SyncSession?) -> Void

    private let handler = Mutex<ErrorReportingBlock?>(nil)

    init() {}

    /// Receives errors of sessions that have no ``SyncConfiguration/errorHandler`` of their own: refused changes,
    /// client resets, users that the server logged out, failed sessions.
    public var errorHandler: ErrorReportingBlock? {
        get { handler.withLock { $0 } }
        set {
            handler.withLock { $0 = newValue }
            if newValue != nil { SyncSession.tellRefusals(of: self) }
        }
    }

    func report(_ error: SyncError, _ session: SyncSession?) {
        guard let handler = errorHandler else { return }
        DispatchQueue.main.async { handler(error, session) }
    }
}
