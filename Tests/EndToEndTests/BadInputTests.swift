import TomboloAuthentication
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol
import Testing

@Suite(.serialized)
struct BadInputTests {
    private static let codec = MessageCodec(schema: Platform.schema)

    /// Sends messages to the gateway and returns the failure that it answers with. Afterwards another device must still
    /// be served.
    private func failure(_ platform: Platform, _ messages: [[UInt8]]) async throws -> SessionFailure {
        let failure = try await RawSocket.with(platform.gateways[0]) { socket in
            for message in messages { try await socket.send(message) }
            let failure = try await socket.failure(Self.codec)
            guard case .closed = try await socket.next() else {
                throw EndToEndFailure("The gateway went on after \(failure).")
            }
            return failure
        }
        #expect(!failure.message.isEmpty)
        try await expectService(platform)
        return failure
    }

    private func expectService(_ platform: Platform) async throws {
        let token = try platform.token(of: "attendee")
        try await RawSocket.with(platform.gateways[0]) { socket in
            try await socket.send(
                Greeting.hello(Platform.schema, token: token, client: Greeting.newClient()), codec: Self.codec)
            guard case .message(let bytes) = try await socket.next(),
                case .welcome = try Self.codec.decodeServerMessage(bytes)
            else { throw EndToEndFailure("The gateway does not welcome a device after bad input of another.") }
        }
    }

    private func hello(
        _ platform: Platform, token: String? = nil, version: Int = ProtocolVersion.current,
        subscriptions: [Subscription] = []
    ) throws -> [UInt8] {
        Self.codec.encode(
            Greeting.hello(
                Platform.schema, token: try token ?? platform.token(of: "attendee"), client: Greeting.newClient(),
                version: version, subscriptions: subscriptions))
    }

    private func upload(_ schema: Schema, _ className: String) throws -> [UInt8] {
        guard let index = schema.index(of: className) else { throw EndToEndFailure("no class \(className)") }
        let reference = ObjectReference(classIndex: index, key: .objectId(.generate()))
        let changeset = Changeset(
            number: 1, base: 0, stamp: Stamp(microseconds: 1),
            instructions: [.create(reference, [FieldWrite(column: 1, value: .int(3))])])
        return MessageCodec(schema: schema).encode(.upload([changeset]))
    }

    @Test
    func `Every kind of bad message fails its session with the right code, and others are served afterwards`()
        async throws
    {
        try await Platform.with { platform in
            #expect(try await failure(platform, [[0xFF, 0xFF, 0xFF, 0xFF]]).code == .badMessage)
            #expect(try await failure(platform, [hello(platform), [0x0A, 0x05, 0x01]]).code == .badMessage)
            #expect(try await failure(platform, [Self.codec.encode(.applied(tick: 1))]).code == .badMessage)
            #expect(try await failure(platform, [hello(platform), hello(platform)]).code == .badMessage)
            #expect(try await failure(platform, [hello(platform, version: 99)]).code == .unsupportedVersion)
            #expect(try await failure(platform, [hello(platform, version: 0)]).code == .unsupportedVersion)
            #expect(try await failure(platform, [hello(platform, token: "no token")]).code == .notAuthenticated)
            #expect(try await failure(platform, [hello(platform, token: "")]).code == .notAuthenticated)
            let expired = try await expiredToken(platform)
            let late = try await failure(platform, [hello(platform, token: expired)])
            #expect(late.code == .notAuthenticated)
            #expect(late.message.contains("expired"), "\(late)")
            let castle = Subscription(name: "castles", className: "Castle", predicate: .constant(true))
            let unknown = try await failure(platform, [hello(platform, subscriptions: [castle])])
            #expect([.badSubscription, .badSchema].contains(unknown.code), "\(unknown)")
            #expect(unknown.message.contains("Castle"), "\(unknown)")
        }
    }

    @Test
    func `Uploads of classes and properties that the server does not have are refused with their names`() async throws {
        try await Platform.with { platform in
            let strange = try Schema.of([StrangeModels.Castle.self, StrangeModels.Listing.self])
            for (className, name) in [("Castle", "Castle"), ("Listing", "ghosts")] {
                let upload = try upload(strange, className)
                let hello = try hello(platform)
                let refused = try await RawSocket.with(platform.gateways[0]) { socket in
                    try await socket.send(hello)
                    var isUploaded = false
                    while case .message(let bytes) = try await socket.next() {
                        guard case .end(let end) = try Self.codec.decodeServerMessage(bytes) else { continue }
                        if end.acknowledged > 0 { return end.refusals }
                        if !isUploaded { try await socket.send(upload) }
                        isUploaded = true
                    }
                    throw EndToEndFailure("The gateway ended the session.")
                }
                #expect(refused.map(\.number) == [1] && refused.first?.refusal.code == .invalid)
                #expect(refused.first?.refusal.message.contains(name) == true, "\(refused)")
            }
            try await expectService(platform)
            #expect(try await platform.count("SELECT count(*) FROM listing") == 0)
        }
    }

    @Test
    func `A message of more than 20 MiB closes the connection with code 1009`() async throws {
        try await Platform.with { platform in
            let code = try await RawSocket.with(platform.gateways[0]) { socket in
                try await socket.send([], claiming: (20 << 20) + 1)
                guard case .closed(let code) = try await socket.next() else { return nil as Int? }
                return code
            }
            #expect(code == 1009)
            try await expectService(platform)
        }
    }

    @Test
    func `Fragments of more than 20 MiB together close the connection with code 1009`() async throws {
        try await Platform.with { platform in
            let hello = try hello(platform)
            let code = try await RawSocket.with(platform.gateways[0]) { socket in
                try await socket.send(hello)
                while case .message(let bytes) = try await socket.next() {
                    if case .end = try Self.codec.decodeServerMessage(bytes) { break }
                }
                let fragment = [UInt8](repeating: 0, count: 5 << 20)
                try await socket.send(fragment, isLast: false)
                for _ in 0..<3 { try await socket.send(fragment, opcode: RawSocket.continuation, isLast: false) }
                try await socket.send([0], opcode: RawSocket.continuation)
                while true {
                    if case .closed(let code) = try await socket.next() { return code }
                }
            }
            #expect(code == 1009)
            try await expectService(platform)
        }
    }

    @Test
    func `A device that sends more than a hello before its session is open is closed with code 1009`() async throws {
        try await Platform.with { platform in
            let code = try await RawSocket.with(platform.gateways[0]) { socket in
                // Only part of the message, because the gateway must not wait for the rest.
                let part = [UInt8](repeating: 0, count: MessageCodec.maximumControlByteCount + (65 << 10))
                try await socket.send(part, claiming: 10 << 20)
                guard case .closed(let code) = try await socket.next() else { return nil as Int? }
                return code
            }
            #expect(code == 1009)
            try await expectService(platform)
        }
    }

    @Test
    func `A frame that WebSocket does not allow closes its connection only`() async throws {
        try await Platform.with { platform in
            for opcode: UInt8 in [0x1, 0x5] {
                let isClosed = try await RawSocket.with(platform.gateways[0]) { socket in
                    try await socket.send(Array("hello".utf8), opcode: opcode)
                    if case .closed = try await socket.next() { return true }
                    return false
                }
                #expect(isClosed)
                try await expectService(platform)
            }
        }
    }

    private func expiredToken(_ platform: Platform) async throws -> String {
        let authenticator = await Authenticator(
            pool: platform.pool, tokens: try TokenConfiguration(secret: Platform.secret, lifetimeSeconds: -3_600),
            hasher: PasswordHasher(parameters: .weakForTests))
        return try await authenticator.login(email: Platform.email("attendee"), password: Platform.password).token
    }
}
