public import TomboloModel

/// How a ticket is paid for.
public enum TicketKind: String, PersistableEnum, Sendable {
    case free
    case paid
    /// The buyer names the price, from ``Ticket/price`` upwards.
    case donation
}
