public import TomboloModel

/// Where a session stands between its proposal and the programme. Attendees see ``accepted`` and ``confirmed``.
public enum SessionState: String, PersistableEnum, Sendable {
    case draft
    case pending
    case accepted
    case confirmed
    case rejected
    case canceled
    case withdrawn
}
