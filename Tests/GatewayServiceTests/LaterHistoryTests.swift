import PostgresClient
import Testing
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// How a gateway answers devices that know a later history than its database, as they do after a backup is restored.
@Suite(.serialized, .timeLimit(.minutes(15)))
struct LaterHistoryTests {
    /// Beyond every tick of a new database.
    private static let laterTick: Int64 = 1_000_000
    private static let later = TomboloSyncProtocol.Position(
        tick: laterTick, token: 1, subscriptionVersion: 0, rulesFingerprint: 0, schemaFingerprint: 0)

    private static func note(_ number: Int64, base: Int64) -> ClientMessage {
        .upload([
            Changeset(
                number: number, base: base, stamp: Stamp(microseconds: number),
                instructions: [
                    .create(
                        ObjectReference(classIndex: 0, key: .int(number)),
                        [FieldWrite(column: 1, value: .string("note"))])
                ])
        ])
    }

    private static func text(_ message: ServerMessage?) -> String {
        switch message {
        case .welcome(let welcome): "welcome last \(welcome.lastChangeset)"
        case .frame: "frame"
        case .end(let end): "end acknowledged \(end.acknowledged)\(end.replacesAll ? " replaces all" : "")"
        case .reset: "reset"
        case .failure(let failure): "failure \(failure.code)"
        case nil: "nothing"
        }
    }

    @Test("a device whose position is beyond the newest tick gets a reset as the answer to its hello")
    func position() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello(wanting: [], at: Self.later)
                let answers = [Self.text(try await device.next()), Self.text(try await device.next())]
                #expect(answers == ["reset", "nothing"])
            }
        }
    }

    @Test(
        "a device that missed outcomes of changesets first shows whether it still has those, and then gets its reset at once"
    )
    func unheardChangesets() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            let client = ClientID(rawValue: 7)
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello(as: client, wanting: [])
                _ = try await device.firstEnd()
                try await device.send(Self.note(1, base: 0))
                _ = try await device.firstEnd { $0.acknowledged == 1 }
            }
            for (shown, expected) in [
                (Self.note(1, base: Self.laterTick), ["welcome last 1", "end acknowledged 1", "reset", "nothing"]),
                (.upload([]), ["welcome last 1", "reset", "nothing"]),
            ] {
                try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                    try await device.sayHello(as: client, wanting: [], at: Self.later)
                    var answers = [Self.text(try await device.next())]
                    try await device.send(shown)
                    while answers.count < expected.count { answers.append(Self.text(try await device.next())) }
                    #expect(answers == expected)
                }
            }
            let count = try await fixture.pool.query("SELECT count(*) FROM note")[0, 0].int
            #expect(count == 1)
        }
    }

    @Test("a changeset whose base is beyond the newest tick gets a full batch, and counts once it is based on that")
    func base() async throws {
        try await GatewayFixture.with(try Schema.of([Note.self])) { fixture in
            try await DeviceSocket.with(fixture.schema, port: fixture.port) { device in
                try await device.sayHello(wanting: [])
                _ = try await device.firstEnd()
                try await device.send(Self.note(1, base: Self.laterTick))
                // A busy gateway may send a batch before it has looked at the changeset.
                let end = try #require(try await device.firstEnd { $0.replacesAll || $0.acknowledged > 0 })
                #expect(end.replacesAll && end.acknowledged == 0, "\(end)")
                try await device.send(Self.note(1, base: end.position.tick))
                let next = try #require(try await device.firstEnd { $0.acknowledged == 1 })
                #expect(next.refusals.isEmpty && !next.replacesAll)
            }
        }
    }
}
