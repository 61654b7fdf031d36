import TomboloAuthentication

/// Logins by e-mail and password compared with scrypt alone, and exchanges of refresh tokens compared with empty
/// requests.
struct LoginsMeasurement: Measurable {
    /// Fewer than the gateway allows one address concurrently.
    static let connectionCount = 8
    /// Each round does a share of the logins, and reports progress afterwards.
    static let loginRoundCount = 10
    /// The most CPU time that an exchange may cost the gateway, in milliseconds.
    static let allowedRefreshMilliseconds = 2.0

    let sizes: Sizes.Logins

    func measure(_ database: BenchDatabase) async throws -> Measurement {
        _ = try await database.prepare()
        let accounts = try await register(database)
        let gateway = try await GatewayProcess.start(database)
        defer { gateway.end() }
        var result = Measurement(
            MeasurementName.logins.rawValue,
            conditions: "scrypt with N = \(PasswordParameters.standard.rounds), r = "
                + "\(PasswordParameters.standard.blockSize), p = \(PasswordParameters.standard.parallelism), one hash "
                + "at a time; \(sizes.loginCount) logins of \(accounts.count) accounts by POST /login, and "
                + "\(sizes.refreshCount) exchanges by POST /session in each of \(sizes.roundCount) rounds, on "
                + "connections that stay open")
        let hashing = try await PasswordHashing.measure(sizes.hashCount, roundCount: sizes.roundCount)
        let logins = try await logIn(accounts, gateway)
        result.figures = hashing.figures("scrypt alone")
        result.figures += logins.figures("login, \(Self.connectionCount) connections")
        let costs = logins.compactMap(\.gatewayCPUMilliseconds)
        if !costs.isEmpty {
            result.figures.append(
                Figure(
                    "CPU time of the gateway for a login, as a multiple of scrypt's", "×",
                    costs.median / hashing.cpuMilliseconds.median))
        }
        for count in [1, Self.connectionCount] {
            let name = count == 1 ? "1 connection" : "\(count) connections"
            let nothing = try await rounds(sizes.healthCount, connectionCount: count, gateway) {
                { connection, _, _ in try connection.health() }
            }
            let refreshes = try await rounds(sizes.refreshCount, connectionCount: count, gateway) {
                let tokens = try await RefreshTokens.of(Array(accounts.prefix(count)), gateway)
                return { connection, place, _ in try tokens.exchange(place, connection) }
            }
            result.figures += nothing.figures("GET /health, \(name)")
            result.figures += refreshes.figures("refresh, \(name)", allowed: Self.allowedRefreshMilliseconds)
        }
        return result
    }

    private typealias Request = @Sendable (LoginConnection, _ place: Int, _ number: Int) throws -> Void

    /// Each account is used on one connection only: its number modulo ``connectionCount``.
    private func register(_ database: BenchDatabase) async throws -> [LoginAccount] {
        let authenticator = await Authenticator(
            pool: database.pool, tokens: try TokenConfiguration(secret: database.tokenSecret))
        var accounts: [LoginAccount] = []
        for number in 0..<sizes.accountsPerConnection * Self.connectionCount {
            let account = try LoginAccount(number: number)
            try await authenticator.register(
                email: account.email, password: LoginAccount.password, displayName: "Bench")
            accounts.append(account)
        }
        return accounts
    }

    private func logIn(_ accounts: [LoginAccount], _ gateway: GatewayProcess) async throws -> [RequestRound] {
        // The first login of each account warms the caches.
        _ = try await RefreshTokens.of(accounts, gateway)
        var rounds: [RequestRound] = []
        for round in 1...Self.loginRoundCount {
            let (first, end) = (
                sizes.loginCount * (round - 1) / Self.loginRoundCount, sizes.loginCount * round / Self.loginRoundCount
            )
            guard first < end else { continue }
            rounds.append(
                try await RequestRound.run(end - first, connectionCount: Self.connectionCount, gateway) {
                    connection, place, number in
                    // An account of this connection (same remainder), starting from another account in each round.
                    let start = first / Self.connectionCount * Self.connectionCount
                    _ = try connection.logIn(accounts[(start + number) % accounts.count])
                })
            Lines.say("  \(end) of \(sizes.loginCount) logins")
        }
        return rounds
    }

    /// - Parameter prepare: called before each round, outside the measured time.
    private func rounds(
        _ count: Int, connectionCount: Int, _ gateway: GatewayProcess, _ prepare: () async throws -> Request
    ) async throws -> [RequestRound] {
        var rounds: [RequestRound] = []
        // The first round warms the caches.
        for round in 0...sizes.roundCount {
            let measured = try await RequestRound.run(
                count, connectionCount: connectionCount, gateway, try await prepare())
            if round > 0 { rounds.append(measured) }
        }
        return rounds
    }
}
