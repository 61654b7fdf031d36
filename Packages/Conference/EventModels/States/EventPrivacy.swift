public import TomboloModel

/// Whether a published event shows in public lists. A stored value that is neither reads as private.
public enum EventPrivacy: String, PersistableEnum, Sendable {
    case `private`
    case `public`
}
