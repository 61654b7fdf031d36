/// A listener of a Realm's object or collection, confined like the Realm. Subclasses know what it observes.
class Observation {
    let state: ObservationState
    /// Its position in the history; nil before its first delivery.
    var position: Int?
    /// Wakes the reader that asks for its changes itself; nil for one that's notified.
    var wake: (() -> Void)?
    var isPulled: Bool { wake != nil }

    init(_ state: ObservationState) { self.state = state }

    /// Called before the first delivery, on the version to start from.
    func begin() {}

    /// Whether it has an initial notification.
    var hasBeginning: Bool { false }

    /// Computes the app's notification and delivers it.
    /// - Parameter changes: the changes since the last delivery; nil at the start.
    func deliver(_ changes: PendingChanges?) {}

    /// Continues from the current version as if the app had been notified.
    func skip(_ changes: PendingChanges) {}
}
