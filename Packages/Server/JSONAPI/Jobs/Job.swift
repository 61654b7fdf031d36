import TomboloHTTP
import TomboloModel
import TomboloLocalization

/// Work on many resources that outlasts a request: a row of `tombolo.job`. Its rows are chosen when it's made. Each is
/// a row of `tombolo.job_row`, with its outcome.
struct Job: Sendable {
    /// The most unfinished jobs of one user. The oldest of them is processed.
    static let openLimit = 20
    /// The most rows of one job.
    static let rowLimit = 500_000
    /// How many finished jobs of one user are kept, with the data to undo them.
    static let keptLimit = 50
    /// How long finished jobs are kept, in days.
    static let keptDays = 30
    /// A job is given up after this many failed batches in a row, if the reason wasn't a row's.
    static let attemptLimit = 10
    /// How many hours a job of an unknown kind is left to newer servers.
    static let strangerHours = 1

    enum Kind: String, CaseIterable, Sendable {
        case update, trash, delete, restore
        case undo
        case load = "import"

        /// Whether it can be undone.
        var isUndoable: Bool { self != .delete && self != .undo }
    }

    enum State: String, Sendable {
        /// Next: ``queued``, or it is removed. An import that its user hasn't started.
        case draft
        /// Next: ``running`` or ``cancelled``.
        case queued
        /// Next: ``done``, ``failed`` or ``cancelled``.
        case running
        case done
        /// Stopped with a reason. What was done before stays, unless the job is all-or-nothing.
        case failed
        case cancelled

        var isOpen: Bool { self == .queued || self == .running }

        /// The kind's name in sentences.
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
    /// What to do, depending on the kind.
    let arguments: JSON
    /// Whether all rows change in one transaction or not at all. Otherwise the job works in batches, which continue
    /// after a crash.
    let isAtomic: Bool
    let total: Int64
    let done: Int64
    let refused: Int64
    let left: Int64
    /// The number of the last processed row.
    let cursor: Int64
    /// The job that this one undoes.
    let reverts: Int64?
    /// The job that undoes this one.
    let revertedBy: Int64?
    let message: JobText?
    let createdAt: Int64
    let startedAt: Int64?
    let progressAt: Int64?
    let finishedAt: Int64?

    var isUndoable: Bool {
        kind.isUndoable && !state.isOpen && state != .draft && done > 0 && revertedBy == nil
    }

    /// The job, in the form of answers. Its message is in the language of ``MessageCatalogue/current``.
    var json: JSON {
        func time(_ time: Int64?) -> JSON { time.map { .string(JSON.timestamp($0)) } ?? .null }
        return [
            "id": .int(id), "kind": .string(kind.rawValue), "class": .string(className),
            "state": .string(state.rawValue), "arguments": arguments,
            "atomicity": isAtomic ? "all or nothing" : "batches", "total": .int(total), "done": .int(done),
            "refused": .int(refused), "leftAlone": .int(left), "pending": .int(max(0, total - done - refused - left)),
            "undoes": reverts.map(JSON.int) ?? .null, "undoneBy": revertedBy.map(JSON.int) ?? .null,
            "canUndo": .bool(isUndoable), "message": message.map { .string($0.localized) } ?? .null,
            "createdAt": time(createdAt),
            "startedAt": time(startedAt), "progressAt": time(progressAt), "finishedAt": time(finishedAt),
        ]
    }
}
