import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

@Suite("Errors say what was wrong and where")
struct ProtocolErrorTests {
    let schema: Schema
    let codec: MessageCodec
    let tag: Int

    init() throws {
        schema = try SampleSchema.make()
        codec = MessageCodec(schema: schema)
        tag = try #require(schema.index(of: "Tag"))
    }

    private func expect(
        _ code: ProtocolError.Code, _ message: String, _ location: SourceLocation = #_sourceLocation,
        _ body: () throws -> Void
    ) {
        let error = #expect(throws: ProtocolError.self, sourceLocation: location) { try body() }
        #expect(error == ProtocolError(code, message), sourceLocation: location)
    }

    /// A codec of a peer with other classes.
    private func other(_ classes: [ClassSchema]) throws -> MessageCodec { MessageCodec(schema: try Schema(classes)) }

    private static func tag(_ columns: Column...) -> ClassSchema {
        ClassSchema(
            name: "Tag", columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)] + columns)
    }

    private func changeset(_ instruction: Instruction) -> Changeset {
        Changeset(number: 4, base: 0, stamp: Stamp(microseconds: 0), instructions: [instruction])
    }

    @Test("An unknown class is named, with the nearest known name")
    func unknownClass() throws {
        let sender = try other([
            ClassSchema(name: "Tags", columns: [Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true)])
        ])
        let bytes = sender.encode(changeset(.erase(ObjectReference(classIndex: 0, key: .int(1)))))
        expect(.badSchema, "changeset 4: there is no class 'Tags' in the schema; did you mean 'Tag'?") {
            _ = try codec.decodeChangeset(bytes)
        }
        let frame = sender.encode(
            BatchFrame(
                sequence: 2, blocks: [RowBlock(schema: sender.schema, classIndex: 0, columns: [0], isWhole: true)]))
        expect(.badSchema, "frame 2: there is no class 'Tags' in the schema; did you mean 'Tag'?") {
            _ = try codec.decodeBatchFrame(frame)
        }
    }

    @Test("An unknown property is named")
    func unknownColumn() throws {
        let sender = try other([Self.tag(Column(name: "colour", type: .string))])
        let bytes = sender.encode(
            changeset(
                .set(ObjectReference(classIndex: 0, key: .int(1)), [FieldWrite(column: 1, value: .string(""))])))
        expect(.badSchema, "changeset 4: Tag has no property 'colour'") { _ = try codec.decodeChangeset(bytes) }
        let block = RowBlock(schema: sender.schema, classIndex: 0, columns: [0, 1], isWhole: true)
        let frame = sender.encode(BatchFrame(sequence: 0, blocks: [block]))
        expect(.badSchema, "frame 0: Tag has no property 'colour'") { _ = try codec.decodeBatchFrame(frame) }
    }

    @Test("A block whose type differs from the schema's is refused")
    func otherType() throws {
        let sender = try other([Self.tag(Column(name: "label", type: .double, isOptional: true))])
        let block = RowBlock(schema: sender.schema, classIndex: 0, columns: [0, 1], isWhole: true)
        let bytes = sender.encode(BatchFrame(sequence: 0, blocks: [block]))
        expect(.badSchema, "frame 0: Tag.label: of type string in the schema, but sent as type 3") {
            _ = try codec.decodeBatchFrame(bytes)
        }
    }

    @Test("Nil in a required property is refused")
    func nilInRequired() throws {
        let optional = try other([
            ClassSchema(
                name: "Room",
                columns: [
                    Column(name: "code", type: .string, isPrimaryKey: true),
                    Column(name: "seats", type: .int(bits: 64), isOptional: true),
                ])
        ])
        var block = RowBlock(schema: optional.schema, classIndex: 0, columns: [0, 1], isWhole: true)
        block.append(Row([.string("a"), .null]))
        let bytes = optional.encode(BatchFrame(sequence: 0, blocks: [block]))
        expect(.malformed, "frame 0: Room.seats: nil in a required property") {
            _ = try codec.decodeBatchFrame(bytes)
        }
    }

    @Test("Blocks with inconsistent parts are refused")
    func badBlocks() {
        func frame(_ build: (inout ProtobufWriter) -> Void) -> [UInt8] {
            ProtobufWriter.message {
                $0.field(2) {
                    $0.field(1, "Tag"); build(&$0)
                }
            }
        }
        func key(_ writer: inout ProtobufWriter, _ values: [UInt8]) {
            writer.field(5) {
                $0.field(1, 2); $0.field(2, values)
            }
        }
        func text(_ writer: inout ProtobufWriter, lengths: [UInt8], _ heap: [UInt8]) {
            writer.field(5) {
                $0.field(1, 4); $0.field(4, lengths); $0.field(5, heap)
            }
        }
        func expect(_ message: String, _ bytes: [UInt8], _ location: SourceLocation = #_sourceLocation) {
            self.expect(.malformed, "frame 0: \(message)", location) { _ = try codec.decodeBatchFrame(bytes) }
        }
        expect(
            "a block of Tag has 0 vectors for 1 properties",
            frame { $0.field(2, "_id") })
        expect("A block of Tag doesn't begin with the primary key.", frame { _ in })
        expect(
            "A block of Tag doesn't begin with the primary key.",
            frame {
                $0.field(2, "label"); $0.field(4, 1); text(&$0, lengths: [1], [0x61])
            })
        expect(
            "a block of Tag has '_id' twice",
            frame {
                $0.field(2, "_id"); $0.field(2, "_id"); $0.field(4, 1); key(&$0, [2]); key(&$0, [2])
            })
        expect(
            "A block of Tag has columns of different lengths.",
            frame {
                $0.field(2, "_id"); $0.field(4, 3); key(&$0, [2, 4])
            })
        expect(
            "Tag.label: values of 2 bytes in a heap of 1",
            frame {
                $0.field(2, "_id"); $0.field(2, "label"); $0.field(4, 1); key(&$0, [2])
                text(&$0, lengths: [2], [0x61])
            })
        expect(
            "Tag.label: text that isn't UTF-8",
            frame {
                $0.field(2, "_id"); $0.field(2, "label"); $0.field(4, 1); key(&$0, [2])
                text(&$0, lengths: [2], [0xc3, 0x28])
            })
        expect(
            "Tag.label: text that ends within a character, in row 0",
            frame {
                $0.field(2, "_id"); $0.field(2, "label"); $0.field(4, 2); key(&$0, [2, 4])
                text(&$0, lengths: [1, 1], [0xc3, 0xa9])
            })
        self.expect(.tooLarge, "frame 0: a block of Tag has 65537 rows; at most 65536 are accepted") {
            _ = try codec.decodeBatchFrame(frame { $0.field(4, 65_537) })
        }
    }

    @Test("Meaningless instructions are refused, with their position")
    func badInstructions() {
        func changeset(_ build: (inout ProtobufWriter) -> Void) -> [UInt8] {
            ProtobufWriter.message {
                $0.field(1, 8)
                $0.field(4) {
                    $0.field(1, "Tag"); $0.field(2, "label")
                }
                $0.field(5) {
                    $0.field(2) { $0.field(3, 2) }; $0.field(6, 1)
                }
                $0.field(5, build)
            }
        }
        func expect(
            _ message: String, _ bytes: [UInt8], _ code: ProtocolError.Code = .malformed,
            _ location: SourceLocation = #_sourceLocation
        ) {
            self.expect(code, "changeset 4: instruction 1: \(message)", location) {
                _ = try codec.decodeChangeset(bytes)
            }
        }
        let key: (inout ProtobufWriter) -> Void = { $0.field(2) { $0.field(3, 2) } }
        expect("class 1 of 1", changeset { $0.field(1, 1) })
        expect("a value of unknown kind", changeset { $0.field(6, 1) })
        expect("an instruction of unknown kind", changeset { key(&$0) })
        expect(
            "the key of a Tag: '_id' is of type int and cannot hold \"x\".",
            changeset {
                $0.field(2) { $0.field(5, "x") }; $0.field(6, 1)
            }, .badSchema)
        expect(
            "the key of a Tag: '_id' is required and cannot be nil.",
            changeset {
                $0.field(2) { $0.field(1, 1) }; $0.field(6, 1)
            }, .badSchema)
        expect(
            "an erase whose value is false",
            changeset {
                key(&$0); $0.field(6, 0)
            })
        expect(
            "property 1 of the 1 named for Tag",
            changeset {
                key(&$0); $0.field(5) { $0.field(1, 1) }
            })
        expect(
            "0 values for 1 properties",
            changeset {
                key(&$0); $0.field(3) { $0.field(1, [0]) }
            })
        expect(
            "Tag.label: an ObjectId of 1 bytes instead of 12",
            changeset {
                key(&$0);
                $0.field(3) {
                    $0.field(1, [0]); $0.field(2) { $0.field(8, [1]) }
                }
            })
        expect(
            "Tag.label: a UUID of 3 bytes instead of 16",
            changeset {
                key(&$0);
                $0.field(3) {
                    $0.field(1, [0]); $0.field(2) { $0.field(9, [1, 2, 3]) }
                }
            })
    }

    /// A coefficient of 10³⁴, one digit too many.
    private static let tooManyDigits: [UInt8] = [
        0, 0, 0, 0, 0x64, 0x8e, 0x8d, 0x37, 0xc0, 0x87, 0xad, 0xbe, 0x09, 0xed, 0x41, 0x30,
    ]

    @Test(
        "Decimals that aren't 16 canonical bytes are refused, with their position",
        arguments: [
            ([], "a decimal of 0 bytes instead of 16"), ([1, 2, 3], "a decimal of 3 bytes instead of 16"),
            // A million digits as text.
            ([UInt8](repeating: UInt8(ascii: "9"), count: 1_000_000), "a decimal of 1000000 bytes instead of 16"),
            (tooManyDigits, "a decimal that isn't in canonical form"),
            // The encoding's second form, whose coefficients are all too long; NaN and infinity with a payload.
            ([UInt8](repeating: 0, count: 15) + [0x6c], "a decimal that isn't in canonical form"),
            ([1] + [UInt8](repeating: 0, count: 14) + [0x7c], "a decimal that isn't in canonical form"),
            ([UInt8](repeating: 0, count: 15) + [0xfc], "a decimal that isn't in canonical form"),
            ([1] + [UInt8](repeating: 0, count: 14) + [0x78], "a decimal that isn't in canonical form"),
        ] as [([UInt8], String)])
    func badDecimals(bytes: [UInt8], message: String) {
        let predicate = ProtobufWriter.message {
            $0.field(2) {
                $0.field(1, "price"); $0.field(2, 1); $0.field(3) { $0.field(10, bytes) }
            }
        }
        expect(.malformed, "condition on price: \(message)") { _ = try codec.decodePredicate(predicate) }
        let frame = ProtobufWriter.message {
            $0.field(2) {
                $0.field(1, "Everything"); $0.field(2, "_id"); $0.field(2, "decimal128Value"); $0.field(4, 1)
                $0.field(5) {
                    $0.field(1, 7); $0.field(4, [12]); $0.field(5, [UInt8](repeating: 1, count: 12))
                }
                $0.field(5) {
                    $0.field(1, 9); $0.field(4) { $0.varint(UInt64(bytes.count)) }; $0.field(5, bytes)
                }
            }
        }
        expect(
            .malformed,
            bytes.isEmpty
                ? "frame 0: Everything.decimal128Value in row 0 has 0 bytes instead of 16."
                : "frame 0: Everything.decimal128Value: a decimal that isn't 16 canonical bytes, in row 0"
        ) { _ = try codec.decodeBatchFrame(frame) }
    }

    @Test("Changesets without a number, and uploads with gaps, are refused")
    func numbers() {
        expect(.malformed, "changeset 0: number and base must not be negative, and numbers start at 1") {
            _ = try codec.decodeChangeset([])
        }
        let upload = ClientMessage.upload(
            [3, 5].map { Changeset(number: $0, base: 0, stamp: Stamp(microseconds: 0), instructions: []) })
        expect(.malformed, "upload: changeset 5 follows 3; numbers have no gaps") {
            _ = try codec.decodeClientMessage(codec.encode(upload))
        }
        let many = ClientMessage.upload(
            (1...1_001).map { Changeset(number: $0, base: 0, stamp: Stamp(microseconds: 0), instructions: []) })
        expect(.tooLarge, "An upload may have at most 1000 changesets.") {
            _ = try codec.decodeClientMessage(codec.encode(many))
        }
    }

    @Test("Oversized or meaningless queries are refused, naming the subscription")
    func queries() {
        func decode(_ predicate: Predicate) throws {
            let set = SubscriptionSet(
                version: 1, subscriptions: [Subscription(name: "cheap", className: "Tag", predicate: predicate)])
            _ = try codec.decodeSubscriptionSet(codec.encode(set))
        }
        let label = PropertyPath("label")
        expect(.malformed, "subscription 'cheap' on Tag: condition on label: NaN, which no property can hold") {
            try decode(.compare(label, .less, .double(.nan)))
        }
        expect(.malformed, "subscription 'cheap' on Tag: a property path of 0 names; it must have 1 to 16") {
            try decode(.compare(PropertyPath([]), .less, .int(1)))
        }
        expect(.tooLarge, "subscription 'cheap' on Tag: a query with more than 4096 parts") {
            try decode(.isIn(label, (0..<4_096).map { .int($0) }))
        }
        expect(.tooLarge, "subscription 'cheap' on Tag: a query with more than 4096 parts or 64 levels") {
            try decode(.or([Predicate](repeating: .constant(false), count: 4_096)))
        }
        expect(.malformed, "condition on label: comparison operator 9, which does not exist") {
            _ = try codec.decodePredicate(
                ProtobufWriter.message {
                    $0.field(2) {
                        $0.field(1, "label"); $0.field(2, 9)
                    }
                })
        }
        let many = SubscriptionSet(
            version: 1,
            subscriptions: [Subscription](
                repeating: Subscription(name: nil, className: "Tag", predicate: .constant(true)), count: 1_001))
        expect(.tooLarge, "A subscription set may have at most 1000 queries.") {
            _ = try codec.decodeSubscriptionSet(codec.encode(many))
        }
    }

    @Test("A hello of an unreadable version is refused as such; a readable one is returned with its version")
    func versions() throws {
        // A hello in which every field but the version has a different form.
        let future = ProtobufWriter.message {
            $0.field(1) {
                $0.field(1, 99); $0.field(4, 1); $0.field(3, "text")
            }
        }
        expect(
            .unsupportedVersion,
            "This gateway speaks versions 1 to 3 of the protocol, the device version 99. Update the older of the two."
        ) {
            _ = try codec.decodeClientMessage(future)
        }
        let hello = Hello(
            protocolVersion: 99, accessToken: "", client: ClientID(rawValue: 1), position: .none,
            activeSubscriptions: .empty, wantedSubscriptions: .empty, acknowledged: 0, classes: [])
        #expect(try codec.decodeClientMessage(codec.encode(ClientMessage.hello(hello))) == .hello(hello))
        let broken = ProtobufWriter.message {
            $0.field(1) {
                $0.field(1, 1); $0.field(2, "token")
            }
        }
        expect(.malformed, "hello: no client id") { _ = try codec.decodeClientMessage(broken) }
    }

    @Test("A negative version of the subscriptions is refused")
    func negativeVersion() throws {
        let negative = SubscriptionSet(version: -1, subscriptions: [])
        let position = Position(tick: 1, token: 2, subscriptionVersion: -3, rulesFingerprint: 4, schemaFingerprint: 5)
        func hello(_ position: Position, _ wanted: SubscriptionSet) -> ClientMessage {
            .hello(
                Hello(
                    protocolVersion: 2, accessToken: "", client: ClientID(rawValue: 1), position: position,
                    activeSubscriptions: .empty, wantedSubscriptions: wanted, acknowledged: 0, classes: []))
        }
        expect(.malformed, "subscriptions: version -1") {
            _ = try codec.decodeClientMessage(codec.encode(ClientMessage.subscribe(negative)))
        }
        expect(.malformed, "hello: subscriptions: version -1") {
            _ = try codec.decodeClientMessage(codec.encode(hello(.none, negative)))
        }
        expect(.malformed, "hello: position: version -3 of the subscriptions") {
            _ = try codec.decodeClientMessage(codec.encode(hello(position, .empty)))
        }
    }

    @Test("Each error code maps to the failure that the device gets", arguments: ProtocolError.Code.allCases)
    func failures(code: ProtocolError.Code) {
        let expected: SessionFailure.Code =
            switch code {
            case .malformed: .badMessage
            case .badSchema: .badSchema
            case .tooLarge: .tooLarge
            case .unsupportedVersion: .unsupportedVersion
            }
        #expect(ProtocolError(code, "why").failure == SessionFailure(expected, "why"))
    }
}
