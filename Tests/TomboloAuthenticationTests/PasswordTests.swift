import Dispatch
import Testing

@testable import TomboloAuthentication

@Suite struct PasswordTests {
    private let hasher = PasswordHasher(parameters: .weakForTests)

    @Test func onlyTheRightPasswordMatches() async throws {
        let hash = try await hasher.hash("correct horse")
        #expect(try await hasher.matches("correct horse", hash))
        for wrong in ["", "Correct horse", "correct horse ", "correct hors", "\u{0}"] {
            #expect(try await !hasher.matches(wrong, hash))
        }
        #expect(try await !hasher.matches("correct horse", nil))
        #expect(try await !hasher.matches("", nil))
    }

    @Test func equalPasswordsHaveDifferentHashes() async throws {
        let first = try await hasher.hash("correct horse")
        let second = try await hasher.hash("correct horse")
        #expect(first.salt != second.salt && first.key != second.key)
        #expect(first.salt.count == PasswordHash.saltByteCount && first.key.count == PasswordHash.keyByteCount)
    }

    @Test func aHashKeepsTheParametersItWasMadeWith() async throws {
        let hash = try await hasher.hash("correct horse")
        let stronger = PasswordHasher(parameters: PasswordParameters(rounds: 32, blockSize: 8, parallelism: 1))
        #expect(try await stronger.matches("correct horse", hash))
    }

    @Test func theStandardParametersWork() async throws {
        let standard = PasswordHasher()
        let hash = try await standard.hash("correct horse")
        #expect(try await standard.matches("correct horse", hash))
        #expect(hash.parameters == .standard)
    }

    @Test func comparingLooksAtEveryByte() {
        #expect(PasswordHash.isEqual([1, 2, 3], [1, 2, 3]))
        for position in 0..<3 {
            var other: [UInt8] = [1, 2, 3]
            other[position] ^= 0x80
            #expect(!PasswordHash.isEqual([1, 2, 3], other))
        }
        #expect(!PasswordHash.isEqual([1, 2, 3], [1, 2]))
        #expect(!PasswordHash.isEqual([1], []))
    }

    @Test func moreHashesThanMayWaitAreRefused() async throws {
        // Nothing is computed until the queue goes on, so that all admitted ones wait.
        hasher.queue.suspend()
        let count = PasswordHasher.maximumWaiting * 2
        let refused = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<count {
                group.addTask { [hasher] in (try? await hasher.hash("correct horse")) == nil }
            }
            var refused = 0
            for await isRefused in group {
                if isRefused { refused += 1 }
                if refused == count - PasswordHasher.maximumWaiting, isRefused { hasher.queue.resume() }
            }
            return refused
        }
        #expect(refused == count - PasswordHasher.maximumWaiting)
        // Afterwards there is room again.
        let hash = try await hasher.hash("correct horse")
        #expect(try await hasher.matches("correct horse", hash))
    }
}
