import EventModels
import OpenEventImport
import TomboloModel

/// Orders for ``SampleTickets``. The attendee has one that counts, so the purge keeps their account until the event
/// is over.
enum SampleOrders {
    private struct Draft {
        /// The address of a ``SampleUser``.
        let buyer: String
        let kind: SampleTickets.Kind
        let quantity: Int
        let state: OrderState
        let daysAgo: Int64
    }

    private static let drafts = [
        Draft(
            buyer: "attendee@example.org", kind: SampleTickets.earlyBird, quantity: 1, state: .cancelled, daysAgo: 21),
        Draft(buyer: "attendee@example.org", kind: SampleTickets.regular, quantity: 2, state: .completed, daysAgo: 20),
        Draft(buyer: "admin@example.org", kind: SampleTickets.regular, quantity: 1, state: .placed, daysAgo: 3),
        Draft(buyer: "organizer@example.org", kind: SampleTickets.student, quantity: 1, state: .expired, daysAgo: 2),
    ]

    /// - Parameters:
    ///   - buyers: the sample's users, by address.
    ///   - now: microseconds since 1970.
    static func rows(event: ObjectId, buyers: [String: ObjectId], now: Int64) -> [Row] {
        drafts.enumerated().map { index, item in
            let identifier = "S-000\(index + 1)"
            var draft = RowDraft("Order", OpenEventIdentity.id("sample order \(event) \(identifier)"))
            draft["event"] = .objectId(event)
            draft["buyer"] = .optional(buyers[item.buyer])
            draft["ticket"] = .objectId(item.kind.id(in: event))
            draft["identifier"] = .string(identifier)
            draft["quantity"] = .int(Int64(item.quantity))
            draft["amount"] = .int(Int64(item.quantity * item.kind.price))
            draft["currency"] = .string(SampleTickets.currency)
            draft["state"] = .string(item.state.rawValue)
            draft["placedAt"] = .date(now - item.daysAgo * 86_400_000_000)
            return draft.row
        }
    }
}
