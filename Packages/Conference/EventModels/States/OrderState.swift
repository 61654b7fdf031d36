public import TomboloModel

/// The state of an order. An unknown stored value reads as ``initializing``.
///
/// Each state lists the states that may follow, for software that takes orders. The database doesn't enforce them, so
/// staff who may update an order can correct it.
public enum OrderState: String, PersistableEnum, Sendable {
    /// Being filled in. Then ``pending``, ``placed``, ``completed`` if it's free, ``cancelled`` or ``expired``.
    case initializing
    /// Being paid. Then ``completed``, ``cancelled`` or ``expired``.
    case pending
    /// To be paid later, such as by bank transfer or at the door. Then ``completed`` or ``cancelled``.
    case placed
    /// Paid, or free. Then ``cancelled``.
    case completed
    case cancelled
    /// Abandoned: not continued in time.
    case expired

    /// The states of orders that count: their buyers have tickets, or are about to get them.
    public static let standing: [OrderState] = [.pending, .placed, .completed]
}
