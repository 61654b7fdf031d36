public import TomboloModel

/// Proof of an invitation: its id and 32 random bytes, of which the database has the hash.
public struct InvitationToken: Sendable {
    static let secretByteCount = 32
    /// Longer text is refused without a look.
    static let maximumByteCount = 128

    public let id: ObjectId
    let secret: [UInt8]

    init(id: ObjectId) {
        self.id = id
        secret = .random(count: Self.secretByteCount)
    }

    /// - Returns: nil for text that isn't a token.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.maximumByteCount, let bytes = [UInt8](base64URL: text),
            bytes.count == ObjectId.byteCount + Self.secretByteCount,
            let id = ObjectId(bytes: Array(bytes.prefix(ObjectId.byteCount)))
        else { return nil }
        self.id = id
        secret = Array(bytes.dropFirst(ObjectId.byteCount))
    }

    /// The token for a mail or a link. It must never be logged.
    public var text: String { (Array(id.bytes) + secret).base64URL }

    var hash: [UInt8] { secret.sha256 }
}

extension InvitationToken: CustomStringConvertible, CustomReflectable {
    /// Without the secret.
    public var description: String { "<token of the invitation \(id)>" }
    public var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
