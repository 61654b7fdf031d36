internal import NIOCore
internal import Synchronization
internal import TomboloSyncSession

/// The only timer for an event loop's sessions. It calls each session about every ``ServerSession/heartbeatSeconds``,
/// with the calls spread over that time. Belongs to the event loop.
final class SessionClock: Sendable {
    /// The number of parts in a round.
    static let partCount = 100

    /// A session's position in the round.
    struct Place {
        fileprivate let part: Int
        fileprivate let session: ObjectIdentifier
    }

    private struct State {
        var parts = Array(repeating: [ObjectIdentifier: SessionRunner](), count: SessionClock.partCount)
        /// The part to call next.
        var next = 0
        /// The part for the next new session.
        var nextPlace = 0
        var count = 0
        var timer: RepeatedTask?
    }

    let eventLoop: any EventLoop
    private let state: NIOLoopBoundBox<State>

    init(on eventLoop: any EventLoop) {
        self.eventLoop = eventLoop
        state = NIOLoopBoundBox(State(), eventLoop: eventLoop)
    }

    func add(_ session: SessionRunner) -> Place {
        let place = Place(part: state.value.nextPlace, session: ObjectIdentifier(session))
        state.value.parts[place.part][place.session] = session
        state.value.nextPlace = (place.part + 1) % Self.partCount
        state.value.count += 1
        if state.value.timer == nil {
            let interval = TimeAmount.milliseconds(Int64(ServerSession.heartbeatSeconds * 1_000 / Self.partCount))
            state.value.timer = eventLoop.scheduleRepeatedTask(initialDelay: interval, delay: interval) { _ in
                self.beat()
            }
        }
        return place
    }

    func remove(_ place: Place) {
        guard state.value.parts[place.part].removeValue(forKey: place.session) != nil else { return }
        state.value.count -= 1
        guard state.value.count == 0 else { return }
        state.value.timer?.cancel()
        state.value.timer = nil
    }

    /// The sessions of one part. Call on the event loop.
    func sessions(ofPart part: Int) -> [SessionRunner] { Array(state.value.parts[part].values) }

    private func beat() {
        let part = state.value.next
        state.value.next = (part + 1) % Self.partCount
        for session in Array(state.value.parts[part].values) { session.assumeIsolated { $0.beat() } }
    }
}

/// The clocks of a gateway's event loops.
final class SessionClocks: Sendable {
    private let clocks = Mutex<[ObjectIdentifier: SessionClock]>([:])

    private let lastNumber = Atomic<UInt64>(0)

    /// A number for a new session.
    func nextNumber() -> UInt64 { lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }

    var all: [SessionClock] { clocks.withLock { Array($0.values) } }

    /// Call on the event loop.
    func clock(of loop: any EventLoop) -> SessionClock {
        clocks.withLock { clocks in
            if let known = clocks[ObjectIdentifier(loop)] { return known }
            let clock = SessionClock(on: loop)
            clocks[ObjectIdentifier(loop)] = clock
            return clock
        }
    }
}
