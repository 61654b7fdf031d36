import EventModels
import OpenEventImport
import TomboloModel

/// Three tickets for an event: exports have none.
enum SampleTickets {
    /// - Parameter salesEndAt: the event's beginning, in microseconds since 1970; nil where it is unknown.
    static func rows(event: ObjectId, salesEndAt: Int64?) throws -> [Row] {
        let tickets: [(name: String, details: String, price: Int, quantity: Int)] = [
            ("Early bird", "For the quick: the same seat for less.", 14_900, 100),
            ("Regular", "Both days, coffee and lunch included.", 24_900, 400),
            ("Student", "Please bring a student card.", 4_900, 50),
        ]
        let ranks = try FractionalRank.sequence(count: tickets.count, between: nil, nil)
        return zip(tickets, ranks).map { ticket, rank in
            var draft = RowDraft("Ticket", OpenEventIdentity.id("sample ticket \(event) \(ticket.name)"))
            draft["event"] = .objectId(event)
            draft["name"] = .string(ticket.name)
            draft["details"] = .string(ticket.details)
            draft["kind"] = .string(TicketKind.paid.rawValue)
            draft["price"] = .int(Int64(ticket.price))
            draft["currency"] = .string("EUR")
            draft["quantity"] = .int(Int64(ticket.quantity))
            draft["minOrder"] = .int(1)
            draft["maxOrder"] = .int(10)
            draft["salesEndsAt"] = .optional(date: salesEndAt)
            draft["rank"] = .string(rank)
            return draft.row
        }
    }
}
