import Testing

@testable import TomboloPostgresStore

@Suite struct SequencerPaceTests {
    @Test("errors in a row wait twice as long each time, up to a limit")
    func growing() {
        var pace = SequencerPace()
        #expect(pace.delay(after: .failed) == Sequencer.errorDelays.first)
        #expect(pace.delay(after: .failed) == Sequencer.errorDelays.first * 2)
        var last = Duration.zero
        for _ in 0..<32 { last = pace.delay(after: .failed) }
        #expect(last == Sequencer.errorDelays.last)
    }

    @Test(
        "after an error, any answer from the database starts the error delay over",
        arguments: [SequencerPace.Outcome.worked, .notElected])
    func startingOver(_ outcome: SequencerPace.Outcome) {
        var pace = SequencerPace()
        for _ in 0..<32 { _ = pace.delay(after: .failed) }
        _ = pace.delay(after: outcome)
        #expect(pace.delay(after: .failed) == Sequencer.errorDelays.first)
    }
}
