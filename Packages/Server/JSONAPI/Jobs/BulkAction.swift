import TomboloHTTP
import TomboloModel
import TomboloRules

/// What a bulk request does to each of its resources.
enum BulkAction: String, CaseIterable, Sendable {
    case update, trash, delete, restore

    var kind: Job.Kind {
        switch self {
        case .update: .update
        case .trash: .trash
        case .delete: .delete
        case .restore: .restore
        }
    }

    /// Whether it applies to objects in the trash.
    var isAboutTrash: Bool { self == .restore }
}

extension Job.Kind {
    /// The operation that the rules must permit on some resources of the class for the job to go on. Each row is
    /// checked as well.
    var operation: TomboloRules.Operation? {
        switch self {
        case .update: .update
        case .trash: .trash
        case .delete: .delete
        case .restore: .restore
        case .undo, .load: nil
        }
    }
}
