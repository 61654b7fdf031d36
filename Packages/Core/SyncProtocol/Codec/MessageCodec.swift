internal import SwiftProtobuf
public import TomboloChangesets
public import TomboloModel

/// Messages to and from bytes. The format is specified by the .proto files in `Packages/Core/SyncProtocol/Proto`; classes
/// and properties travel by name, and are looked up in the schema of whoever reads.
///
/// Devices also store what the codec makes: pending changesets, staged frames, subscription sets.
///
/// Decoding takes bytes from anyone: it throws, and neither crashes nor uses memory beyond a small multiple of a
/// message's size. It counts on the wire's shape first, and builds nothing of a message that has too much of something.
/// Encoding takes values of this process; positions must be those of ``schema``.
public struct MessageCodec: Sendable {
    public let schema: Schema

    public init(schema: Schema) { self.schema = schema }

    /// The longest message, in bytes: room for one value of ``Value/maximumByteCount``.
    public static let maximumMessageByteCount = 20 << 20
    /// The longest encoded subscription set, in bytes.
    public static let maximumSubscriptionSetByteCount = 256 << 10
    /// The longest message of a device that is not an upload, in bytes: a `hello` with two subscription sets, a token and
    /// 256 KiB of classes. An edge that has not seen a `hello` yet should accept no longer one.
    public static let maximumControlByteCount = 2 * maximumSubscriptionSetByteCount + (256 << 10)
    /// The longest access token, in bytes.
    public static let maximumAccessTokenByteCount = 16 << 10
    /// The longest encoded changeset, in bytes: one must fit an upload.
    public static let maximumChangesetByteCount = maximumMessageByteCount - 64
    /// The most fields of one message, those of nested messages included; packed numbers count as one.
    public static let maximumFieldCount = 4_000_000
    /// The same for a device's message that is not an upload: as many as the sets and classes of the longest can have.
    public static let maximumControlFieldCount = 250_000
    /// The most changesets of one upload.
    public static let maximumChangesetsPerUpload = 1_000
    /// The most property names of one path.
    public static let maximumPathLength = 16
    /// The most classes of a `hello` or a changeset.
    public static let maximumClassCount = 10_000
    /// The most properties of a class, and values of an instruction.
    public static let maximumPropertyCount = 10_000
    /// The most refusals of one batch.
    public static let maximumRefusalCount = 100_000
    /// How deep messages nest: two for each level of a predicate, and what is around it.
    static let maximumNesting = 2 * Predicate.maximumDepth + 16

    // MARK: Messages

    public func encode(_ message: ClientMessage) -> [UInt8] { bytes(of: message) }

    public func encode(_ message: ServerMessage) -> [UInt8] { Self.serialize(wire(message)) }

    /// - Throws: ``ProtocolError`` that says what was wrong and where. A `hello` of a version that this one cannot
    ///   read throws ``ProtocolError/Code/unsupportedVersion``; one of another version that it can read is returned.
    public func decodeClientMessage(_ bytes: [UInt8]) throws(ProtocolError) -> ClientMessage {
        do throws(ProtocolError) {
            try Self.checkLength(bytes, "message of a device")
            let (kind, content) = try Self.kind(of: bytes)
            if kind == .upload { return .upload(try decodeUpload(bytes, content)) }
            guard bytes.count <= Self.maximumControlByteCount else {
                throw ProtocolError(
                    .tooLarge,
                    "A message that is not an upload has at most \(Self.maximumControlByteCount) bytes, "
                        + "not \(bytes.count).")
            }
            let message: WireClientMessage = try Self.parse(
                bytes, .clientMessage, "message of a device", maximumFieldCount: Self.maximumControlFieldCount)
            return try decode(message)
        } catch {
            if let version = Self.protocolVersion(ofHello: bytes),
                !(ProtocolVersion.oldest...ProtocolVersion.current).contains(version)
            {
                throw Self.unsupported(version)
            }
            throw error
        }
    }

    /// - Throws: ``ProtocolError`` that says what was wrong and where.
    public func decodeServerMessage(_ bytes: [UInt8]) throws(ProtocolError) -> ServerMessage {
        let message: WireServerMessage = try Self.parse(bytes, .serverMessage, "message of the gateway")
        return try decode(message)
    }

    // MARK: Parts that are stored

    public func encode(_ changeset: Changeset) -> [UInt8] {
        if let bytes = changeset.queuedBytes { return Self.renumbered(bytes, changeset) }
        let writer = ChangesetWriter(schema: schema, changeset.instructions)
        return writer.finish(number: changeset.number, base: changeset.base, stamp: changeset.stamp)
    }

    public func decodeChangeset(_ bytes: [UInt8]) throws(ProtocolError) -> Changeset {
        try Self.checkLength(bytes, "changeset")
        try WireShape.changeset.check(bytes, "changeset")
        return try decodeChangeset(bytes, bytes.indices)
    }

    /// A changeset of a device's queue, which an earlier version of the app may have written: see
    /// ``Changeset/queuedBytes``.
    public func decodeQueuedChangeset(_ bytes: [UInt8]) throws(ProtocolError) -> Changeset {
        let message: WireChangeset = try Self.parse(bytes, .changeset, "changeset")
        return try decodeQueued(message, bytes)
    }

    public func encode(_ frame: BatchFrame) -> [UInt8] { Self.serialize(wire(frame)) }

    public func decodeBatchFrame(_ bytes: [UInt8]) throws(ProtocolError) -> BatchFrame {
        let message: WireBatchFrame = try Self.parse(bytes, .batchFrame, "batch frame")
        return try decode(message)
    }

    public func encode(_ predicate: Predicate) -> [UInt8] { Self.serialize(wire(predicate)) }

    public func decodePredicate(_ bytes: [UInt8]) throws(ProtocolError) -> Predicate {
        let message: WirePredicate = try Self.parse(bytes, .predicate, "predicate")
        var parts = 0
        return try decode(message, depth: 0, parts: &parts)
    }

    public func encode(_ subscriptions: SubscriptionSet) -> [UInt8] { Self.serialize(wire(subscriptions)) }

    public func decodeSubscriptionSet(_ bytes: [UInt8]) throws(ProtocolError) -> SubscriptionSet {
        let message: WireSubscriptionSet = try Self.parse(bytes, .subscriptionSet, "subscription set")
        return try decode(message)
    }

    // MARK: Protocol Buffers

    static func serialize(_ message: some Message) -> [UInt8] {
        do {
            return try message.serializedBytes()
        } catch {
            // The only reason without proto2 messages: more than 2 GiB, a hundred times the longest message.
            preconditionFailure("A message could not be written: \(error)")
        }
    }

    static func checkLength(_ bytes: [UInt8], _ what: String) throws(ProtocolError) {
        guard bytes.count <= maximumMessageByteCount else {
            throw ProtocolError(
                .tooLarge, "A \(what) has at most \(maximumMessageByteCount) bytes, not \(bytes.count).")
        }
    }

    private static func parse<Wire: Message>(
        _ bytes: [UInt8], _ shape: WireShape, _ what: String, maximumFieldCount: Int = MessageCodec.maximumFieldCount
    ) throws(ProtocolError) -> Wire {
        try checkLength(bytes, what)
        try shape.check(bytes, what, maximumFieldCount: maximumFieldCount)
        return try build(bytes, what)
    }

    /// Builds a message whose shape was checked.
    static func build<Wire: Message>(_ bytes: [UInt8], _ what: String) throws(ProtocolError) -> Wire {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = maximumNesting
        options.discardUnknownFields = true
        do {
            return try Wire(serializedBytes: bytes, options: options)
        } catch {
            throw ProtocolError(
                .malformed, "The \(what) of \(bytes.count) bytes is not what the protocol describes: \(error)")
        }
    }

    /// The version in a `hello` whose other fields may be unreadable: its first field, as every version writes it.
    private static func protocolVersion(ofHello bytes: [UInt8]) -> Int? {
        var reader = WireReader(bytes)
        guard reader.key() == WireReader.Key(number: 1, type: .bytes), let length = reader.varint(),
            length <= UInt64(bytes.count), reader.key() == WireReader.Key(number: 1, type: .varint),
            let version = reader.varint()
        else { return nil }
        return Int(exactly: version)
    }
}
