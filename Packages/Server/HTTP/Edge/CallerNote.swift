import Synchronization
import TomboloModel

/// Where a route leaves who is asking, for the layer around all routes.
final class CallerNote: Sendable {
    private let userID = Mutex<ObjectId?>(nil)

    var value: ObjectId? {
        get { userID.withLock { $0 } }
        set { userID.withLock { $0 = newValue } }
    }
}
