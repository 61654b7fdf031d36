internal import Synchronization

/// Reports a state that several threads read, each time it differs from the last one reported.
final class ToldStates<State: Equatable & Sendable>: Sendable {
    private let last = Mutex<State?>(nil)

    /// - Parameters:
    ///   - state: reads the state. Reads are serialised, so that the last reported state is the last one read.
    ///   - body: must only pass the state on.
    func tell(_ state: @autoclosure () -> State, _ body: (State) -> Void) {
        last.withLock { last in
            let state = state()
            if last == state { return }
            last = state
            body(state)
        }
    }
}
