import Testing

@testable import TomboloPostgresStore

@Suite struct LeasePatienceTests {
    private let start = ContinuousClock().now

    @Test("A process that was silent for too long but is alive gets a longer lease each time, up to a limit")
    func growing() {
        var patience = LeasePatience()
        var durations = [patience.duration]
        for second in 1...5 {
            patience.handle(.silence, at: start + .seconds(second))
            durations.append(patience.duration)
        }
        #expect(durations == [1, 2, 4, 8, 8, 8].map { Duration.seconds($0) })
        #expect(durations.last == LeasePatience.limit)
    }

    @Test("The lease is short again after a minute without a lost lease")
    func calm() {
        var patience = LeasePatience()
        patience.handle(.silence, at: start)
        patience.handle(.silence, at: start + .seconds(30))
        patience.handle(.heard, at: start + .seconds(89))
        #expect(patience.duration == SequencerLease.duration * 4)
        patience.handle(.heard, at: start + .seconds(90))
        #expect(patience == LeasePatience())
    }
}
