internal import TomboloSQLiteStore

/// Notifies the listeners of one Realm of everything they haven't been told yet, in the order in which they were added.
/// Confined like its Realm.
///
/// Deliveries don't nest: a callback's own writes are reported after all other listeners have been told of the earlier
/// changes.
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
        /// Whether the listener only records notifications for a later reader. The app's own callbacks may write, and
        /// aren't notified of those writes.
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

    /// Calls the listeners before it returns. As in Realm, no listener is called for writes by a listener; otherwise
    /// one that writes on every notification would never end.
    /// - Parameter skipped: listeners that aren't called.
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

    /// Whether a listener is waiting for a notification and can be notified now.
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

    /// Adds a listener that requests its changes with ``pull(_:)``.
    /// - Parameter wake: called when there are changes.
    func addPulled(_ observation: Observation, wake: @escaping () -> Void) {
        observation.wake = wake
        observations.append(observation)
    }

    /// Notifies a listener of everything it hasn't been told yet. Must not be called in a write transaction.
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

    /// Call this when the Realm has moved to another version.
    /// - Parameter skipped: listeners that aren't notified.
    func moved(_ changes: PendingChanges, skipping skipped: [ObservationState] = []) {
        guard !observations.isEmpty else { return }
        let start = history.end
        history.append(changes, positions: observations.lazy.compactMap(\.position))
        for observation in observations where skipped.contains(where: { $0 === observation.state }) {
            // A listener with earlier changes pending is notified of everything.
            guard observation.position == start else { continue }
            observation.skip(changes)
            observation.position = history.end
        }
        history.trim(to: observations.lazy.compactMap(\.position))
    }

    /// Whether at least one of these listeners isn't up to date.
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

    /// Delivers soon if the Realm's place can be reached; otherwise the next refresh delivers. Wakes the listeners that
    /// request their changes.
    func schedule() {
        for observation in observations where isWaiting(observation) { observation.wake?() }
        guard !isScheduled, hasNews else { return }
        isScheduled = core.visitSoon { $0.notifier.visited() }
    }

    private func visited() {
        isScheduled = false
        deliver()
    }

    /// Notifies every listener of everything it hasn't been told yet. Has no effect within a delivery, nor in a write
    /// transaction unless `duringWrite` is set.
    func deliver(duringWrite: Bool = false) {
        guard !isDelivering, duringWrite || !core.isInWrite, !observations.isEmpty else { return }
        isDelivering = true
        // Listeners added by a callback are notified next time.
        for observation in observations where observation.state.isActive && !observation.isPulled {
            // A callback may have begun a transaction without ending it.
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
