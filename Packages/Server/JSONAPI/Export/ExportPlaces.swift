import Synchronization
import TomboloHTTP
import TomboloModel

/// How many exports run at a time: each holds a connection for as long as its client takes to read.
final class ExportPlaces: Sendable {
    /// Exports of one user at a time, on one server; anonymous callers count as one user.
    static let perUser = 2
    /// Exports of all users at a time, on one server.
    static let all = 3

    private let taken = Mutex<[ObjectId?: Int]>([:])

    /// - Throws: ``RequestFailure`` with status 429 for one user too many, 503 for one too many altogether.
    func take(_ user: ObjectId?) throws {
        let (own, all) = taken.withLock { taken in
            let counts = (taken[user] ?? 0, taken.values.reduce(0, +))
            if counts.0 < Self.perUser, counts.1 < Self.all { taken[user, default: 0] += 1 }
            return counts
        }
        guard own < Self.perUser else {
            throw RequestFailure(
                .tooManyRequests, "You have \(own) exports under way, and at most \(Self.perUser) are possible.",
                hint: "Try again when one of them has ended.")
        }
        guard all < Self.all else {
            throw RequestFailure(
                .unavailable, "The server has \(all) exports under way, and at most \(Self.all) are possible.",
                hint: "Try again in a moment.")
        }
    }

    func giveBack(_ user: ObjectId?) {
        taken.withLock { taken in
            let left = (taken[user] ?? 1) - 1
            taken[user] = left > 0 ? left : nil
        }
    }
}
