/// One listener of a Realm's objects or collections, confined as the Realm is. Subclasses know what it listens to.
class Observation {
    let state: ObservationState
    /// How far in the history it has heard; nil before its first delivery.
    var position: Int?
    /// It asks for its changes by itself.
    var isPulled = false

    init(_ state: ObservationState) { self.state = state }

    /// Called before the first delivery, on the version that it is to start from.
    func begin() {}

    /// Whether the app must be told something at the start.
    var hasBeginning: Bool { false }

    /// Finds out what the app has to be told, and tells it.
    /// - Parameter changes: since the last delivery; nil at the beginning.
    func deliver(_ changes: PendingChanges?) {}

    /// Goes on from the present version as if the app had been told.
    func skip(_ changes: PendingChanges) {}
}
