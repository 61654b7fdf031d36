internal import SwiftProtobuf
public import TomboloChangesets
public import TomboloModel

/// Converts messages to and from bytes. The .proto files in `Packages/Core/SyncProtocol/Proto` specify the format.
/// Messages refer to classes and properties by name, which the reader looks up in its schema.
///
/// Devices also store some encoded values: pending changesets, staged frames, subscription sets.
///
/// Decoding accepts bytes from anybody: it throws, never crashes, and uses memory only up to a small multiple of a
/// message's size. It counts a message's parts first and builds nothing if there are too many. Encoding takes values
/// from this process, whose positions must refer to ``schema``.
public struct MessageCodec: Sendable {
    /// The schema in which names are looked up and which positions refer to.
    public let schema: Schema
    /// The names with which classes and properties are encoded. Decoding accepts every name that they have ever had.
    public let names: DeviceNames

    /// A codec for messages between this process and peers with the same or a different schema.
    public init(schema: Schema, names: DeviceNames = DeviceNames()) {
        self.schema = schema
        self.names = names
    }

    /// The maximum size of a message in bytes: enough for one value of ``Value/maximumByteCount``.
    public static let maximumMessageByteCount = 20 << 20
    /// The maximum size of an encoded subscription set in bytes.
    public static let maximumSubscriptionSetByteCount = 256 << 10
    /// The maximum size in bytes of a device's message other than an upload: a `hello` with two subscription sets, a
    /// token and 256 KiB of classes. A server shouldn't accept more before the `hello`.
    public static let maximumControlByteCount = 2 * maximumSubscriptionSetByteCount + (256 << 10)
    /// The maximum size of an access token in bytes.
    public static let maximumAccessTokenByteCount = 16 << 10
    /// The maximum size of a string partition in bytes.
    public static let maximumPartitionByteCount = 1_024
    /// The maximum size of an encoded changeset in bytes, chosen to fit into an upload.
    public static let maximumChangesetByteCount = maximumMessageByteCount - 64
    /// The maximum number of fields in a message, including nested messages; packed numbers count as one field.
    public static let maximumFieldCount = 4_000_000
    /// The maximum number of fields in a device's message other than an upload: what the largest sets and classes can have.
    public static let maximumControlFieldCount = 250_000
    /// The maximum number of changesets in an upload.
    public static let maximumChangesetsPerUpload = 1_000
    /// The maximum number of property names in a path.
    public static let maximumPathLength = 16
    /// The maximum number of classes in a `hello` or changeset.
    public static let maximumClassCount = 10_000
    /// The maximum number of properties in a class, and of values in an instruction.
    public static let maximumPropertyCount = 10_000
    /// The maximum number of refusals in a batch.
    public static let maximumRefusalCount = 100_000
    /// The maximum number of writers whose traces a batch names.
    public static let maximumTraceparentCount = 8
    /// The maximum size of a `traceparent` in bytes; a longer one is left out.
    public static let maximumTraceparentByteCount = 128
    /// The maximum nesting of messages: two levels for each level of a predicate, plus the enclosing ones.
    static let maximumNesting = 2 * Predicate.maximumDepth + 16

    // MARK: Messages

    /// The bytes of a device's message.
    public func encode(_ message: ClientMessage) -> [UInt8] { bytes(of: message) }

    /// The bytes of a gateway's message.
    public func encode(_ message: ServerMessage) -> [UInt8] { Self.serialize(wire(message)) }

    /// - Throws: ``ProtocolError``, which says what was wrong and where. A `hello` in a version that this one can't
    ///   read throws ``ProtocolError/Code/unsupportedVersion``; a readable `hello` in another version is returned.
    public func decodeClientMessage(_ bytes: [UInt8]) throws(ProtocolError) -> ClientMessage {
        do throws(ProtocolError) {
            try Self.checkLength(bytes, "message of a device")
            let (kind, content) = try Self.kind(of: bytes)
            if kind == .upload { return .upload(try decodeUpload(bytes, content)) }
            if kind == .applied, let tick = Self.tick(ofApplied: bytes, content) { return .applied(tick: tick) }
            guard bytes.count <= Self.maximumControlByteCount else {
                throw ProtocolError(
                    .tooLarge,
                    "A message other than an upload may have at most \(Self.maximumControlByteCount) bytes, "
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

    /// - Throws: ``ProtocolError``, which says what was wrong and where.
    public func decodeServerMessage(_ bytes: [UInt8]) throws(ProtocolError) -> ServerMessage {
        let message: WireServerMessage = try Self.parse(bytes, .serverMessage, "message of the gateway")
        return try decode(message)
    }

    // MARK: Stored parts

    /// The bytes of a changeset, as stored in a device's queue and sent in an upload.
    public func encode(_ changeset: Changeset) -> [UInt8] {
        if let bytes = changeset.queuedBytes { return Self.renumbered(bytes, changeset) }
        let writer = ChangesetWriter(schema: schema, changeset.instructions)
        var bytes = writer.finish(number: changeset.number, base: changeset.base, stamp: changeset.stamp)
        if let traceparent = changeset.traceparent {
            var last = WireWriter()
            last.field(6, traceparent)
            bytes += last.bytes
        }
        return bytes
    }

    /// Decodes a single changeset. Throws ``ProtocolError/Code/badSchema`` if it has names that ``schema`` lacks.
    public func decodeChangeset(_ bytes: [UInt8]) throws(ProtocolError) -> Changeset {
        try Self.checkLength(bytes, "changeset")
        try WireShape.changeset.check(bytes, "changeset")
        return try decodeChangeset(bytes, bytes.indices)
    }

    /// Decodes a changeset from a device's queue. An earlier version of the app may have written it; see
    /// ``Changeset/queuedBytes``.
    public func decodeQueuedChangeset(_ bytes: [UInt8]) throws(ProtocolError) -> Changeset {
        try Self.checkLength(bytes, "changeset")
        try WireShape.changeset.check(bytes, "changeset")
        var reader = ChangesetReader(bytes, schema: schema, validates: true)
        if let changeset = reader.changeset(bytes.indices) { return changeset }
        return try decodeQueued(try Self.build(bytes, "changeset"), bytes)
    }

    /// The bytes of a frame, as a device stages it.
    public func encode(_ frame: BatchFrame) -> [UInt8] { Self.serialize(wire(frame)) }

    /// Decodes a staged frame.
    public func decodeBatchFrame(_ bytes: [UInt8]) throws(ProtocolError) -> BatchFrame {
        let message: WireBatchFrame = try Self.parse(bytes, .batchFrame, "batch frame")
        return try decode(message)
    }

    /// The bytes of a refusal, as a device keeps it until it has told the app.
    public func encode(_ refused: RefusedWrite) -> [UInt8] { Self.serialize(wire(refused)) }

    /// Decodes a kept refusal.
    public func decodeRefusedWrite(_ bytes: [UInt8]) throws(ProtocolError) -> RefusedWrite {
        let message: WireRefusedWrite = try Self.parse(bytes, .fields, "refusal")
        return try decode(message)
    }

    /// The bytes of a predicate.
    public func encode(_ predicate: Predicate) -> [UInt8] { Self.serialize(wire(predicate)) }

    /// Decodes a predicate. It may name properties that no class has.
    public func decodePredicate(_ bytes: [UInt8]) throws(ProtocolError) -> Predicate {
        let message: WirePredicate = try Self.parse(bytes, .predicate, "predicate")
        var parts = 0
        return try decode(message, depth: 0, parts: &parts)
    }

    /// The bytes of a subscription set, as a device stores it.
    public func encode(_ subscriptions: SubscriptionSet) -> [UInt8] { Self.serialize(wire(subscriptions)) }

    /// Decodes a stored subscription set. It may name classes and properties that ``schema`` lacks.
    public func decodeSubscriptionSet(_ bytes: [UInt8]) throws(ProtocolError) -> SubscriptionSet {
        let message: WireSubscriptionSet = try Self.parse(bytes, .subscriptionSet, "subscription set")
        return try decode(message)
    }

    // MARK: Protocol Buffers

    static func serialize(_ message: some Message) -> [UInt8] {
        do {
            return try message.serializedBytes()
        } catch {
            // Only possible beyond 2 GiB, which is a hundred times the largest message.
            preconditionFailure("A message couldn't be encoded: \(error)")
        }
    }

    static func checkLength(_ bytes: [UInt8], _ what: String) throws(ProtocolError) {
        guard bytes.count <= maximumMessageByteCount else {
            throw ProtocolError(
                .tooLarge, "A \(what) may have at most \(maximumMessageByteCount) bytes, not \(bytes.count).")
        }
    }

    private static func parse<Wire: Message>(
        _ bytes: [UInt8], _ shape: WireShape, _ what: String, maximumFieldCount: Int = MessageCodec.maximumFieldCount
    ) throws(ProtocolError) -> Wire {
        try checkLength(bytes, what)
        try shape.check(bytes, what, maximumFieldCount: maximumFieldCount)
        return try build(bytes, what)
    }

    /// Builds a message after its shape has been checked.
    static func build<Wire: Message>(_ bytes: [UInt8], _ what: String) throws(ProtocolError) -> Wire {
        var options = BinaryDecodingOptions()
        options.messageDepthLimit = maximumNesting
        options.discardUnknownFields = true
        do {
            return try Wire(serializedBytes: bytes, options: options)
        } catch {
            throw ProtocolError(
                .malformed, "The \(what) of \(bytes.count) bytes doesn't follow the protocol: \(error)")
        }
    }

    /// The version in a `hello` whose other fields may be unreadable. Every version writes it as the first field.
    private static func protocolVersion(ofHello bytes: [UInt8]) -> Int? {
        var reader = WireReader(bytes)
        guard reader.key() == WireReader.Key(number: 1, type: .bytes), let length = reader.varint(),
            length <= UInt64(bytes.count), reader.key() == WireReader.Key(number: 1, type: .varint),
            let version = reader.varint()
        else { return nil }
        return Int(exactly: version)
    }
}
