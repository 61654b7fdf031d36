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

    @Test("four addresses with sixteen logins each don't turn a fifth address away")
    func oneAddressDoesNotWaitForAllThatOthersAsk() async throws {
        let hash = try await hasher.hash("correct horse")
        // Nothing is computed until the queue resumes.
        hasher.queue.suspend()
        let lanes = ["192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"]
        var others: [Task<Bool, any Error>] = []
        for number in 0..<PasswordHasher.maximumWaiting {
            let lane = lanes[number % lanes.count]
            others.append(Task { [hasher] in try await hasher.matches("correct horse", hash, lane: lane) })
            while hasher.waitingCount <= number { await Task.yield() }
        }
        let fifth = Task { [hasher] in try await hasher.matches("correct horse", hash, lane: "198.51.100.1") }
        // One of the others gives way before anything is computed.
        var busy = 0
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for task in others {
                group.addTask {
                    do {
                        return try await task.value
                    } catch AuthenticationError.busy {
                        return false
                    }
                }
            }
            #expect(try await group.next() == false)
            busy += 1
            hasher.queue.resume()
            for try await matches in group where !matches { busy += 1 }
        }
        #expect(busy == 1)
        #expect(try await fifth.value)
    }

    @Test("a cancelled login frees its place in the queue")
    func aCancelledHashLeavesTheQueue() async throws {
        hasher.queue.suspend()
        let waiting = Task { [hasher] in try await hasher.hash("correct horse") }
        while hasher.waitingCount == 0 { await Task.yield() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        #expect(hasher.waitingCount == 0)
        hasher.queue.resume()
        _ = try await hasher.hash("correct horse")
    }

    @Test func hashesBeyondTheQueueLimitAreRefused() async throws {
        // Nothing is computed until the queue resumes, so all admitted hashes wait.
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
