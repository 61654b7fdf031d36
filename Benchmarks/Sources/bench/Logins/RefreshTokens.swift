import Synchronization

/// The newest refresh token of each connection of a round.
final class RefreshTokens: Sendable {
    private let tokens: Mutex<[String]>

    private init(_ tokens: [String]) { self.tokens = Mutex(tokens) }

    /// Logs the accounts in.
    static func of(_ accounts: [LoginAccount], _ gateway: GatewayProcess) async throws -> RefreshTokens {
        try await Blocking.run {
            let connection = try LoginConnection(port: gateway.port)
            return RefreshTokens(try accounts.map(connection.logIn))
        }
    }

    /// Exchanges the token of the connection with this number.
    func exchange(_ place: Int, _ connection: LoginConnection) throws {
        let token = tokens.withLock { $0[place] }
        let next = try connection.refresh(token)
        tokens.withLock { $0[place] = next }
    }
}
