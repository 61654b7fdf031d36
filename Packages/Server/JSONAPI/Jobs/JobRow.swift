import TomboloHTTP
import TomboloModel

/// One row of a job before it's processed.
struct JobRow: Sendable {
    /// What an import does with a row. It's decided before the import begins, and doesn't change afterwards.
    enum Plan: String, Sendable {
        case create = "c"
        case update = "u"
        case refuse = "r"
    }

    /// For an import, the line in the file or the position in its array.
    let number: Int64
    /// The resource's id; nil if it can't be told.
    var key: String?
    /// What an import read, for ``ImportSource``.
    var source: String?
    /// For an undo: the earlier values, and what the job changed them to.
    let old: JSON?
    let new: JSON?
    var plan: Plan?
    /// Why the row is to be refused.
    var reason: Wording?
}

/// The outcome of a row.
struct JobOutcome: Sendable {
    enum Kind: String, Sendable {
        case pending = "p"
        case done = "d"
        /// It isn't permitted, or isn't possible.
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
    var reason: Wording?
    /// For an undo: the members as they were, and as they are now. Null if there was nothing.
    var old: JSON?
    var new: JSON?
    /// The resource's id, if the row had none.
    var key: String?
    /// Why a row is refused, with the places in it.
    var failure: RequestFailure?

    static func done(old: JSON? = nil, new: JSON? = nil, key: String? = nil, reason: Wording? = nil) -> JobOutcome {
        JobOutcome(kind: .done, reason: reason, old: old, new: new, key: key)
    }

    static func left(_ reason: Wording) -> JobOutcome { JobOutcome(kind: .left, reason: reason) }

    static func refused(_ failure: RequestFailure) -> JobOutcome {
        let sentences = ([failure] + failure.others).flatMap { [$0.wording, $0.hintWording].compactMap(\.self) }
        return JobOutcome(kind: .refused, reason: JobText.joined(sentences), failure: failure)
    }
}
