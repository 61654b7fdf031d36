internal import Foundation
internal import JWTKit

/// The keys that an outside issuer publishes, fetched when they are needed. There is one instance for each address.
actor IssuerKeys {
    /// How long fetched keys are used without asking again, in seconds.
    static let lifetimeSeconds: Double = 15 * 60
    /// An unknown key triggers another fetch, but no more often than this, in seconds. That also holds while fetching
    /// fails.
    static let refetchSeconds: Double = 30
    /// How long keys are used while the issuer doesn't answer, in seconds.
    static let maximumAgeSeconds: Double = 24 * 60 * 60
    static let maximumKeyCount = 64
    static let maximumByteCount = 256 << 10

    /// A key, by the algorithms that it can be used with: the one that the issuer names, or all of its kind.
    struct Key: Sendable {
        fileprivate let verifiers: [String: JWTKeyCollection]

        /// Checks a token's signature with this algorithm and no other.
        func verify<Claims: JWTPayload>(_ token: String, by algorithm: String, as type: Claims.Type) async throws {
            guard let verifier = verifiers[algorithm] else { throw AuthenticationError.wrongCredentials }
            _ = try await verifier.verify(token, as: type)
        }
    }

    private let fetch: @Sendable () async throws -> [UInt8]
    private let now: @Sendable () -> Double
    private var keys: [String: Key] = [:]
    private var fetchedAt = -Double.infinity
    private var triedAt = -Double.infinity
    private var fetching: Task<Void, any Error>?

    /// - Parameters:
    ///   - fetch: gets the key set (RFC 7517, section 5).
    ///   - now: seconds of a steady clock.
    init(now: @escaping @Sendable () -> Double, fetch: @escaping @Sendable () async throws -> [UInt8]) {
        self.now = now
        self.fetch = fetch
    }

    init(url: String, now: @escaping @Sendable () -> Double) {
        self.init(now: now) {
            let answer = try await OutgoingRequest(url: url, maximumByteCount: IssuerKeys.maximumByteCount).send()
            guard answer.status == 200 else { throw AuthenticationError.unreachable }
            return answer.body
        }
    }

    /// - Returns: nil for a key that the issuer doesn't publish.
    /// - Throws: ``AuthenticationError/unreachable`` if there are no keys that are recent enough.
    func key(_ id: String) async throws -> Key? {
        let age = now() - fetchedAt
        if let key = keys[id], age < Self.lifetimeSeconds { return key }
        if now() - triedAt >= Self.refetchSeconds {
            do {
                try await fetchShared()
            } catch {
                guard keys[id] != nil, now() - fetchedAt < Self.maximumAgeSeconds else {
                    throw AuthenticationError.unreachable
                }
            }
        }
        guard now() - fetchedAt < Self.maximumAgeSeconds else { throw AuthenticationError.unreachable }
        return keys[id]
    }

    /// Concurrent callers share one request.
    private func fetchShared() async throws {
        if let fetching { return try await fetching.value }
        let task = Task { try await self.fetchNow() }
        fetching = task
        defer { fetching = nil }
        try await task.value
    }

    private func fetchNow() async throws {
        // Set again at the end, so that there is a pause even after a slow answer; it was set before for concurrent
        // callers.
        defer { triedAt = now() }
        let found = try await Self.parse(try await fetch())
        guard !found.isEmpty else { throw AuthenticationError.unreachable }
        keys = found
        fetchedAt = now()
    }

    /// The keys by id, for signatures with a public key; others are skipped.
    static func parse(_ bytes: [UInt8]) async throws -> [String: Key] {
        guard bytes.count <= maximumByteCount,
            let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any],
            let list = object["keys"] as? [[String: Any]], list.count <= maximumKeyCount
        else { throw AuthenticationError.unreachable }
        var found: [String: Key] = [:]
        for members in list {
            // Never "oct": a shared secret that anybody can fetch isn't one.
            guard let kind = members["kty"] as? String, ["RSA", "EC", "OKP"].contains(kind),
                (members["use"] as? String ?? "sig") == "sig", let id = members["kid"] as? String, id.utf8.count <= 256,
                case let named = members["alg"] as? String, members["alg"] == nil || named != nil
            else { continue }
            var verifiers: [String: JWTKeyCollection] = [:]
            for algorithm in algorithms(kind, members["crv"] as? String) where algorithm == named ?? algorithm {
                // Without an algorithm's name, the library would stick to that of the first token it sees.
                let named = members.merging(["alg": algorithm]) { _, new in new }
                let keys = JWTKeyCollection()
                guard let data = try? JSONSerialization.data(withJSONObject: named),
                    let key = try? JSONDecoder().decode(JWK.self, from: data),
                    (try? await keys.add(jwk: key)) != nil
                else { continue }
                verifiers[algorithm] = keys
            }
            if !verifiers.isEmpty { found[id] = Key(verifiers: verifiers) }
        }
        return found
    }

    /// The algorithms that a kind of key can be used with (RFC 7518, section 3.1; RFC 8037).
    private static func algorithms(_ kind: String, _ curve: String?) -> [String] {
        switch (kind, curve) {
        case ("RSA", _): ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]
        case ("EC", "P-256"): ["ES256"]
        case ("EC", "P-384"): ["ES384"]
        case ("EC", "P-521"): ["ES512"]
        case ("OKP", "Ed25519"): ["EdDSA"]
        default: []
        }
    }
}
