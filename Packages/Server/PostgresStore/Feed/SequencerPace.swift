/// How long the sequencer's loop waits between attempts. Errors in a row wait longer and longer; any answer from the
/// database, also that another process is the sequencer, ends the row.
struct SequencerPace {
    enum Outcome {
        /// Made a tick, or found that there was nothing to make one of.
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
