import TomboloHTTP
import TomboloModel

/// One row of a job before it's worked off.
struct JobRow: Sendable {
    let number: Int64
    /// The resource's id; nil for one that an import makes.
    let key: String?
    /// What an import read.
    let source: JSON?
    /// Of a job that undoes: what was before, and what the job made of it.
    let old: JSON?
    let new: JSON?
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

    static func done(old: JSON? = nil, new: JSON? = nil, key: String? = nil, reason: String? = nil) -> JobOutcome {
        JobOutcome(kind: .done, reason: reason, old: old, new: new, key: key)
    }

    static func left(_ reason: String) -> JobOutcome { JobOutcome(kind: .left, reason: reason) }

    static func refused(_ failure: RequestFailure) -> JobOutcome {
        let all = [failure] + failure.others
        return JobOutcome(
            kind: .refused,
            reason: all.map { [$0.message, $0.hint].compactMap(\.self).joined(separator: " ") }
                .joined(separator: " ").shortened(toByteCount: reasonByteCount))
    }

    private static let reasonByteCount = 1_000
}
