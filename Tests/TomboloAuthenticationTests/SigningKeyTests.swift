import Foundation
import PostgresClient
import Testing
import TomboloModel

@testable import TomboloAuthentication

@Suite struct SigningKeyTests {
    private func keys(_ place: AccountPlace) -> SigningKeys { SigningKeys(pool: place.pool, tokens: place.tokens) }

    private func keyID(_ login: Login) -> String? { TokenHeader(of: login.token)?.kid }

    @Test("a new key signs while tokens of the old key stay valid, until it is retired")
    func rotation() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let old = try await place.login()
            let first = try #require(try await keys(place).list().first)
            #expect(keyID(old) == first.id)
            let second = try await keys(place).rotate()
            // A newly started server knows the new key at once; others learn of it once their cache expires.
            let server = await place.server()
            let new = try await server.refresh(old.refreshToken)
            #expect(keyID(new) == second.id)
            _ = try await server.verify(old.token)
            _ = try await server.verify(new.token)

            #expect(try await keys(place).retire(first.id))
            #expect(try await !keys(place).retire(first.id))
            let other = await place.server()
            await #expect(throws: AuthenticationError.invalidToken(reason: "Its key is unknown or retired.")) {
                try await other.verify(old.token)
            }
            // The login continues, since its refresh token isn't signed.
            _ = try await other.verify(try await other.refresh(new.refreshToken).token)
            #expect(try await keys(place).list().map { $0.retiredAt == nil } == [true, false])
            let secrets = try await place.pool.query("SELECT kid FROM tombolo.signing_key_secret")
            #expect(try secrets.map { try $0[0].string } == [second.id])
            await #expect(throws: AuthenticationError.lastKey) { try await keys(place).retire(second.id) }
            await #expect(throws: AuthenticationError.noSuchKey(id: "other")) { try await keys(place).retire("other") }
        }
    }

    @Test("a server looks up a key it doesn't know, but not for every token that names one")
    func unknownKeys() async throws {
        let known = TestKeys()
        let reads = Counter()
        let clock = Counter()
        let key = SigningKey(id: known.id, createdAt: Date(), retiredAt: nil, publicKey: known.publicPEM)
        let ring = KeyRing(
            KeyRing.Source(
                keys: {
                    reads.add()
                    return [key]
                }, privateKey: { _ in nil }, makeFirst: {}), now: { Double(clock.value) })
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 { group.addTask { _ = try? await ring.verifying("forged\(number)") } }
        }
        #expect(reads.value == 1)
        clock.set(1)
        for number in 0..<100 { #expect(try await ring.verifying("forged\(number)") == nil) }
        #expect(reads.value == 2)
        #expect(try await ring.verifying(known.id) != nil)
        #expect(reads.value == 2)
    }

    @Test("servers that start together on an empty database create one key")
    func theFirstKey() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        _ = try await place.server().login(email: AccountPlace.email, password: AccountPlace.password)
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await keys(place).list().count == 1)
        }
    }

    @Test("a private key can be decrypted only with the servers' secret and under its own ID")
    func sealing() async throws {
        try await AccountPlace.with { place in
            try await place.register()
            let login = try await place.login()
            let key = try #require(try await keys(place).list().first)
            let sealed = try await place.pool.query("SELECT sealed FROM tombolo.signing_key_secret")[0, 0].bytes
            #expect(SealedKey.open(sealed, id: key.id, secret: place.tokens.secret)?.hasPrefix("-----BEGIN") == true)
            #expect(SealedKey.open(sealed, id: key.id, secret: String(repeating: "x", count: 40)) == nil)
            #expect(SealedKey.open(sealed, id: "other", secret: place.tokens.secret) == nil)
            var changed = sealed
            changed[changed.count / 2] ^= 1
            #expect(SealedKey.open(changed, id: key.id, secret: place.tokens.secret) == nil)
            #expect(!String(decoding: sealed, as: UTF8.self).contains("PRIVATE"))

            // With another secret a server can verify tokens; when it has to sign, its error says what to do.
            let other = await Authenticator(
                pool: place.pool, tokens: try TokenConfiguration(secret: String(repeating: "x", count: 40)),
                hasher: PasswordHasher(parameters: .weakForTests))
            _ = try await other.verify(login.token)
            await #expect(throws: AuthenticationError.noUsableKey) {
                try await other.login(email: AccountPlace.email, password: AccountPlace.password)
            }
        }
    }

    @Test("there are never more keys than the limit")
    func keysAreBounded() async throws {
        try await AccountPlace.with { place in
            for _ in 0..<SigningKey.maximumCount { try await keys(place).rotate() }
            await #expect(throws: AuthenticationError.tooManyKeys) { try await keys(place).rotate() }
        }
    }
}
