internal import Synchronization

/// Whether a listener is still active. Any thread may end it.
final class ObservationState: Sendable {
    private let flag = Atomic<Bool>(true)

    var isActive: Bool { flag.load(ordering: .acquiring) }

    /// - Returns: whether it was active.
    func end() -> Bool { flag.exchange(false, ordering: .acquiringAndReleasing) }
}
