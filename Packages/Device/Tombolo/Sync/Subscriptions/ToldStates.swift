internal import Synchronization

/// Tells of a state that several threads look at, each time that it's another one.
final class ToldStates<State: Equatable & Sendable>: Sendable {
    private let last = Mutex<State?>(nil)

    /// - Parameters:
    ///   - state: looks at the state. Called one at a time, so that what is told last is what was seen last.
    ///   - body: must only pass the news on.
    func tell(_ state: @autoclosure () -> State, _ body: (State) -> Void) {
        last.withLock { last in
            let state = state()
            if last == state { return }
            last = state
            body(state)
        }
    }
}
