import Synchronization
import Testing

@testable import GatewayService

@Suite(.timeLimit(.minutes(15))) struct UserPaceTests {
    private let pace = UserPace()

    /// Work that waits until the test lets it go on, and a record of what ran.
    private final class Desk: Sendable {
        struct Seen {
            var begun: [Int] = []
            var underWay = 0
            var mostUnderWay = 0
        }

        let seen = Mutex(Seen())
        let (gates, gate) = AsyncStream<Void>.makeStream()

        @Sendable func work(_ number: Int) async -> (Int, took: Duration) {
            seen.withLock { seen in
                seen.begun.append(number)
                seen.underWay += 1
                seen.mostUnderWay = max(seen.mostUnderWay, seen.underWay)
            }
            for await _ in gates { break }
            seen.withLock { $0.underWay -= 1 }
            return (number, took: .zero)
        }

        func waitForFirst() async {
            while seen.withLock({ $0.begun.isEmpty }) { await Task.yield() }
        }
    }

    @Test("one user's work is done one piece after another")
    func inTurn() async throws {
        let desk = Desk()
        var tasks: [Task<Int, any Error>] = []
        for number in 0..<5 {
            tasks.append(Task { [pace] in try await pace.run("a") { await desk.work(number) } })
            if number == 0 { await desk.waitForFirst() }
        }
        for _ in 0..<5 { desk.gate.yield() }
        for (number, task) in tasks.enumerated() { #expect(try await task.value == number) }
        #expect(desk.seen.withLock { $0.mostUnderWay } == 1)
        #expect(desk.seen.withLock { Set($0.begun) } == Set(0..<5))
    }

    @Test("another user's work doesn't wait for a user who has used up the burst")
    func others() async throws {
        // The late work begins after half a minute. If the test stalls that long, it tries again with another user.
        var attempts = 0
        while true {
            try Task.checkCancellation()
            attempts += 1
            let user = "a \(attempts)"
            try await pace.run(user) { ((), took: .seconds(60)) }
            let late = Task { [pace] in try await pace.run(user) { (1, took: .zero) } }
            #expect(try await pace.run("b") { (2, took: .zero) } == 2)
            late.cancel()
            guard case .failure(let error) = await late.result else { continue }
            #expect(error is CancellationError)
            break
        }
    }

    @Test("work within the burst doesn't wait, and its cost is forgotten once it is paid for")
    func burst() async throws {
        for _ in 0..<100 { try await pace.run("a") { ((), took: .milliseconds(5)) } }
        for number in 0..<50 { try await pace.run("user \(number)") { ((), took: .zero) } }
        #expect(await pace.laneCount < 5)
    }

    @Test("work that is cancelled while waiting for its turn leaves the turn to the next")
    func givingUp() async throws {
        let desk = Desk()
        let first = Task { [pace] in try await pace.run("a") { await desk.work(1) } }
        await desk.waitForFirst()
        let second = Task { [pace] in try await pace.run("a") { (2, took: .zero) } }
        let third = Task { [pace] in try await pace.run("a") { (3, took: .zero) } }
        second.cancel()
        await #expect(throws: CancellationError.self) { try await second.value }
        desk.gate.yield()
        #expect(try await first.value == 1)
        #expect(try await third.value == 3)
    }
}
