extension MessageCodec {
    /// The kinds of device messages. Each raw value is the number of the message's only field.
    enum ClientMessageKind: UInt64 {
        case hello = 1
        case subscribe = 2
        case upload = 3
        case applied = 4
    }

    /// Whether a message is an upload. Decodes nothing, because an upload must first wait its turn.
    public static func isUpload(_ bytes: [UInt8]) -> Bool { (try? kind(of: bytes))?.kind == .upload }

    /// The version and access token of a hello. Decodes nothing else, because the sender isn't authenticated yet.
    /// - Throws: ``ProtocolError`` for any other message, for a version that this gateway doesn't speak, and for a
    ///   token longer than ``maximumAccessTokenByteCount``.
    public func opening(ofHello bytes: [UInt8]) throws(ProtocolError) -> HelloOpening {
        let (kind, content) = try Self.kind(of: bytes)
        guard kind == .hello else {
            throw ProtocolError(.malformed, "A session must begin with a hello, but another message came first.")
        }
        var version = 0
        var token = 0..<0
        var reader = WireReader(bytes, in: content)
        while !reader.isAtEnd {
            let start = reader.position
            guard let field = reader.field() else {
                throw ProtocolError(.malformed, "The hello is truncated or corrupted at byte \(start).")
            }
            // If a field occurs several times, the last one counts, as always in Protocol Buffers.
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
                "An access token may have at most \(Self.maximumAccessTokenByteCount) bytes, not \(token.count).")
        }
        guard let accessToken = String(validating: bytes[token], as: UTF8.self) else {
            throw ProtocolError(.malformed, "The access token isn't text.")
        }
        return HelloOpening(protocolVersion: version, accessToken: accessToken)
    }

    /// The kind of a device's message and the range of its content.
    static func kind(of bytes: [UInt8]) throws(ProtocolError) -> (kind: ClientMessageKind, content: Range<Int>) {
        var reader = WireReader(bytes)
        var found: (kind: ClientMessageKind, content: Range<Int>)?
        while !reader.isAtEnd {
            let start = reader.position
            guard let field = reader.field() else {
                throw ProtocolError(
                    .malformed, "The device's message is truncated or corrupted at byte \(start).")
            }
            guard let kind = ClientMessageKind(rawValue: field.key.number) else { continue }
            guard field.key.type == .bytes, found == nil else {
                throw ProtocolError(.malformed, "A device's message must have exactly one kind.")
            }
            found = (kind, field.content)
        }
        guard let found else { throw ProtocolError(.malformed, "A message of a kind that this version doesn't know.") }
        return found
    }

    static func unsupported(_ version: Int) -> ProtocolError {
        ProtocolError(
            .unsupportedVersion,
            "This gateway speaks versions \(ProtocolVersion.oldest) to \(ProtocolVersion.current) of the "
                + "protocol, the device version \(version). Update the older of the two.")
    }
}
