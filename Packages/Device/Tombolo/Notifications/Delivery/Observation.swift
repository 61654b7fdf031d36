/// A listener of a Realm's object or collection, confined like the Realm. Each subclass observes one kind of thing.
class Observation {
    let state: ObservationState
    /// Its position in the history; nil before its first delivery.
    var position: Int?
    /// Wakes a reader that requests its changes. Nil for a listener that is notified.
    var wake: (() -> Void)?
    var isPulled: Bool { wake != nil }

    init(_ state: ObservationState) { self.state = state }

    /// Called before the first delivery, in the version to start from.
    func begin() {}

    /// Whether it has an initial notification.
    var hasBeginning: Bool { false }

    /// Computes the notification and delivers it to the app.
    /// - Parameter changes: the changes since the last delivery; nil for the first delivery.
    func deliver(_ changes: PendingChanges?) {}

    /// Continues from the current version as if the app had been notified.
    func skip(_ changes: PendingChanges) {}
}
