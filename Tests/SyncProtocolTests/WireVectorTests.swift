import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// Literal bytes, written by hand from the .proto files: what a client in another language has to produce.
@Suite("Messages have known bytes")
struct WireVectorTests {
    let schema: Schema
    let codec: MessageCodec
    let tag: Int

    init() throws {
        schema = try SampleSchema.make()
        codec = MessageCodec(schema: schema)
        tag = try #require(schema.index(of: "Tag"))
    }

    private func up(_ message: ClientMessage, _ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) throws {
        #expect(codec.encode(message).hexadecimal == bytes.hexadecimal, sourceLocation: location)
        #expect(try codec.decodeClientMessage(bytes) == message, sourceLocation: location)
    }

    private func down(_ message: ServerMessage, _ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) throws
    {
        #expect(codec.encode(message).hexadecimal == bytes.hexadecimal, sourceLocation: location)
        #expect(try codec.decodeServerMessage(bytes) == message, sourceLocation: location)
    }

    @Test("applied")
    func applied() throws {
        // Field 4, two bytes: field 1 = zigzag(300) = 600 = d8 04.
        try up(.applied(tick: 300), [0x22, 0x03, 0x08, 0xd8, 0x04])
        // The default is left out.
        try up(.applied(tick: 0), [0x22, 0x00])
        try up(
            .applied(tick: .max), [0x22, 0x0b, 0x08, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01])
    }

    @Test("Other encodings of applied are read the same way, and malformed ones are refused")
    func appliedOtherwise() throws {
        let same: [[UInt8]] = [
            [0x22, 0x04, 0x08, 0xd8, 0x84, 0x00],  // a varint longer than needed
            [0x22, 0x05, 0x08, 0x02, 0x08, 0xd8, 0x04],  // the last of two values counts
            [0x22, 0x05, 0x10, 0x01, 0x08, 0xd8, 0x04],  // an unknown field, before the tick
            [0x22, 0x05, 0x08, 0xd8, 0x04, 0x10, 0x01],  // and after
            [0x78, 0x01, 0x22, 0x03, 0x08, 0xd8, 0x04], [0x22, 0x03, 0x08, 0xd8, 0x04, 0x78, 0x01],
        ]
        for bytes in same {
            #expect(try codec.decodeClientMessage(bytes) == .applied(tick: 300), "\(bytes.hexadecimal)")
        }
        let wrong: [[UInt8]] = [
            [0x22, 0x02, 0x08, 0x01],  // tick -1
            [0x22, 0x01, 0x08], [0x22, 0x02, 0x08, 0x80], [0x22, 0x03, 0x08, 0x02],
            [0x22, 0x0c, 0x08] + [UInt8](repeating: 0xff, count: 10) + [0x01],
            [0x22, 0x02, 0x08, 0x02, 0x22, 0x02, 0x08, 0x02],
        ]
        for bytes in wrong {
            #expect(throws: ProtocolError.self, "\(bytes.hexadecimal)") { try codec.decodeClientMessage(bytes) }
        }
    }

    @Test("subscribe")
    func subscribe() throws {
        try up(
            .subscribe(
                SubscriptionSet(
                    version: 2,
                    subscriptions: [
                        Subscription(
                            name: "a", className: "Tag",
                            predicate: .compare(PropertyPath("label"), .notEqual, .null))
                    ])),
            [
                0x12, 0x1d,  // subscribe
                0x08, 0x04,  // version 2
                0x12, 0x19,  // subscription
                0x0a, 0x01, 0x61,  // name "a"
                0x12, 0x03, 0x54, 0x61, 0x67,  // class_name "Tag"
                0x1a, 0x0f, 0x12, 0x0d,  // predicate: compare
                0x0a, 0x05, 0x6c, 0x61, 0x62, 0x65, 0x6c,  // path "label"
                0x10, 0x02,  // NOT_EQUAL
                0x1a, 0x02, 0x08, 0x01,  // literal nil
            ])
    }

    @Test("upload")
    func upload() throws {
        let reference = ObjectReference(classIndex: tag, key: .int(-1))
        try up(
            .upload([
                Changeset(
                    number: 1, base: 2, stamp: Stamp(microseconds: 3),
                    instructions: [
                        .create(reference, [FieldWrite(column: 1, value: .string("é"), isDefault: true)]),
                        .erase(reference),
                    ])
            ]),
            [
                0x1a, 0x32, 0x0a, 0x30,  // upload, changeset
                0x08, 0x02, 0x10, 0x04, 0x18, 0x06,  // number, base, stamp
                0x22, 0x0c, 0x0a, 0x03, 0x54, 0x61, 0x67, 0x12, 0x05, 0x6c, 0x61, 0x62, 0x65, 0x6c,  // Tag, label
                0x2a, 0x12,  // instruction of class 0
                0x12, 0x02, 0x18, 0x01,  // key: int -1
                0x1a, 0x0c,  // create
                0x0a, 0x01, 0x00,  // columns [0]
                0x12, 0x04, 0x2a, 0x02, 0xc3, 0xa9,  // value: string
                0x1a, 0x01, 0x01,  // defaults
                0x2a, 0x06, 0x12, 0x02, 0x18, 0x01, 0x30, 0x01,  // instruction: erase
            ])
    }

    @Test(
        "decimal",
        arguments: [
            ("1.50", [0x96, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x3c, 0x30]),
            ("-1E+3", [0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x46, 0xb0]),
            ("0", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x40, 0x30]),
            ("1E-6176", [0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
            (
                "9999999999999999999999999999999999E+6111",
                [0xff, 0xff, 0xff, 0xff, 0x63, 0x8e, 0x8d, 0x37, 0xc0, 0x87, 0xad, 0xbe, 0x09, 0xed, 0xff, 0x5f]
            ),
            ("-Inf", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xf8]),
            ("NaN", [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x7c]),
        ] as [(String, [UInt8])])
    func decimal(text: String, bytes: [UInt8]) throws {
        let number = try Decimal128(string: text)
        let predicate = Predicate.compare(PropertyPath("p"), .equal, .decimal(number))
        let message: [UInt8] = [0x12, 0x19, 0x0a, 0x01, 0x70, 0x10, 0x01, 0x1a, 0x12, 0x52, 0x10] + bytes
        #expect(codec.encode(predicate).hexadecimal == message.hexadecimal)
        let decoded = try codec.decodePredicate(message)
        #expect(decoded == predicate)
        // Trailing zeros are sent too.
        guard case .compare(_, _, .decimal(let read)) = decoded else {
            Issue.record("\(decoded)")
            return
        }
        #expect(read.description == number.description)
    }

    @Test("welcome")
    func welcome() throws {
        try down(
            .welcome(Welcome(protocolVersion: 1, serverTime: Stamp(microseconds: -1), lastChangeset: 5)),
            [0x0a, 0x06, 0x08, 0x01, 0x10, 0x01, 0x18, 0x0a])
        try down(
            .welcome(
                Welcome(protocolVersion: 1, serverTime: Stamp(microseconds: -1), lastChangeset: 5, isExpired: true)),
            [0x0a, 0x08, 0x08, 0x01, 0x10, 0x01, 0x18, 0x0a, 0x20, 0x01])
    }

    @Test("frame")
    func frame() throws {
        var block = RowBlock(schema: schema, classIndex: tag, columns: [0, 1], isWhole: true)
        block.append(Row([.int(1), .string("ab")]))
        block.append(Row([.int(-2), .null]))
        block.append(Row([.int(3), .string("c")]))
        try down(
            .frame(
                BatchFrame(
                    sequence: 1, blocks: [block], removals: [ObjectRemoval(classIndex: tag, keys: [.int(4)])],
                    totalObjects: 4, objectsSoFar: 4)),
            [
                0x12, 0x45, 0x08, 0x01,  // frame, sequence
                0x12, 0x2f,  // block
                0x0a, 0x03, 0x54, 0x61, 0x67,  // "Tag"
                0x12, 0x03, 0x5f, 0x69, 0x64,  // "_id"
                0x12, 0x05, 0x6c, 0x61, 0x62, 0x65, 0x6c,  // "label"
                0x18, 0x01, 0x20, 0x03,  // is_whole, row_count
                0x2a, 0x07, 0x08, 0x02, 0x12, 0x03, 0x02, 0x03, 0x06,  // INT: 1, -2, 3
                0x2a, 0x0f, 0x08, 0x04,  // STRING
                0x22, 0x03, 0x02, 0x00, 0x01,  // lengths
                0x2a, 0x03, 0x61, 0x62, 0x63,  // heap
                0x32, 0x01, 0x02,  // nils: row 1
                0x1a, 0x0c, 0x0a, 0x03, 0x54, 0x61, 0x67,  // removal of "Tag"
                0x12, 0x05, 0x08, 0x02, 0x12, 0x01, 0x08,  // INT: 4
                0x20, 0x04, 0x28, 0x04,  // total_objects, objects_so_far
            ])
    }

    @Test("end, reset, failure")
    func others() throws {
        try down(
            .end(
                BatchEnd(
                    position: Position(
                        tick: 1, token: 2, subscriptionVersion: 3, rulesFingerprint: 4, schemaFingerprint: 5),
                    serverTime: Stamp(microseconds: 6), acknowledged: 7,
                    refusals: [RefusedWrite(number: 7, refusal: Refusal(.invalid, "no"))], replacesAll: true,
                    frameCount: 1)),
            [
                0x1a, 0x33,
                0x0a, 0x1f, 0x08, 0x02,  // position: tick
                0x11, 0x02, 0, 0, 0, 0, 0, 0, 0,  // token
                0x18, 0x06,  // subscription_version
                0x21, 0x04, 0, 0, 0, 0, 0, 0, 0,  // rules_fingerprint
                0x29, 0x05, 0, 0, 0, 0, 0, 0, 0,  // schema_fingerprint
                0x10, 0x0c, 0x18, 0x0e,  // server time, acknowledged
                0x22, 0x08, 0x08, 0x0e, 0x10, 0x03, 0x1a, 0x02, 0x6e, 0x6f,  // refusal
                0x28, 0x01, 0x30, 0x01,  // replaces_all, frame_count
            ])
        try down(.reset("x"), [0x22, 0x03, 0x0a, 0x01, 0x78])
        try down(
            .failure(SessionFailure(.unavailable, "x", isRetryable: true)),
            [0x2a, 0x07, 0x08, 0x07, 0x12, 0x01, 0x78, 0x18, 0x01])
    }
}
