internal import TomboloChangesets
internal import TomboloModel

extension MessageCodec {
    /// The bytes of a device's message. Uploads are written by hand: see ``ChangesetWriter``.
    func bytes(of message: ClientMessage) -> [UInt8] {
        var result = WireClientMessage()
        switch message {
        case .hello(let hello): result.hello = wire(hello)
        case .subscribe(let set): result.subscribe = wire(set)
        case .upload(let changesets): return bytes(ofUpload: changesets)
        case .applied(let tick): result.applied.tick = tick
        }
        return Self.serialize(result)
    }

    private func bytes(ofUpload changesets: [Changeset]) -> [UInt8] {
        var writer = WireWriter()
        let start = writer.open(3)
        for changeset in changesets { writer.field(1, encode(changeset)) }
        writer.close(start)
        return writer.bytes
    }

    private func wire(_ hello: Hello) -> WireHello {
        var result = WireHello()
        result.protocolVersion = UInt32(clamping: hello.protocolVersion)
        result.accessToken = hello.accessToken
        result.client = hello.client.rawValue
        result.position = wire(hello.position)
        result.activeSubscriptions = wire(hello.activeSubscriptions)
        result.wantedSubscriptions = wire(hello.wantedSubscriptions)
        result.acknowledged = hello.acknowledged
        result.classes = hello.classes.map { item in
            var result = WireHelloClass()
            result.name = item.name
            result.columns = item.columns
            return result
        }
        if let partition = hello.partition { result.partition = wire(partition) }
        return result
    }

    /// Decodes every message except uploads, which ``decodeUpload(_:_:)`` reads.
    func decode(_ message: WireClientMessage) throws(ProtocolError) -> ClientMessage {
        switch message.message {
        case nil, .upload: throw ProtocolError(.malformed, "A message of a kind that this version doesn't know.")
        case .hello(let hello):
            do throws(ProtocolError) {
                return .hello(try decode(hello))
            } catch {
                throw error.at("hello")
            }
        case .subscribe(let set): return .subscribe(try decode(set))
        case .applied(let applied):
            guard applied.tick >= 0 else { throw ProtocolError(.malformed, "applied: tick \(applied.tick)") }
            return .applied(tick: applied.tick)
        }
    }

    /// Reads an upload one instruction at a time. As Protocol Buffers messages, the instructions would together take
    /// twenty times their encoded size.
    func decodeUpload(_ bytes: [UInt8], _ content: Range<Int>) throws(ProtocolError) -> [Changeset] {
        try WireShape.clientMessage.check(bytes, "message of a device")
        var result: [Changeset] = []
        var reader = WireReader(bytes, in: content)
        var changesets = ChangesetReader(bytes, schema: schema, validates: false)
        while let field = reader.field() {
            guard field.key == WireReader.Key(number: 1, type: .bytes) else { continue }
            let next: Changeset
            if let known = changesets.changeset(field.content) {
                next = known
            } else {
                next = try decodeUploaded(bytes, field.content)
            }
            if let last = result.last, next.number != last.number &+ 1 {
                throw ProtocolError(
                    .malformed, "upload: changeset \(next.number) follows \(last.number); numbers have no gaps")
            }
            result.append(next)
        }
        return result
    }

    /// The tick of an `applied` message that has no other field, which is the form that devices send for every batch.
    /// Nil for any other message and for an invalid one.
    static func tick(ofApplied bytes: [UInt8], _ content: Range<Int>) -> Int64? {
        guard content.lowerBound == 2, content.upperBound == bytes.count,
            content.count <= 1 + WireReader.maximumVarintByteCount
        else { return nil }
        var reader = WireReader(bytes, in: content)
        guard reader.key() == WireReader.Key(number: 1, type: .varint), let tick = reader.signed(), reader.isAtEnd,
            tick >= 0
        else { return nil }
        return tick
    }

    private func decode(_ hello: WireHello) throws(ProtocolError) -> Hello {
        guard hello.client > 0 else { throw ProtocolError(.malformed, "no client id") }
        guard hello.acknowledged >= 0 else {
            throw ProtocolError(.malformed, "changeset \(hello.acknowledged) as the last acknowledged one")
        }
        guard hello.classes.allSatisfy({ $0.columns.count <= Self.maximumPropertyCount }) else {
            throw ProtocolError(.tooLarge, "more than \(Self.maximumPropertyCount) properties of one class")
        }
        return Hello(
            protocolVersion: Int(hello.protocolVersion), accessToken: hello.accessToken,
            client: ClientID(rawValue: hello.client), position: try decode(hello.position),
            activeSubscriptions: try decode(hello.activeSubscriptions),
            wantedSubscriptions: try decode(hello.wantedSubscriptions), acknowledged: hello.acknowledged,
            classes: hello.classes.map { HelloClass(name: $0.name, columns: $0.columns) },
            partition: hello.hasPartition ? try decodePartition(hello.partition) : nil)
    }

    private func decodePartition(_ wire: WireValue) throws(ProtocolError) -> Value {
        let value = try decode(wire)
        switch value {
        case .null, .int, .objectId, .uuid: return value
        case .string(let text):
            guard text.utf8.count <= Self.maximumPartitionByteCount else {
                throw ProtocolError(
                    .tooLarge,
                    "A partition may have at most \(Self.maximumPartitionByteCount) bytes, not \(text.utf8.count).")
            }
            guard !text.utf8.contains(0) else { throw ProtocolError(.malformed, "U+0000 in the partition") }
            return value
        case .bool, .double, .data, .date, .decimal:
            throw ProtocolError(.malformed, "a partition that isn't text, a whole number, an ObjectId, a UUID or nil")
        }
    }

    func wire(_ position: Position) -> WirePosition {
        var result = WirePosition()
        result.tick = position.tick
        result.token = position.token
        result.subscriptionVersion = position.subscriptionVersion
        result.rulesFingerprint = position.rulesFingerprint
        result.schemaFingerprint = position.schemaFingerprint
        return result
    }

    func decode(_ position: WirePosition) throws(ProtocolError) -> Position {
        guard position.tick >= 0 else { throw ProtocolError(.malformed, "position: tick \(position.tick)") }
        guard position.subscriptionVersion >= 0 else {
            throw ProtocolError(.malformed, "position: version \(position.subscriptionVersion) of the subscriptions")
        }
        return Position(
            tick: position.tick, token: position.token, subscriptionVersion: position.subscriptionVersion,
            rulesFingerprint: position.rulesFingerprint, schemaFingerprint: position.schemaFingerprint)
    }
}
