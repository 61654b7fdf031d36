import Testing
import TomboloAuthentication
import TomboloModel
import TomboloSyncProtocol
import TomboloSyncSession

@Suite struct EndedLoginTests {
    private static let codec = MessageCodec(schema: Platform.schema)

    @Test("ending a login ends its open sync sessions on every gateway, but not those of other logins")
    func openSessionsEnd() async throws {
        try await Platform.with(gateways: 2) { platform in
            let authenticator = await Authenticator(
                pool: platform.pool, tokens: try TokenConfiguration(secret: Platform.secret))
            func login() async throws -> Login {
                try await authenticator.login(email: Platform.email("attendee"), password: Platform.password)
            }
            let (ended, kept) = (try await login(), try await login())
            for gateway in platform.gateways {
                let other = try await login()
                try await RawSocket.with(gateway) { socket in
                    try await greet(socket, other.token)
                    try await authenticator.endSession(other.sessionID, of: other.userID)
                    let failure = try await socket.failure(Self.codec)
                    #expect(failure.code == .notAuthenticated, "\(failure)")
                }
                // The same user's other login stays open.
                try await RawSocket.with(gateway) { try await greet($0, kept.token) }
            }
            // Reusing an old refresh token, as a thief would, ends the open session too.
            let second = try await authenticator.refresh(ended.refreshToken)
            try await RawSocket.with(platform.gateways[1]) { socket in
                try await greet(socket, second.token)
                _ = try await authenticator.refresh(second.refreshToken)
                await #expect(throws: AuthenticationError.endedSession) {
                    try await authenticator.refresh(ended.refreshToken)
                }
                #expect(try await socket.failure(Self.codec).code == .notAuthenticated)
            }
        }
    }

    @Test("deleting an account ends its open sync session")
    func deletedAccounts() async throws {
        try await Platform.with { platform in
            let authenticator = await Authenticator(
                pool: platform.pool, tokens: try TokenConfiguration(secret: Platform.secret),
                hasher: PasswordHasher(parameters: .weakForTests))
            let email = Platform.email("leaving")
            let user = try await authenticator.register(
                email: email, password: Platform.password, displayName: "Leaving")
            let login = try await authenticator.login(email: email, password: Platform.password)
            try await RawSocket.with(platform.gateways[0]) { socket in
                try await greet(socket, login.token)
                try await authenticator.deleteAccount(user)
                #expect(try await socket.failure(Self.codec).code == .notAuthenticated)
            }
        }
    }

    private func greet(_ socket: RawSocket, _ token: String) async throws {
        try await socket.send(
            Greeting.hello(Platform.schema, token: token, client: Greeting.newClient()), codec: Self.codec)
        guard case .message(let bytes) = try await socket.next(),
            case .welcome = try Self.codec.decodeServerMessage(bytes)
        else { throw EndToEndFailure("The gateway does not welcome the device.") }
    }
}
