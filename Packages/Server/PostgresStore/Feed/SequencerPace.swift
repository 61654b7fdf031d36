/// How long the sequencer's loop waits between attempts. The wait grows with each consecutive error. Any answer from
/// the database ends the series, even the answer that another process is the sequencer.
struct SequencerPace {
    enum Outcome {
        /// Made a tick, or found no changes to make one for.
        case worked
        /// Another process is the sequencer.
        case notElected
        case failed
    }

    private var errorDelay = Sequencer.errorDelays.first

    mutating func delay(after outcome: Outcome) -> Duration {
        switch outcome {
        case .worked:
            errorDelay = Sequencer.errorDelays.first
            return Sequencer.tickInterval
        case .notElected:
            errorDelay = Sequencer.errorDelays.first
            return Sequencer.electionInterval
        case .failed:
            let delay = errorDelay
            errorDelay = min(errorDelay * 2, Sequencer.errorDelays.last)
            return delay
        }
    }
}
