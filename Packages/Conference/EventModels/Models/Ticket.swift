public import Foundation
public import TomboloModel

/// A ticket type that an event sells or gives away.
public final class Ticket: Object {
    @Persisted(primaryKey: true) public var _id: ObjectId
    @Persisted(indexed: true) public var event: Event?
    @Persisted public var name: String
    @Persisted public var details: String?
    @Persisted public var kind = TicketKind.free
    /// In minor units of ``currency``: 1050 is 10.50 EUR.
    @Persisted public var price = 0
    /// The ISO 4217 code, such as `EUR`.
    @Persisted public var currency = "EUR"
    /// The total number of tickets.
    @Persisted public var quantity = 0
    @Persisted public var minOrder = 1
    @Persisted public var maxOrder = 10
    @Persisted public var salesStartsAt: Date?
    @Persisted public var salesEndsAt: Date?
    /// Hides the ticket from the public.
    @Persisted public var isHidden = false
    /// The ticket's place in the event's order: text, compared by bytes. A move writes only this value, on one
    /// ticket.
    @Persisted public var rank: String
    /// Whether the event is published and public. The server keeps it up to date; what a device writes is replaced.
    @Persisted public var isPublic = false

    override public class func propertyHints() -> [String: String] {
        [
            "price": "In minor units of the currency: 1050 is 10.50 EUR, and 1050 JPY.",
            "currency": "The ISO 4217 code, such as EUR.",
            "rank":
                "The position among the event's tickets: a unique string, compared by bytes. To put a ticket last, use "
                + "the last one's rank with a letter added. The ticket API moves tickets.",
            "isPublic": PropertyHint.isPublic,
        ]
    }
    override public class func uniqueProperties() -> [[String]] { [["event", "rank"]] }
    override public class func markdownProperties() -> [String] { ["details"] }
    override public class func isTrashable() -> Bool { true }
}
