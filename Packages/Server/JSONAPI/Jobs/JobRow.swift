import TomboloHTTP
import TomboloModel

/// One row of a job before it's worked off.
struct JobRow: Sendable {
    /// What an import does about a row: found out before it begins, and not changed afterwards.
    enum Plan: String, Sendable {
        case create = "c"
        case update = "u"
        case refuse = "r"
    }

    /// Of an import the line of the file, or the place in its array.
    let number: Int64
    /// The resource's id; nil for one that can't be told.
    var key: String?
    /// What an import read, as ``ImportSource`` takes it.
    var source: String?
    /// Of a job that undoes: what was before, and what the job made of it.
    let old: JSON?
    let new: JSON?
    var plan: Plan?
    /// Why it's to be refused.
    var reason: String?
}

/// What came of a row.
struct JobOutcome: Sendable {
    enum Kind: String, Sendable {
        case pending = "p"
        case done = "d"
        /// It may not be done, or can't.
        case refused = "r"
        /// There was nothing to do, or somebody else has changed it since.
        case left = "l"

        var name: String {
            switch self {
            case .pending: "pending"
            case .done: "done"
            case .refused: "refused"
            case .left: "leftAlone"
            }
        }

        init?(name: String) {
            guard let kind = [Kind.pending, .done, .refused, .left].first(where: { $0.name == name }) else {
                return nil
            }
            self = kind
        }
    }

    let kind: Kind
    var reason: String?
    /// For an undo: the members as they were, and as they are now. Null where there was nothing.
    var old: JSON?
    var new: JSON?
    /// The resource's id, where the row had none.
    var key: String?
    /// Of a row that is refused: what is wrong, with its places.
    var failure: RequestFailure?

    static func done(old: JSON? = nil, new: JSON? = nil, key: String? = nil, reason: String? = nil) -> JobOutcome {
        JobOutcome(kind: .done, reason: reason, old: old, new: new, key: key)
    }

    static func left(_ reason: String) -> JobOutcome { JobOutcome(kind: .left, reason: reason) }

    static func refused(_ failure: RequestFailure) -> JobOutcome {
        let all = [failure] + failure.others
        let reason = all.map { [$0.message, $0.hint].compactMap(\.self).joined(separator: " ") }
            .joined(separator: " ").shortened(toByteCount: reasonByteCount)
        // What it quotes of a file may have U+0000, for which the database has no room.
        let storable = reason.utf8.contains(0) ? reason.replacing("\0", with: "\u{FFFD}") : reason
        return JobOutcome(kind: .refused, reason: storable, failure: failure)
    }

    private static let reasonByteCount = 1_000
}
