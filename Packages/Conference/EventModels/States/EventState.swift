public import TomboloModel

/// Whether an event shows to the public.
public enum EventState: String, PersistableEnum, Sendable {
    case draft
    case published
}
