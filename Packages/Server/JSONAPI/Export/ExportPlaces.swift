import Synchronization
import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// Limits how many exports run at a time: each holds a connection until its client has read everything.
final class ExportPlaces: Sendable {
    /// The most concurrent exports of one user on one server. Anonymous callers count as one user.
    static let perUser = 2
    /// The most concurrent exports of one address on one server, for all its users together. One place is left to
    /// others.
    static let perAddress = 2
    /// The most concurrent exports on one server.
    static let all = 3

    /// The holder of a place.
    struct Holder: Hashable, Sendable {
        let user: ObjectId?
        /// The address as limits count it; empty if it's unknown, which has no limit.
        let address: String
    }

    private let taken = Mutex<[Holder]>([])

    /// - Throws: ``RequestFailure`` with status 429 if the user or the address has too many exports, 503 if the server
    ///   has.
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
                localized("You have \(own) exports under way; the limit is \(Self.perUser)."),
                hint: localized("Try again when one of them has finished."))
        }
        guard near < Self.perAddress else {
            throw RequestFailure(
                .tooManyRequests,
                localized("Your address has \(near) exports under way; the limit is \(Self.perAddress)."),
                hint: localized("Try again when one of them has finished."))
        }
        guard all < Self.all else {
            throw RequestFailure(
                .unavailable,
                localized("The server has \(all) exports under way; the limit is \(Self.all)."),
                hint: localized("Try again in a moment."))
        }
    }

    func giveBack(_ holder: Holder) {
        taken.withLock { taken in
            if let index = taken.firstIndex(of: holder) { taken.remove(at: index) }
        }
    }
}
