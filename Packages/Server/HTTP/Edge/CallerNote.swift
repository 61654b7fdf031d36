import Synchronization
import TomboloModel

/// Passes the caller's identity from a route to the layer around all routes.
final class CallerNote: Sendable {
    private let userID = Mutex<ObjectId?>(nil)

    var value: ObjectId? {
        get { userID.withLock { $0 } }
        set { userID.withLock { $0 = newValue } }
    }
}
