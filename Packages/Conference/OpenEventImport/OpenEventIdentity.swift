import Crypto
package import TomboloModel

/// Makes the ids of imported objects: the same id for the same record of the same event, and different ids otherwise.
package struct OpenEventIdentity {
    private let event: String

    /// - Parameters:
    ///   - identifier: the event's code, which real exports share between events; may be empty.
    ///   - sourceID: the event's id in the system that it was exported from.
    init(identifier: String, sourceID: String) { event = "\(identifier)/\(sourceID)" }

    /// - Parameter occurrence: 0 for the first record of a file with this id, then 1, and so on: real exports have
    ///   some ids twice.
    func id(_ kind: String, _ sourceID: String = "", occurrence: Int = 0) -> ObjectId {
        Self.id("\(event)|\(kind)|\(sourceID)|\(occurrence)")
    }

    static func user(email: String) -> ObjectId { id("user|\(email)") }

    /// An id derived from a text.
    package static func id(_ text: String) -> ObjectId {
        let digest = SHA256.hash(data: Array("open-event/1|\(text)".utf8))
        return ObjectId(bytes: Array(digest.prefix(ObjectId.byteCount))) ?? ObjectId()
    }
}
