internal import TomboloSQLiteStore

/// Notifies the listeners of one Realm, each of what it hasn't heard yet, in the order they were added. Confined like
/// its Realm.
///
/// Deliveries don't nest: what a callback writes is reported after all others have heard the earlier changes.
final class Notifier {
    private unowned let core: RealmCore
    private var observations: [Observation] = []
    private var history = ChangeHistory()
    private var isDelivering = false
    private var isScheduled = false
    private var listeners: [Listener] = []
    private var isAnnouncing = false

    /// A listener of the Realm as a whole.
    private struct Listener {
        let state: ObservationState
        /// Whether it only records notifications for a later reader. The app's own callbacks may write, and aren't
        /// notified of that.
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

    /// Calls the listeners before it returns. As in Realm, none is called for what a listener does, since one that
    /// writes on every write would never end.
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

    /// Whether a listener waits to be notified and can be now.
    var isNeeded: Bool { !isDelivering && !isAnnouncing && !(observations.isEmpty && listeners.isEmpty) }

    /// Adds a listener and soon sends its initial notification, if it has one.
    func add(_ observation: Observation) {
        observations.append(observation)
        guard observation.hasBeginning else {
            observation.begin()
            observation.position = history.end
            return
        }
        schedule()
    }

    /// Adds a listener that asks for its changes with ``pull(_:)``.
    /// - Parameter wake: called when there are some.
    func addPulled(_ observation: Observation, wake: @escaping () -> Void) {
        observation.wake = wake
        observations.append(observation)
    }

    /// Notifies a listener of what it hasn't heard. Not in a write transaction.
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

    /// Releases ended listeners.
    func sweep() {
        observations.removeAll { !$0.state.isActive }
        listeners.removeAll { !$0.state.isActive }
        history.trim(to: observations.lazy.compactMap(\.position))
    }

    /// The Realm has moved to another version.
    /// - Parameter skipped: listeners that need not hear of it.
    func moved(_ changes: PendingChanges, skipping skipped: [ObservationState] = []) {
        guard !observations.isEmpty else { return }
        let start = history.end
        history.append(changes, positions: observations.lazy.compactMap(\.position))
        for observation in observations where skipped.contains(where: { $0 === observation.state }) {
            // A listener with earlier changes pending hears all of them.
            guard observation.position == start else { continue }
            observation.skip(changes)
            observation.position = history.end
        }
        history.trim(to: observations.lazy.compactMap(\.position))
    }

    /// Whether some of these listeners haven't heard everything.
    func isBehind(_ states: [ObservationState]) -> Bool {
        observations.contains { observation in
            observation.position.map { $0 < history.end } ?? false
                && states.contains { $0 === observation.state }
        }
    }

    private func isWaiting(_ observation: Observation) -> Bool {
        observation.state.isActive && (observation.position.map { $0 < history.end } ?? true)
    }

    private var hasNews: Bool { observations.contains { !$0.isPulled && isWaiting($0) } }

    /// Delivers soon if the Realm's place can be reached; otherwise when it's refreshed. Wakes those who ask themselves.
    func schedule() {
        for observation in observations where isWaiting(observation) { observation.wake?() }
        guard !isScheduled, hasNews else { return }
        isScheduled = core.visitSoon { $0.notifier.visited() }
    }

    private func visited() {
        isScheduled = false
        deliver()
    }

    /// Notifies every listener of what it hasn't heard. No effect within a delivery; in a write transaction only with
    /// `duringWrite`.
    func deliver(duringWrite: Bool = false) {
        guard !isDelivering, duringWrite || !core.isInWrite, !observations.isEmpty else { return }
        isDelivering = true
        // Listeners added by a callback are notified next time.
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
