import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// An empty part of two bytes would take a hundred bytes of memory, so parts are counted first.
@Suite("Message parts are counted before any is built")
struct ElementCountTests {
    let codec: MessageCodec

    init() throws { codec = MessageCodec(schema: try SampleSchema.make()) }

    /// `count` empty nested messages of a field.
    private func empty(_ field: UInt8, _ count: Int) -> [UInt8] {
        let pairs = [UInt16](repeating: UInt16(littleEndian: UInt16(field << 3 | 2)), count: count)
        return pairs.withUnsafeBytes { Array($0) }
    }

    private func refusal(_ bytes: [UInt8]) -> ProtocolError? {
        #expect(throws: ProtocolError.self) { try codec.decodeClientMessage(bytes) }
    }

    @Test("An upload with too many instructions is refused, in one changeset or several")
    func instructions() {
        let limit = Changeset.maximumInstructionCount
        let whole = empty(5, limit + 1)
        let half = empty(5, limit / 2 + 1)
        for bytes in [
            ProtobufWriter.message { $0.field(3) { $0.field(1, whole) } },
            ProtobufWriter.message {
                $0.field(3) {
                    $0.field(1, half)
                    $0.field(1, half)
                }
            },
        ] {
            #expect(
                refusal(bytes)
                    == ProtocolError(
                        .tooLarge, "An upload may have at most 1000000 instructions; send fewer changesets at once."))
        }
    }

    @Test("A changeset with too many classes or an instruction with too many values is refused")
    func partsOfChangesets() {
        let classes = empty(4, MessageCodec.maximumClassCount + 1)
        #expect(
            refusal(ProtobufWriter.message { $0.field(3) { $0.field(1, classes) } })
                == ProtocolError(.tooLarge, "A changeset may have at most 10000 classes."))
        let values = empty(2, MessageCodec.maximumPropertyCount + 1)
        for operation in [3, 4] {
            let bytes = ProtobufWriter.message {
                $0.field(3) { $0.field(1) { $0.field(5) { $0.field(operation, values) } } }
            }
            #expect(refusal(bytes) == ProtocolError(.tooLarge, "An instruction may have at most 10000 values."))
        }
    }

    @Test("A hello with too many classes, queries, conditions or literals is refused")
    func partsOfHellos() {
        let classes = empty(8, MessageCodec.maximumClassCount + 1)
        #expect(
            refusal(ProtobufWriter.message { $0.field(1, classes) })
                == ProtocolError(.tooLarge, "A hello may have at most 10000 classes."))
        let parts = SubscriptionSet.maximumPartCount
        let conditions = ProtobufWriter.message { $0.field(2) { $0.field(3) { $0.field(5, empty(1, parts)) } } }
        let literals = ProtobufWriter.message { $0.field(2) { $0.field(3) { $0.field(3, empty(2, parts)) } } }
        let queries = empty(2, SubscriptionSet.maximumCount + 1)
        for set in [5, 6] {
            for (content, message) in [
                (queries, "A subscription set may have at most 1000 queries."),
                (conditions, "The queries of a subscription set may have at most 30000 parts together."),
                (literals, "The queries of a subscription set may have at most 30000 parts together."),
            ] {
                #expect(
                    refusal(ProtobufWriter.message { $0.field(1) { $0.field(set, content) } })
                        == ProtocolError(.tooLarge, message))
            }
        }
    }

    @Test("Each subscription set of a hello has its own bounds")
    func setsAreCountedApart() throws {
        let query = Predicate.isIn(PropertyPath("label"), (0..<4_000).map { .int($0) })
        let set = SubscriptionSet(
            version: 1,
            subscriptions: (1...7).map { Subscription(name: "\($0)", className: "Tag", predicate: query) })
        let hello = ClientMessage.hello(
            Hello(
                accessToken: "", client: ClientID(rawValue: 1), position: .none, activeSubscriptions: set,
                wantedSubscriptions: set, acknowledged: 0, classes: HelloClass.describe(codec.schema)))
        #expect(try codec.decodeClientMessage(codec.encode(hello)) == hello)
    }

    @Test("Messages other than uploads may have far fewer fields")
    func controlFields() {
        // Unknown fields, for which nothing is built.
        let fields = [UInt16](repeating: UInt16(littleEndian: 0x0078), count: MessageCodec.maximumControlFieldCount + 1)
        let content = fields.withUnsafeBytes { Array($0) }
        let message = "The message of a device has more than 250000 fields; send smaller ones."
        #expect(refusal(ProtobufWriter.message { $0.field(1, content) }) == ProtocolError(.tooLarge, message))
    }

    @Test("A subscription set is bounded in bytes, alone and in a hello")
    func setBytes() {
        let name = [UInt8](repeating: UInt8(ascii: "x"), count: MessageCodec.maximumSubscriptionSetByteCount)
        for bytes in [
            ProtobufWriter.message { $0.field(2) { $0.field(2) { $0.field(1, name) } } },
            ProtobufWriter.message { $0.field(1) { $0.field(6) { $0.field(2) { $0.field(1, name) } } } },
        ] {
            let error = refusal(bytes)
            #expect(error?.code == .tooLarge)
            #expect(error?.message.contains("A subscription set may have at most 262144 bytes") == true)
        }
    }

    @Test("A message of two kinds is refused, since each kind has its own bounds")
    func twoKinds() {
        let bytes = ProtobufWriter.message {
            $0.field(3) { $0.field(1) { $0.field(1, 2) } }
            $0.field(1) { $0.field(1, 2) }
        }
        #expect(refusal(bytes)?.code == .malformed)
    }

    // MARK: Before a device is known

    @Test("Only the version and token of a hello are read before authentication")
    func opening() throws {
        let bytes = ProtobufWriter.message {
            $0.field(1) {
                $0.field(1, 2)
                $0.field(2, "token")
                // Not a valid subscription set.
                $0.field(5, [0xff, 0xff, 0xff])
                $0.field(8, [0xff])
            }
        }
        #expect(refusal(bytes)?.code == .malformed)
        #expect(
            try codec.opening(ofHello: bytes) == HelloOpening(protocolVersion: 2, accessToken: "token"))
    }

    @Test("A message other than a hello, an unknown version or a giant token doesn't open a session")
    func badOpenings() {
        func error(_ bytes: [UInt8]) -> ProtocolError? {
            #expect(throws: ProtocolError.self) { try codec.opening(ofHello: bytes) }
        }
        #expect(
            error(codec.encode(ClientMessage.applied(tick: 1)))
                == ProtocolError(.malformed, "A session must begin with a hello, but another message came first."))
        #expect(error([])?.code == .malformed)
        #expect(error(ProtobufWriter.message { $0.field(1) { $0.field(1, 99) } })?.code == .unsupportedVersion)
        let token = [UInt8](repeating: UInt8(ascii: "x"), count: MessageCodec.maximumAccessTokenByteCount + 1)
        let giant = ProtobufWriter.message {
            $0.field(1) {
                $0.field(1, 2)
                $0.field(2, token)
            }
        }
        #expect(error(giant)?.code == .tooLarge)
        let garbled = ProtobufWriter.message {
            $0.field(1) {
                $0.field(1, 2)
                $0.field(2, [0xff])
            }
        }
        #expect(error(garbled)?.code == .malformed)
    }

    @Test("An error is truncated by bytes, even if the name in it has few characters")
    func longNames() {
        let long = "e" + String(repeating: "\u{301}", count: 100_000)
        let set = SubscriptionSet(
            version: 1,
            subscriptions: [
                Subscription(name: long, className: long, predicate: .compare(PropertyPath(long), .less, .double(.nan)))
            ])
        let error = #expect(throws: ProtocolError.self) { try codec.decodeSubscriptionSet(codec.encode(set)) }
        #expect((error?.message.utf8.count ?? .max) <= 500)
        #expect(ProtocolError(.malformed, long).message.utf8.count <= ProtocolError.maximumMessageByteCount + 3)
    }
}
