internal import JWTKit
internal import PostgresClient

/// The signing keys as one server knows them. They are read again every few seconds, which is how soon a rotation or a
/// retirement takes effect.
actor KeyRing {
    /// How long the keys are used without reading them again, in seconds.
    static let lifetimeSeconds: Double = 5
    /// A token with an unknown key makes the server read the keys again, but no more often than this, in seconds.
    static let lookupSeconds: Double = 1

    /// Where keys come from: the database, except in tests.
    struct Source: Sendable {
        /// The active keys, newest first.
        let keys: @Sendable () async throws -> [SigningKey]
        /// The private part of a key in PEM, or nil if this server can't open it.
        let privateKey: @Sendable (_ id: String) async throws -> String?
        /// Makes the first key, if there is none.
        let makeFirst: @Sendable () async throws -> Void
    }

    private struct Known {
        var keys: [SigningKey] = []
        var readAt = -Double.infinity
        var verifying = JWTKeyCollection()
    }

    private let source: Source
    private let now: @Sendable () -> Double
    private var known = Known()
    private var reading: Task<Void, any Error>?
    private var signing: (id: String, keys: JWTKeyCollection)?

    /// - Parameter now: seconds of a steady clock.
    init(_ source: Source, now: @escaping @Sendable () -> Double) {
        self.source = source
        self.now = now
    }

    init(pool: PostgresPool, tokens: TokenConfiguration, now: @escaping @Sendable () -> Double) {
        self.init(
            Source(
                keys: { try await SigningKeys.counting(pool) },
                privateKey: { try await SigningKeys.privateKey($0, secret: tokens.secret, pool) },
                makeFirst: { try await SigningKeys(pool: pool, tokens: tokens).makeFirst() }), now: now)
    }

    /// The collection that verifies tokens of a key; nil if the key doesn't exist or is retired.
    func verifying(_ id: String) async throws -> JWTKeyCollection? {
        try await read(olderThan: Self.lifetimeSeconds)
        if !known.keys.contains(where: { $0.id == id }) { try await read(olderThan: Self.lookupSeconds) }
        return known.keys.contains { $0.id == id } ? known.verifying : nil
    }

    /// The collection that signs: the newest key that this server can open.
    /// - Throws: ``AuthenticationError/noUsableKey``, or the database's error.
    func signer() async throws -> (id: String, keys: JWTKeyCollection) {
        try await read(olderThan: Self.lifetimeSeconds)
        if known.keys.isEmpty {
            try await source.makeFirst()
            try await read(olderThan: 0)
        }
        for key in known.keys {
            if let signing, signing.id == key.id { return signing }
            guard let text = try await source.privateKey(key.id) else { continue }
            let keys = await JWTKeyCollection().add(
                ecdsa: try ES256PrivateKey(pem: text), kid: JWKIdentifier(string: key.id))
            signing = (key.id, keys)
            return (key.id, keys)
        }
        throw AuthenticationError.noUsableKey
    }

    /// Concurrent callers share one read.
    private func read(olderThan seconds: Double) async throws {
        guard now() - known.readAt >= seconds else { return }
        if let reading { return try await reading.value }
        let task = Task { try await self.readNow() }
        reading = task
        defer { reading = nil }
        try await task.value
    }

    private func readNow() async throws {
        let asked = now()
        let keys = try await source.keys()
        if keys != known.keys {
            let verifying = JWTKeyCollection()
            for key in keys {
                await verifying.add(ecdsa: try ES256PublicKey(pem: key.publicKey), kid: JWKIdentifier(string: key.id))
            }
            known.verifying = verifying
            known.keys = keys
        }
        known.readAt = asked
    }
}
