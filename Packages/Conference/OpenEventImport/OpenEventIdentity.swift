import Crypto
package import TomboloModel

/// Makes the ids of imported objects: the same for the same record of the same event, different otherwise.
package struct OpenEventIdentity {
    private let event: String

    /// - Parameters:
    ///   - identifier: the event's code, which real exports share between events; may be empty.
    ///   - sourceID: the event's id where it was exported.
    init(identifier: String, sourceID: String) { event = "\(identifier)/\(sourceID)" }

    /// - Parameter occurrence: 0 for the first record of a file with this id, then 1 …: real exports have some twice.
    func id(_ kind: String, _ sourceID: String = "", occurrence: Int = 0) -> ObjectId {
        Self.id("\(event)|\(kind)|\(sourceID)|\(occurrence)")
    }

    static func user(email: String) -> ObjectId { id("user|\(email)") }

    /// An id that follows from a text.
    package static func id(_ text: String) -> ObjectId {
        let digest = SHA256.hash(data: Array("open-event/1|\(text)".utf8))
        return ObjectId(bytes: Array(digest.prefix(ObjectId.byteCount))) ?? ObjectId()
    }
}
