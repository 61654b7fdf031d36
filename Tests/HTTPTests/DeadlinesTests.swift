import Synchronization
import Testing

@testable import TomboloHTTP

@Suite("Deadlines", .timeLimit(.minutes(15))) struct DeadlinesTests {
    private final class Calls: Sendable {
        private let state = Mutex<[String]>([])

        var all: [String] { state.withLock { $0 } }
        func note(_ name: String) { state.withLock { $0.append(name) } }
    }

    @Test("a deadline that passes is called once, in order of time, and removed deadlines aren't called")
    func order() async throws {
        // If this thread stalls, the sooner deadline may be added after the later one has passed; then try again.
        var order: [String] = []
        while order != ["sooner", "later"] {
            let (deadlines, calls) = (Deadlines(), Calls())
            let never = deadlines.add(after: .seconds(3_600)) { calls.note("never") }
            let later = deadlines.add(after: .milliseconds(300)) { calls.note("later") }
            let removed = deadlines.add(after: .milliseconds(20)) { calls.note("removed") }
            let sooner = deadlines.add(after: .milliseconds(10)) { calls.note("sooner") }
            let isRemoved = deadlines.remove(removed)
            while calls.all.count < (isRemoved ? 2 : 3) { try await Task.sleep(for: .milliseconds(5)) }
            order = calls.all.filter { $0 != "removed" }
            #expect(order.sorted() == ["later", "sooner"])
            #expect(calls.all.contains("removed") == !isRemoved)
            #expect(!deadlines.remove(later) && !deadlines.remove(sooner) && !deadlines.remove(removed))
            #expect(deadlines.remove(never))
        }
    }

    @Test("work that ends in time returns its result; late work is cancelled and distinguished from other failures")
    func timeouts() async throws {
        struct Broken: Error {}
        #expect(try await withTimeout(.seconds(3_600)) { 7 } == 7)
        await #expect(throws: Broken.self) { try await withTimeout(.seconds(3_600)) { throw Broken() } }
        let failure = await #expect(throws: RequestFailure.self) {
            try await withTimeout(.milliseconds(1)) { try await Task.sleep(for: .seconds(3_600)) }
        }
        #expect(failure?.code == .timeout)
        let outer = Task {
            try await withTimeout(.seconds(3_600)) { try await Task.sleep(for: .seconds(3_600)) }
        }
        outer.cancel()
        await #expect(throws: CancellationError.self) { try await outer.value }
    }
}
