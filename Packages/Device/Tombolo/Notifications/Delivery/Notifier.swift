internal import TomboloSQLiteStore

/// Tells the listeners of one Realm what changed, each with what it has not heard of yet, in the order in which they
/// came. Confined as the Realm is.
///
/// Nothing is delivered within a delivery: what a callback writes is told when the others have heard what was before.
final class Notifier {
    private unowned let core: RealmCore
    private var observations: [Observation] = []
    private var history = ChangeHistory()
    private var isDelivering = false
    private var isScheduled = false
    private var listeners: [Listener] = []
    private var isAnnouncing = false

    /// Hears of the Realm as a whole.
    private struct Listener {
        let state: ObservationState
        /// Notes what it hears for somebody who asks later; the app's own code may write, and hear of it.
        let isStream: Bool
        let body: (Realm.Notification, Realm) -> Void
    }

    init(_ core: RealmCore) { self.core = core }

    // MARK: The Realm as a whole

    func add(
        _ state: ObservationState, isStream: Bool = false, _ body: @escaping (Realm.Notification, Realm) -> Void
    ) {
        listeners.append(Listener(state: state, isStream: isStream, body: body))
    }

    /// Calls the listeners before it returns. As in Realm none is called for what one of them does: who writes whenever
    /// something was written would never end.
    /// - Parameter skipped: listeners that need not hear of it.
    func announce(_ notification: Realm.Notification, skipping skipped: [ObservationState] = []) {
        if listeners.isEmpty { return }
        let isNested = isAnnouncing
        isAnnouncing = true
        defer { isAnnouncing = isNested }
        let realm = Realm(core: core)
        for listener in listeners where listener.state.isActive && (listener.isStream || !isNested) {
            if !skipped.contains(where: { $0 === listener.state }) { listener.body(notification, realm) }
        }
        if !isNested { listeners.removeAll { !$0.state.isActive } }
    }

    // MARK: Objects and collections

    /// Whether anybody waits to be told, and can be told now.
    var isNeeded: Bool { !isDelivering && !isAnnouncing && !(observations.isEmpty && listeners.isEmpty) }

    /// Adds a listener, and tells it the beginning soon, where there is something to tell.
    func add(_ observation: Observation) {
        observations.append(observation)
        guard observation.hasBeginning else {
            observation.begin()
            observation.position = history.end
            return
        }
        schedule()
    }

    /// Adds a listener that asks by itself, with ``pull(_:)``.
    func addPulled(_ observation: Observation) {
        observation.isPulled = true
        observations.append(observation)
    }

    /// Tells a listener what it has not heard. Not in a write transaction.
    func pull(_ observation: Observation) {
        core.pinVersion()
        if let position = observation.position {
            guard let changes = history.changes(after: position) else { return }
            observation.position = history.end
            observation.deliver(changes)
        } else {
            observation.begin()
            observation.position = history.end
            observation.deliver(nil)
        }
        sweep()
    }

    /// Lets go of listeners that were ended.
    func sweep() {
        observations.removeAll { !$0.state.isActive }
        listeners.removeAll { !$0.state.isActive }
        history.trim(to: observations.lazy.compactMap(\.position))
    }

    /// The Realm shows another version.
    /// - Parameter skipped: listeners that need not hear of it.
    func moved(_ changes: PendingChanges, skipping skipped: [ObservationState] = []) {
        guard !observations.isEmpty else { return }
        let start = history.end
        history.append(changes, positions: observations.lazy.compactMap(\.position))
        for observation in observations where skipped.contains(where: { $0 === observation.state }) {
            // Who has more to hear than this hears it all.
            guard observation.position == start else { continue }
            observation.skip(changes)
            observation.position = history.end
        }
        history.trim(to: observations.lazy.compactMap(\.position))
    }

    /// Whether some of these listeners have not heard everything.
    func isBehind(_ states: [ObservationState]) -> Bool {
        observations.contains { observation in
            observation.position.map { $0 < history.end } ?? false
                && states.contains { $0 === observation.state }
        }
    }

    private var hasNews: Bool {
        observations.contains { !$0.isPulled && $0.state.isActive && ($0.position.map { $0 < history.end } ?? true) }
    }

    /// Delivers soon, where the Realm's place can be reached; otherwise when it is refreshed.
    func schedule() {
        guard !isScheduled, hasNews else { return }
        isScheduled = core.visitSoon { $0.notifier.visited() }
    }

    private func visited() {
        isScheduled = false
        deliver()
    }

    /// Tells every listener what it has not heard. No effect within a delivery; in a write transaction only with
    /// `duringWrite`.
    func deliver(duringWrite: Bool = false) {
        guard !isDelivering, duringWrite || !core.isInWrite, !observations.isEmpty else { return }
        isDelivering = true
        // Who is added by a callback is told on the next visit.
        for observation in observations where observation.state.isActive && !observation.isPulled {
            // A callback may have begun a transaction and not ended it.
            guard duringWrite || !core.isInWrite else { break }
            if let position = observation.position {
                guard let changes = history.changes(after: position) else { continue }
                observation.position = history.end
                observation.deliver(changes)
            } else if !duringWrite {
                core.pinVersion()
                observation.begin()
                observation.position = history.end
                observation.deliver(nil)
            }
        }
        isDelivering = false
        sweep()
        schedule()
    }
}
