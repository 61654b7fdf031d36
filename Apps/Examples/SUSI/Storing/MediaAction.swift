import Tombolo

/// A video or a sound to play.
class MediaAction: Object {
    @Persisted var identifier = ""
    /// Where the identifier is valid: `youtube`, `url`. Empty if the server didn't provide it.
    @Persisted var kind = ""

    convenience init(identifier: String, kind: String) {
        self.init()
        self.identifier = identifier
        self.kind = kind
    }
}
