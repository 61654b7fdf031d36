extension MessageCodec {
    /// A device's message, by the number of its one field.
    enum ClientMessageKind: UInt64 {
        case hello = 1
        case subscribe = 2
        case upload = 3
        case applied = 4
    }

    /// Whether a message is an upload. Nothing of it is built: an upload waits for its turn first.
    public static func isUpload(_ bytes: [UInt8]) -> Bool { (try? kind(of: bytes))?.kind == .upload }

    /// The version and the access token of a hello. Builds nothing of the rest, because the sender hasn't been
    /// authenticated yet.
    /// - Throws: ``ProtocolError`` for another message, for a version that this one doesn't speak, and for a token longer
    ///   than ``maximumAccessTokenByteCount``.
    public func opening(ofHello bytes: [UInt8]) throws(ProtocolError) -> HelloOpening {
        let (kind, content) = try Self.kind(of: bytes)
        guard kind == .hello else {
            throw ProtocolError(.malformed, "A session begins with hello; another message came first.")
        }
        var version = 0
        var token = 0..<0
        var reader = WireReader(bytes, in: content)
        while !reader.isAtEnd {
            let start = reader.position
            guard let field = reader.field() else {
                throw ProtocolError(.malformed, "The hello is cut short or garbled at byte \(start).")
            }
            // The last one counts, as everywhere in Protocol Buffers.
            switch (field.key.number, field.key.type) {
            case (1, .varint):
                var value = WireReader(bytes, in: field.content)
                version = value.varint().flatMap { Int(exactly: $0) } ?? .max
            case (2, .bytes): token = field.content
            default: break
            }
        }
        guard (ProtocolVersion.oldest...ProtocolVersion.current).contains(version) else {
            throw Self.unsupported(version)
        }
        guard token.count <= Self.maximumAccessTokenByteCount else {
            throw ProtocolError(
                .tooLarge,
                "An access token has at most \(Self.maximumAccessTokenByteCount) bytes, not \(token.count).")
        }
        guard let accessToken = String(validating: bytes[token], as: UTF8.self) else {
            throw ProtocolError(.malformed, "The access token is not text.")
        }
        return HelloOpening(protocolVersion: version, accessToken: accessToken)
    }

    /// The kind of a device's message, and where its content is.
    static func kind(of bytes: [UInt8]) throws(ProtocolError) -> (kind: ClientMessageKind, content: Range<Int>) {
        var reader = WireReader(bytes)
        var found: (kind: ClientMessageKind, content: Range<Int>)?
        while !reader.isAtEnd {
            let start = reader.position
            guard let field = reader.field() else {
                throw ProtocolError(
                    .malformed, "The message of a device is cut short or garbled at byte \(start).")
            }
            guard let kind = ClientMessageKind(rawValue: field.key.number) else { continue }
            guard field.key.type == .bytes, found == nil else {
                throw ProtocolError(.malformed, "A message of a device is of one kind, and has it once.")
            }
            found = (kind, field.content)
        }
        guard let found else { throw ProtocolError(.malformed, "A message of no kind that this version knows.") }
        return found
    }

    static func unsupported(_ version: Int) -> ProtocolError {
        ProtocolError(
            .unsupportedVersion,
            "This gateway speaks versions \(ProtocolVersion.oldest) to \(ProtocolVersion.current) of the "
                + "protocol, the device version \(version). Update the older of the two.")
    }
}
