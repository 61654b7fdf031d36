public import TomboloModel

/// Whether an event is visible to the public.
public enum EventState: String, PersistableEnum, Sendable {
    case draft
    case published
}
