import Synchronization
import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// How many exports run at a time: each holds a connection for as long as its client takes to read.
final class ExportPlaces: Sendable {
    /// Exports of one user at a time, on one server; anonymous callers count as one user.
    static let perUser = 2
    /// Exports of all users of an address at a time, on one server: one place is left to others.
    static let perAddress = 2
    /// Exports of all users at a time, on one server.
    static let all = 3

    /// Who has a place.
    struct Holder: Hashable, Sendable {
        let user: ObjectId?
        /// The address, as limits count it; empty if it isn't known, which has no limit.
        let address: String
    }

    private let taken = Mutex<[Holder]>([])

    /// - Throws: ``RequestFailure`` with status 429 for one user or one address too many, 503 for one too many altogether.
    func take(_ holder: Holder) throws {
        let (own, near, all) = taken.withLock { taken in
            let own = taken.count { $0.user == holder.user }
            let near = holder.address.isEmpty ? 0 : taken.count { $0.address == holder.address }
            let all = taken.count
            if own < Self.perUser, near < Self.perAddress, all < Self.all { taken.append(holder) }
            return (own, near, all)
        }
        guard own < Self.perUser else {
            throw RequestFailure(
                .tooManyRequests,
                localized("You have \(own) exports under way, and at most \(Self.perUser) are possible."),
                hint: localized("Try again when one of them has ended."))
        }
        guard near < Self.perAddress else {
            throw RequestFailure(
                .tooManyRequests,
                localized("Your address has \(near) exports under way, and at most \(Self.perAddress) are possible."),
                hint: localized("Try again when one of them has ended."))
        }
        guard all < Self.all else {
            throw RequestFailure(
                .unavailable,
                localized("The server has \(all) exports under way, and at most \(Self.all) are possible."),
                hint: localized("Try again in a moment."))
        }
    }

    func giveBack(_ holder: Holder) {
        taken.withLock { taken in
            if let index = taken.firstIndex(of: holder) { taken.remove(at: index) }
        }
    }
}
