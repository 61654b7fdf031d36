public import TomboloRules

extension Operation {
    /// Permits changing a ticket's place in its event's order.
    public static let moveTicket = Operation("moveTicket")
}
