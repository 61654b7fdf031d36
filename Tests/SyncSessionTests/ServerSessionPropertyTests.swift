import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

private typealias F = SessionFixture

/// Which properties a device gets, depending on its version of the app and on what its user may read.
@Suite struct ServerSessionPropertyTests: ServerSessionTranscript {
    var session = ServerSession(schema: F.schema)

    private static let evolved = try! Schema([
        ClassSchema(
            name: "Thing",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "team", type: .int(bits: 64), isOptional: true, previousNames: ["group"]),
                Column(name: "note", type: .string, isOptional: true),
            ], previousNames: ["Item"])
    ])

    @Test("A device with an older version gets its own names, and zero if a property that it requires is nil")
    mutating func olderVersion() throws {
        session = ServerSession(schema: Self.evolved)
        let request = try #require(reading())
        #expect(session.deviceNames.classes == [0: "Item"])
        #expect(session.deviceNames.columns == [0: [1: "group"]])
        var block = RowBlock(schema: Self.evolved, classIndex: 0, columns: [0, 1], isWhole: true)
        block.append(Row([.int(1), .null, .null]))
        block.append(Row([.int(2), .int(5), .null]))
        let masked = request.mask.apply(to: BatchFrame(sequence: 0, blocks: [block]), schema: Self.evolved)
        let bytes = MessageCodec(schema: Self.evolved, names: session.deviceNames).encode(.frame(masked))
        guard case .frame(let frame) = try MessageCodec(schema: F.schema).decodeServerMessage(bytes) else {
            Issue.record("no frame")
            return
        }
        let rows = (0..<2).map { row in (0..<2).map { frame.blocks[0].value(row: row, position: $0, schema: F.schema) }
        }
        #expect(rows == [[.int(1), .int(0)], [.int(2), .int(5)]])
    }

    private static func hiding(_ columns: Set<Int>, fingerprint: UInt64 = 5) -> SessionAuthority {
        SessionAuthority(
            user: "user", rulesFingerprint: fingerprint, readable: { _ in .constant(true) }, hidden: [0: columns],
            permit: { _ in nil })
    }

    @Test("A property that the user may not read is sent as nil or zero, and no subscription may refer to it")
    mutating func hiddenProperty() throws {
        let request = try #require(reading(Self.hiding([1])))
        var block = RowBlock(schema: F.schema, classIndex: 0, columns: [0, 1], isWhole: true)
        block.append(Row([.int(1), .int(7)]))
        let frame = request.mask.apply(to: BatchFrame(sequence: 0, blocks: [block]), schema: F.schema)
        #expect(frame.blocks[0].value(row: 0, position: 1, schema: F.schema) == .int(0))
        #expect(on(.message(.subscribe(F.groupOne))) == ["send failure badSubscription", "close"])
    }

    private static let embedding = try! Schema([
        ClassSchema(
            name: "Item",
            columns: [
                Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                Column(name: "group", type: .int(bits: 64)),
                Column(name: "address.secret", type: .string, isOptional: true, previousNames: ["address.former"]),
                Column(name: "address.zip", type: .string, isOptional: true),
            ])
    ])

    @Test(
        "No subscription may refer to a hidden property of an embedded object, however its path is split",
        arguments: [
            ["address", "secret"], ["address.secret"], ["address", "former"], ["address.former"],
        ])
    mutating func hiddenEmbeddedProperty(path: [String]) {
        func set(_ path: [String]) -> SubscriptionSet {
            SubscriptionSet(
                version: 2,
                subscriptions: [
                    Subscription(
                        name: "one", className: "Item",
                        predicate: .not(.compare(PropertyPath(path), .equal, .string("x"))))
                ])
        }
        session = ServerSession(schema: Self.embedding)
        _ = open(authority: Self.hiding([2]))
        #expect(on(.message(.subscribe(set(path)))) == ["send failure badSubscription", "close"])
        session = ServerSession(schema: Self.embedding)
        _ = open(authority: Self.hiding([2]))
        #expect(on(.message(.subscribe(set(["address", "zip"])))) == [], "Other properties are allowed.")
    }

    @Test("Rules that hide a property replace everything, and end a session whose subscription refers to it")
    mutating func newlyHidden() {
        goLive()
        #expect(
            on(.authorityChanged(Self.hiding([1], fingerprint: 6))) == [
                "unfollow 1", "read from nothing subscriptions 1 with other queries",
            ])
        session = ServerSession(schema: F.schema)
        goLive(F.hello(active: F.groupOne, wanted: F.groupOne))
        #expect(
            on(.authorityChanged(Self.hiding([1], fingerprint: 6))) == [
                "unfollow 1", "send failure badSubscription", "close",
            ])
    }

    @Test("If a property is hidden while a batch is being read, the batch starts over")
    mutating func hiddenWhileReading() {
        _ = open()
        #expect(
            on(.authorityChanged(Self.hiding([1], fingerprint: 6))) == [
                "read from nothing subscriptions 1 with other queries"
            ])
    }

    @Test("A device whose former subscriptions refer to a hidden property gets everything, not the difference")
    mutating func formerSubscriptionOnHiddenProperty() {
        let hello = F.hello(active: F.groupOne, wanted: F.everything)
        #expect(
            open(hello, authority: Self.hiding([1])).last
                == "read from nothing subscriptions 1 with other queries")
        session = ServerSession(schema: F.schema)
        #expect(open(hello, authority: Self.hiding([])).last == "read from 3 subscriptions 1 with other queries")
    }
}
