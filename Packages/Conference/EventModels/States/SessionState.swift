public import TomboloModel

/// The state of a session, from proposal to programme. Attendees see ``accepted`` and ``confirmed``.
public enum SessionState: String, PersistableEnum, Sendable {
    case draft
    case pending
    case accepted
    case confirmed
    case rejected
    case canceled
    case withdrawn
}
