import Tombolo
import TomboloModel

/// The class that the devices of the client reset tests write, synced by an app of its own.
final class ResetNote: Object {
    @Persisted(primaryKey: true) var _id: String
    @Persisted var text = ""
    @Persisted var count = 0
    @Persisted var tags: List<String>

    convenience init(_ id: String, _ text: String = "") {
        self.init()
        _id = id
        self.text = text
    }
}
