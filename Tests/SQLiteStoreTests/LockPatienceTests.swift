import Testing

@testable import TomboloSQLiteStore

@Suite("Waiting for another connection's lock")
struct LockPatienceTests {
    @Test("A waiting connection retries hundreds of times a second, up to its time limit")
    func looks() {
        let patience = LockPatience()
        #expect(!patience.wait(attempts: 0))
        patience.limit = 200_000
        for _ in 0..<2 {
            var attempts: Int32 = 0
            while patience.wait(attempts: attempts) { attempts += 1 }
            #expect((66...400).contains(attempts))
        }
        patience.limit = 0
        #expect(!patience.wait(attempts: 0))
    }
}
