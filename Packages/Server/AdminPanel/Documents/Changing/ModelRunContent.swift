import AdminService
import TomboloLocalization
import TomboloServerModel

/// The values for the template `model_run`: the progress of a change, or its outcome.
struct ModelRunContent: Sendable {
    /// A change that is still running.
    struct Progress: Sendable {
        let state: String
        let text: String
        let place: Int
        let total: Int
    }

    struct Failure: Sendable {
        let message: String
        let problems: [String]
        let hint: String?
        let changedNothing: Bool
        /// Where the author of the change finds the text that wasn't stored.
        let back: String?
    }

    let isNone: Bool
    let isOpen: Bool
    let app: String
    let path: String
    let author: String
    let began: Moment?
    let progress: Progress?
    let failure: Failure?
    let isDone: Bool
    let hasModels: Bool

    /// - Parameters:
    ///   - run: this process's run; nil if there was none.
    ///   - user: the viewer.
    init(_ run: ModelChangeRun?, by user: String, now: Int64) {
        isNone = run == nil
        isOpen = run.map { !$0.phase.hasEnded } ?? false
        let app = run?.edit.app ?? ""
        self.app = app
        path = ModelChangePages.path(of: app)
        author = run?.author ?? ""
        began = Moment.of(run?.startedAt, now: now)
        hasModels = run?.edit.models != nil
        switch run?.phase {
        case nil: (progress, failure, isDone) = (nil, nil, false)
        case .waiting?:
            progress = Progress(
                state: localized("waiting"), text: localized("It begins in a moment."), place: 0, total: 1)
            (failure, isDone) = (nil, false)
        case .running(let step, let place, let total)?:
            progress = Progress(
                state: localized("running"), text: localized("Step \(place) of \(total): \(step)"), place: place - 1,
                total: total)
            (failure, isDone) = (nil, false)
        case .done?: (progress, failure, isDone) = (nil, nil, true)
        case .failed(let error)?:
            var problems: [String] = []
            if case .mistakes(let found) = error { problems = found }
            failure = Failure(
                message: error.message, problems: problems.count > 1 ? problems : [], hint: error.hint,
                changedNothing: error.changedNothing,
                back: run?.edit.account == user ? "\(ModelChangePages.path(of: app))?again=yes" : nil)
            (progress, isDone) = (nil, false)
        }
    }
}
