import Foundation
import NIOCore
import RandomValues
import Testing

@testable import GatewayService

@Suite(.timeLimit(.minutes(15)))
struct SpoolTests {
    private static func message(_ number: Int, _ count: Int) -> [UInt8] {
        withUnsafeBytes(of: number) { Array($0) } + Array(repeating: UInt8(truncatingIfNeeded: number), count: count)
    }

    private static func taken(from spool: Spool) async throws -> [[UInt8]] {
        try await spool.next().map { Array($0.readableBytesView) }
    }

    @Test("messages come out as they went in, through memory and the file")
    func order() async throws {
        var random = RandomValues(.printed(for: "spool"))
        let spool = Spool(budget: SpoolBudget(), peer: Peer("ann"))
        var waiting: [[UInt8]] = []
        var number = 0
        for step in 0..<400 {
            // Mostly fill the spool at first, then mostly empty it, then do both equally often.
            let adds = step < 150 ? 9 : step < 250 ? 1 : 5
            if random.int(0...9) < adds {
                let message = Self.message(number, random.pick([0, 100, 30_000, Spool.chunkByteCount + 5]))
                number += 1
                let isKept = try await spool.append(message)
                #expect(isKept)
                waiting.append(message)
            } else {
                let taken = try await Self.taken(from: spool)
                #expect(taken.isEmpty == waiting.isEmpty)
                try #require(taken == Array(waiting.prefix(taken.count)), "Step \(step)")
                waiting.removeFirst(taken.count)
            }
        }
        while !waiting.isEmpty {
            let taken = try await Self.taken(from: spool)
            try #require(!taken.isEmpty && taken == Array(waiting.prefix(taken.count)))
            waiting.removeFirst(taken.count)
        }
        let rest = try await Self.taken(from: spool)
        #expect(rest.isEmpty)
    }

    @Test("a spool's room is free again once its messages are taken, discarded or abandoned")
    func budget() async throws {
        let budget = SpoolBudget()
        let message = [UInt8](repeating: 7, count: Spool.memoryByteCount / 2)
        for end in 0..<3 {
            let spool = Spool(budget: budget, peer: Peer("ann"))
            for _ in 0..<5 {
                let isKept = try await spool.append(message)
                #expect(isKept)
            }
            #expect(budget.heldByteCount > 5 * message.count)
            if end == 0 { while !(try await spool.next()).isEmpty {} }
            if end == 1 {
                await spool.discard()
                await #expect(throws: CancellationError.self) { try await spool.append(message) }
            }
        }
        await Self.waitForSpools(of: budget)
        #expect(budget.heldByteCount == 0)
    }

    /// A spool that nobody refers to any more is deallocated only once the thread that last ran it is done with it.
    private static func waitForSpools(of budget: SpoolBudget) async {
        while budget.held.memory > 0 || budget.held.disk > 0 { await Task.yield() }
    }

    @Test("room for a message that couldn't be written to disk is given back exactly once")
    func failedWrite() async throws {
        let budget = SpoolBudget()
        let message = [UInt8](repeating: 7, count: Spool.memoryByteCount)
        for isDiscarded in [true, false] {
            let spool = Spool(budget: budget, peer: Peer("ann")) {
                SpoolFile(descriptor: open("/dev/null", O_RDONLY))
            }
            let isKept = try await spool.append(message)
            #expect(isKept)
            await #expect(throws: POSIXError.self) { try await spool.append(message) }
            if isDiscarded { await spool.discard() }
        }
        await Self.waitForSpools(of: budget)
        #expect(budget.held.memory == 0)
        #expect(budget.held.disk == 0)
    }

    @Test("one user's batches take at most half of the disk")
    func fairness() {
        let budget = SpoolBudget()
        let half = SpoolBudget.diskByteCount / 2
        #expect(budget.reserveDisk(half, of: Peer("ann")))
        #expect(!budget.reserveDisk(1, of: Peer("ann")))
        #expect(budget.reserveDisk(half, of: Peer("bob")))
        #expect(!budget.reserveDisk(1, of: Peer("eve")))
        budget.releaseDisk(1, of: Peer("ann"))
        #expect(budget.reserveDisk(1, of: Peer("eve")))
    }
}
