package import TomboloServerModel

/// A change of an app's documents that was asked for, and how far it is.
package struct ModelChangeRun: Hashable, Sendable {
    /// Leads from each to the next; ``failed`` comes after any.
    package enum Phase: Hashable, Sendable {
        /// It begins in a moment.
        case waiting
        /// - `place`: of the step from 1.
        case running(step: String, place: Int, total: Int)
        case done
        case failed(DocumentEditError)

        package var hasEnded: Bool {
            switch self {
            case .waiting, .running: false
            case .done, .failed: true
            }
        }
    }

    package let edit: DocumentEdit
    /// The display name of the person who asked for it, or their e-mail address.
    package let author: String
    /// In microseconds since 1970.
    package let startedAt: Int64
    package internal(set) var phase = Phase.waiting
}
