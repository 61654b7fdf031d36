public import TomboloModel

/// Whether a published event appears in public lists. An unknown stored value reads as private.
public enum EventPrivacy: String, PersistableEnum, Sendable {
    case `private`
    case `public`
}
