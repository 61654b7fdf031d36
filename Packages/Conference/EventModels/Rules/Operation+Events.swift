public import TomboloRules

extension Operation {
    /// To change a ticket's place in its event's order.
    public static let moveTicket = Operation("moveTicket")
}
