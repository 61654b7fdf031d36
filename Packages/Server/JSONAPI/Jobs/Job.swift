import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// Work on many resources that outlasts a request: a row of `tombolo.job`. Its rows are chosen when it's made, and each
/// is a row of `tombolo.job_row` with what came of it.
struct Job: Sendable {
    /// Unfinished jobs of one user: of these the oldest is worked off.
    static let openLimit = 20
    /// Rows of one job.
    static let rowLimit = 500_000
    /// Finished jobs of one user that are kept, with what it takes to undo them.
    static let keptLimit = 50
    /// How long finished jobs are kept.
    static let keptDays = 30
    /// Batches in a row that may fail, for reasons that aren't a row's, before a job is given up.
    static let attemptLimit = 10
    /// How long a job of a kind that this version doesn't know is left to newer servers.
    static let strangerHours = 1

    enum Kind: String, CaseIterable, Sendable {
        case update, trash, delete, restore
        case undo
        case load = "import"

        /// Whether there is something to go back to afterwards.
        var isUndoable: Bool { self != .delete && self != .undo }
    }

    enum State: String, Sendable {
        /// Becomes ``queued``, or is dropped: an import that somebody has still to start.
        case draft
        /// Becomes ``running`` or ``cancelled``.
        case queued
        /// Becomes ``done``, ``failed`` or ``cancelled``.
        case running
        case done
        /// Stopped with a reason: what was done before stays, unless the job is all-or-nothing.
        case failed
        case cancelled

        var isOpen: Bool { self == .queued || self == .running }

        /// In sentences.
        var word: String {
            switch self {
            case .draft: localized("draft", context: "state of a job")
            case .queued: localized("queued", context: "state of a job")
            case .running: localized("running", context: "state of a job")
            case .done: localized("done", context: "state of a job")
            case .failed: localized("failed", context: "state of a job")
            case .cancelled: localized("cancelled", context: "state of a job")
            }
        }
    }

    let id: Int64
    let kind: Kind
    let className: String
    let user: ObjectId
    let state: State
    /// What to do, by kind.
    let arguments: JSON
    /// Whether all rows are changed in one transaction, or none; otherwise it's in batches that go on after a crash.
    let isAtomic: Bool
    let total: Int64
    let done: Int64
    let refused: Int64
    let left: Int64
    /// The number of the last row that was worked off.
    let cursor: Int64
    /// The job that this one undoes.
    let reverts: Int64?
    /// The job that undoes this one.
    let revertedBy: Int64?
    let message: String?
    let createdAt: Int64
    let startedAt: Int64?
    let progressAt: Int64?
    let finishedAt: Int64?

    var isUndoable: Bool {
        kind.isUndoable && !state.isOpen && state != .draft && done > 0 && revertedBy == nil
    }

    /// As answers have it.
    var json: JSON {
        func time(_ time: Int64?) -> JSON { time.map { .string(JSON.timestamp($0)) } ?? .null }
        return [
            "id": .int(id), "kind": .string(kind.rawValue), "class": .string(className),
            "state": .string(state.rawValue), "arguments": arguments,
            "atomicity": isAtomic ? "all or nothing" : "batches", "total": .int(total), "done": .int(done),
            "refused": .int(refused), "leftAlone": .int(left), "pending": .int(max(0, total - done - refused - left)),
            "undoes": reverts.map(JSON.int) ?? .null, "undoneBy": revertedBy.map(JSON.int) ?? .null,
            "canUndo": .bool(isUndoable), "message": message.map(JSON.string) ?? .null, "createdAt": time(createdAt),
            "startedAt": time(startedAt), "progressAt": time(progressAt), "finishedAt": time(finishedAt),
        ]
    }
}
