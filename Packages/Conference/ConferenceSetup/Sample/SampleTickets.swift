import EventModels
import OpenEventImport
import TomboloModel

/// Three tickets for an event, since exports have none.
enum SampleTickets {
    struct Kind {
        let name: String
        let details: String
        /// In cents.
        let price: Int
        let quantity: Int

        func id(in event: ObjectId) -> ObjectId { OpenEventIdentity.id("sample ticket \(event) \(name)") }
    }

    static let earlyBird = Kind(
        name: "Early bird", details: "For the quick: the same seat for less.", price: 14_900, quantity: 100)
    static let regular = Kind(
        name: "Regular", details: "Both days, coffee and lunch included.", price: 24_900, quantity: 400)
    static let student = Kind(name: "Student", details: "Please bring a student card.", price: 4_900, quantity: 50)

    static let currency = "EUR"

    /// - Parameter salesEndAt: the event's start, in microseconds since 1970; nil if it's unknown.
    static func rows(event: ObjectId, salesEndAt: Int64?) throws -> [Row] {
        let kinds = [earlyBird, regular, student]
        let ranks = try FractionalRank.sequence(count: kinds.count, between: nil, nil)
        return zip(kinds, ranks).map { kind, rank in
            var draft = RowDraft("Ticket", kind.id(in: event))
            draft["event"] = .objectId(event)
            draft["name"] = .string(kind.name)
            draft["details"] = .string(kind.details)
            draft["kind"] = .string(TicketKind.paid.rawValue)
            draft["price"] = .int(Int64(kind.price))
            draft["currency"] = .string(currency)
            draft["quantity"] = .int(Int64(kind.quantity))
            draft["minOrder"] = .int(1)
            draft["maxOrder"] = .int(10)
            draft["salesEndsAt"] = .optional(date: salesEndAt)
            draft["rank"] = .string(rank)
            return draft.row
        }
    }
}
