import Testing

@testable import TomboloPostgresStore

@Suite struct SequencerPaceTests {
    @Test("Each error in a row doubles the wait, up to a limit")
    func growing() {
        var pace = SequencerPace()
        #expect(pace.delay(after: .failed) == Sequencer.errorDelays.first)
        #expect(pace.delay(after: .failed) == Sequencer.errorDelays.first * 2)
        var last = Duration.zero
        for _ in 0..<32 { last = pace.delay(after: .failed) }
        #expect(last == Sequencer.errorDelays.last)
    }

    @Test(
        "Any answer from the database resets the error delay",
        arguments: [SequencerPace.Outcome.worked, .notElected])
    func startingOver(_ outcome: SequencerPace.Outcome) {
        var pace = SequencerPace()
        for _ in 0..<32 { _ = pace.delay(after: .failed) }
        _ = pace.delay(after: outcome)
        #expect(pace.delay(after: .failed) == Sequencer.errorDelays.first)
    }
}
