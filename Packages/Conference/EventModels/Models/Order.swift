public import Foundation
public import TomboloModel

/// An order of one ticket type. It keeps the agreed price, even if the ticket's price changes.
///
/// Only the event's staff and the buyer may see it. It stays when its ticket or its buyer's account goes into the
/// trash. When one of them is permanently deleted, only the link becomes nil, so the event's books stay complete.
public final class Order: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted(indexed: true) public var buyer: User?
    /// A ticket of the same event.
    @Persisted(indexed: true) public var ticket: Ticket?
    /// The number that the buyer quotes, such as `TIDE-0042`. It's unique within an event.
    @Persisted public var identifier: String
    /// The number of tickets.
    @Persisted public var quantity = 1
    /// The total price, in minor units of ``currency``: two tickets of 10.50 EUR are 2100.
    @Persisted public var amount = 0
    /// The ISO 4217 code, such as `EUR`.
    @Persisted public var currency = "EUR"
    @Persisted public var state = OrderState.initializing
    /// Nil while the order is ``OrderState/initializing``.
    @Persisted public var placedAt: Date?

    override public class func tableName() -> String? { "orders" }
    override public class func uniqueProperties() -> [[String]] { [["event", "identifier"]] }
    override public class func isTrashable() -> Bool { true }
}
