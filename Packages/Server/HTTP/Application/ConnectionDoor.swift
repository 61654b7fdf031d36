import Synchronization
public import TomboloAuthentication

/// Counts connections by address, against a limit.
public final class ConnectionDoor: Sendable {
    /// The answer to a new connection.
    public enum Answer: Hashable, Sendable {
        /// The connection may enter. ``ConnectionDoor/leave(_:)`` must follow.
        case enter
        /// The limit is reached. `isNew` is true for the first connection that is turned away since the address last
        /// had none: that one is worth a log line.
        case full(isNew: Bool)
    }

    private struct Place: Sendable {
        var count: Int
        var hasReported = false
    }

    public let limit: Int
    private let places = Mutex<[AddressGroup: Place]>([:])

    /// - Parameter limit: how many connections one address may have at a time.
    public init(limit: Int) { self.limit = limit }

    public func enter(_ group: AddressGroup) -> Answer {
        places.withLock { places in
            guard var place = places[group] else {
                places[group] = Place(count: 1)
                return .enter
            }
            guard place.count < limit else {
                let isNew = !place.hasReported
                place.hasReported = true
                places[group] = place
                return .full(isNew: isNew)
            }
            place.count += 1
            places[group] = place
            return .enter
        }
    }

    public func leave(_ group: AddressGroup) {
        places.withLock { places in
            guard let count = places[group]?.count else { return }
            if count > 1 { places[group]?.count = count - 1 } else { places[group] = nil }
        }
    }
}
