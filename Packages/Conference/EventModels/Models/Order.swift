public import Foundation
public import TomboloModel

/// What somebody ordered of one kind of ticket. It keeps what was agreed on, whatever becomes of the ticket's price.
///
/// Only the event's staff and the buyer may see it. It stays where it is when its ticket or its buyer's account goes into
/// the trash, and when one of them is deleted for ever only the link becomes nil: the event's books stay complete.
public final class Order: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted(indexed: true) public var buyer: User?
    /// One of the same event.
    @Persisted(indexed: true) public var ticket: Ticket?
    /// What the buyer quotes, such as `TIDE-0042`. No two orders of an event share one.
    @Persisted public var identifier: String
    /// How many tickets.
    @Persisted public var quantity = 1
    /// The price of all of them together, in minor units of ``currency``: two tickets of 10.50 EUR are 2100.
    @Persisted public var amount = 0
    /// The ISO 4217 code, such as `EUR`.
    @Persisted public var currency = "EUR"
    @Persisted public var state = OrderState.initializing
    /// Nil while it is ``OrderState/initializing``.
    @Persisted public var placedAt: Date?

    override public class func tableName() -> String? { "orders" }
    override public class func uniqueProperties() -> [[String]] { [["event", "identifier"]] }
    override public class func isTrashable() -> Bool { true }
}
