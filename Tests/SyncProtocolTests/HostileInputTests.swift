import Foundation
import RandomValues
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

@Suite("Hostile input is refused, never trapped on")
struct HostileInputTests {
    let schema: Schema
    let codec: MessageCodec

    init() throws {
        schema = try SampleSchema.make()
        codec = MessageCodec(schema: schema)
    }

    /// Runs every decoder. Each must throw, or return a value that can be read and encoded again.
    private func decodeAll(_ bytes: [UInt8]) {
        if let message = try? codec.decodeClientMessage(bytes) { _ = codec.encode(message) }
        if let message = try? codec.decodeServerMessage(bytes) {
            if case .frame(let frame) = message { read(frame) }
            _ = codec.encode(message)
        }
        if let changeset = try? codec.decodeChangeset(bytes) { _ = codec.encode(changeset) }
        if let frame = try? codec.decodeBatchFrame(bytes) { read(frame) }
        if let predicate = try? codec.decodePredicate(bytes) { _ = codec.encode(predicate) }
        if let set = try? codec.decodeSubscriptionSet(bytes) { _ = codec.encode(set) }
    }

    private func read(_ frame: BatchFrame) {
        for block in frame.blocks {
            for row in 0..<block.rowCount {
                for position in block.columns.indices {
                    _ = block.value(row: row, position: position, schema: schema)
                }
            }
        }
    }

    private func samples(_ seed: UInt64) -> [[UInt8]] {
        var random = RandomMessages(schema: schema, seed: seed)
        return [codec.encode(random.clientMessage()), codec.encode(random.serverMessage())]
            .filter { $0.count < 2_000 }
    }

    @Test("Every prefix of a message decodes or throws an error", arguments: 1...24 as ClosedRange<UInt64>)
    func prefixes(seed: UInt64) {
        for bytes in samples(seed) {
            for count in 0...bytes.count { decodeAll(Array(bytes[..<count])) }
        }
    }

    @Test("A message with a corrupted byte decodes or throws an error", arguments: 1...12 as ClosedRange<UInt64>)
    func corruption(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for bytes in samples(seed) {
            for position in bytes.indices {
                for value in [0xff, bytes[position] ^ 0x80, UInt8(generator.next() & 0xff)] {
                    var changed = bytes
                    changed[position] = value
                    decodeAll(changed)
                }
            }
        }
    }

    @Test("Garbage decodes or throws an error", arguments: 1...200 as ClosedRange<UInt64>)
    func garbage(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 0...300, using: &generator)
        decodeAll((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }

    @Test("Bytes spliced from two messages decode or throw an error", arguments: 1...100 as ClosedRange<UInt64>)
    func splices(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let first = samples(seed)
        let second = samples(seed + 1_000)
        for (a, b) in zip(first, second) {
            let cut = Int.random(in: 0...a.count, using: &generator)
            let other = Int.random(in: 0...b.count, using: &generator)
            decodeAll(Array(a[..<cut]) + Array(b[other...]))
        }
    }

    @Test("A message that is too long is refused without being read")
    func tooLong() {
        let bytes = [UInt8](repeating: 0, count: MessageCodec.maximumMessageByteCount + 1)
        let error = ProtocolError(.tooLarge, "A message of a device may have at most 20971520 bytes, not 20971521.")
        #expect(throws: error) {
            try codec.decodeClientMessage(bytes)
        }
    }

    @Test("Only an upload may exceed the size of a control message")
    func longControlMessage() {
        let set = SubscriptionSet(
            version: 1,
            subscriptions: [
                Subscription(
                    name: String(repeating: "x", count: MessageCodec.maximumControlByteCount), className: "Tag",
                    predicate: .constant(true))
            ])
        let error = #expect(throws: ProtocolError.self) {
            try codec.decodeClientMessage(codec.encode(ClientMessage.subscribe(set)))
        }
        #expect(error?.code == .tooLarge)
    }

    @Test("Nesting is checked before anything recurses", arguments: [65, 1_000, 100_000])
    func nesting(depth: Int) {
        // Built from the inside out: each header wraps the predicate in field 7 (not).
        var headers: [[UInt8]] = []
        var size = 2
        for _ in 0..<depth {
            let header = ProtobufWriter.message {
                $0.varint(7 << 3 | 2)
                $0.varint(UInt64(size))
            }
            headers.append(header)
            size += header.count
        }
        let bytes: [UInt8] = Array(headers.reversed().joined()) + [0x08, 0x01]
        let error = #expect(throws: ProtocolError.self) { try codec.decodePredicate(bytes) }
        #expect(error?.code == .tooLarge)
    }

    @Test("A predicate of the maximum depth is read")
    func deepest() throws {
        var predicate = Predicate.constant(true)
        for level in 0..<Predicate.maximumDepth { predicate = level % 2 == 0 ? .and([predicate]) : .or([predicate]) }
        #expect(try codec.decodePredicate(codec.encode(predicate)) == predicate)
        let set = SubscriptionSet(
            version: 1, subscriptions: [Subscription(name: nil, className: "Tag", predicate: predicate)])
        let hello = ClientMessage.hello(
            Hello(
                accessToken: "", client: ClientID(rawValue: 1), position: .none, activeSubscriptions: set,
                wantedSubscriptions: set, acknowledged: 0, classes: []))
        #expect(try codec.decodeClientMessage(codec.encode(hello)) == hello)
    }

    @Test("Millions of empty parts are refused before any memory is allocated for them")
    func emptyParts() {
        // An upload of one changeset with nothing but empty instructions.
        let pairs = [UInt16](repeating: UInt16(littleEndian: 0x002a), count: MessageCodec.maximumFieldCount + 1)
        let instructions = pairs.withUnsafeBytes { Array($0) }
        let bytes = ProtobufWriter.message { $0.field(3) { $0.field(1, instructions) } }
        let error = #expect(throws: ProtocolError.self) { try codec.decodeClientMessage(bytes) }
        #expect(error?.code == .tooLarge)
    }

    @Test("A huge count with few bytes after it is an error")
    func hugeCount() {
        for bytes in [
            [0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01] as [UInt8],
            [0x12, 0xff, 0xff, 0xff, 0xff, 0x07], [0x12, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80],
            [0x13, 0x14], [0x00, 0x00], [0x0f],
        ] {
            #expect(throws: ProtocolError.self) { try codec.decodeServerMessage(bytes) }
            #expect(throws: ProtocolError.self) { try codec.decodeClientMessage(bytes) }
        }
    }

    @Test("Empty messages and unknown kinds are malformed")
    func unknownKind() {
        for bytes in [[], [0x7a, 0x00]] as [[UInt8]] {
            let error = #expect(throws: ProtocolError.self) { try codec.decodeServerMessage(bytes) }
            #expect(error == ProtocolError(.malformed, "A message of a kind that this version doesn't know."))
        }
    }
}
