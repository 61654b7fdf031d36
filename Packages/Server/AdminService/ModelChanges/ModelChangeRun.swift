package import TomboloServerModel

/// A requested change of an app's documents, and its progress.
package struct ModelChangeRun: Hashable, Sendable {
    /// Each phase leads to the next; ``failed`` can follow any.
    package enum Phase: Hashable, Sendable {
        /// It's about to begin.
        case waiting
        /// - `place`: the step's number, from 1.
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
    /// The display name or e-mail address of the person who asked for it.
    package let author: String
    /// In microseconds since 1970.
    package let startedAt: Int64
    package internal(set) var phase = Phase.waiting
}
