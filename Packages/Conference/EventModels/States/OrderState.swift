public import TomboloModel

/// Where an order stands. A stored value that no case has reads as ``initializing``.
///
/// The states that may follow are named at each, for whatever takes orders. The database doesn't enforce them, so that
/// staff who may update an order can put it right.
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
    /// Nobody went on with it in time.
    case expired

    /// Of orders that count: their buyers have tickets, or are about to get them.
    public static let standing: [OrderState] = [.pending, .placed, .completed]
}
