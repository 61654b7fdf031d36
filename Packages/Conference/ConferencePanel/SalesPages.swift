import AdminPanel
import EventModels
import Foundation
import PostgresClient
import PostgresValues
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

/// Tickets sold for an event, by ticket type, for users who may change its orders. Users who may change a ticket type
/// can end its sale there.
struct SalesPages: PanelSection {
    static let path = "\(AdminPanel.path)/sales"
    private let list = PanelTemplate(PackageResources.sales_mustache)
    private let event = PanelTemplate(PackageResources.sales_event_mustache)

    func add(to panel: PanelRoutes) {
        let (rules, pool) = (panel.rules, panel.pool)
        panel.page(Self.path, entry: PanelEntry("Sales"), access: .objects(.update, of: "Order", by: rules)) {
            request, _ in
            let events = try await Self.events(request)
            return request.page(
                localized("Sales"), list,
                [
                    "events": events.map { ["name": $0.text("name"), "path": Self.path(of: $0.id)] },
                    "hasEvents": !events.isEmpty,
                ])
        }
        panel.page(
            "\(Self.path)/{id}",
            access: .can(
                .update, "Order", in: .object("Event", by: rules, from: pool), through: "event", by: rules)
        ) { request, _ in
            try await sales(request, of: request.parameter("id"), pool)
        }
        panel.action("\(Self.path)/tickets/{id}/end", access: .object(.update, of: "Ticket", by: rules, from: pool)) {
            request, grant in
            let ticket = try await request.update(
                "Ticket", id: grant.keyText, ["salesEndsAt": .string(Date.now.formatted(.iso8601))])
            let (name, event) = (ticket?.text("name") ?? "", ticket?.linked("event")?.first)
            return .redirect(
                to: event.map { Self.path(of: $0) } ?? Self.path,
                notice: PanelNotice(localized("The sale of '\(name)' has ended.")))
        }
    }

    /// The number of ids in one filter: a parameter has at most 2,048 bytes.
    private static let idLimit = 50

    /// The events whose orders the caller may change, among the newest events and those in which the caller has a
    /// role.
    private static func events(_ request: PanelRequest) async throws -> [PanelResource] {
        var events = try await request.objects(of: "Event", ["sort": "-startsAt"])
        // Everybody can read published events, so the caller's own may be far down the list.
        let own = Set(
            request.subject.grants.compactMap { grant -> String? in
                guard case .objectId(let id)? = grant.scope else { return nil }
                return id.stringValue
            }
        ).subtracting(events.map(\.id)).sorted()
        for start in stride(from: 0, to: own.count, by: idLimit) {
            let ids = own[start..<min(own.count, start + idLimit)]
            events += try await request.objects(of: "Event", ["filter[id][in]": ids.joined(separator: ",")])
        }
        events.sort { $0.text("startsAt") > $1.text("startsAt") }
        return try events.filter { request.may(.update, "Order", having: ["event": try key($0.id)]) }
    }

    private static func path(of event: String) -> String { "\(path)/\(event)" }

    private static func key(_ id: String) throws -> Value { .objectId(try ObjectId(string: id)) }

    private func sales(_ request: PanelRequest, of id: String, _ pool: PostgresPool) async throws -> PanelAnswer {
        guard let event = try await request.objects(of: "Event", ["filter[id]": id]).first else {
            throw RequestFailure.noSuchObject("Event")
        }
        let tickets = try await request.objects(of: "Ticket", ["filter[event]": id, "sort": "rank"])
        let sold = try await sold(request, of: id, pool)
        return request.page(
            event.text("name"), crumbs: [PanelPage.Crumb(title: localized("Sales"), path: Self.path)], self.event,
            [
                "tickets": tickets.map { ticket -> [String: Any] in
                    // Both begin in the same form: `2026-11-27T16:00:00`.
                    let end = ticket.text("salesEndsAt").prefix(19)
                    return [
                        "name": ticket.text("name"), "sold": sold[ticket.id] ?? 0, "quantity": ticket.text("quantity"),
                        "hasQuantity": ticket.attribute("quantity") != 0,
                        "end": end.isEmpty ? "" : "\(end.prefix(16).replacing("T", with: " ")) UTC",
                        "isOver": !end.isEmpty && end <= Date.now.formatted(.iso8601).prefix(19),
                        "action": "\(Self.path)/tickets/\(ticket.id)/end",
                    ]
                },
                "hasTickets": !tickets.isEmpty,
                "mayEnd": request.may(.update, "Ticket", having: ["event": try Self.key(id)]),
            ])
    }

    /// The number of tickets in orders that count, by the id of the ticket type.
    private func sold(
        _ request: PanelRequest, of event: String, _ pool: PostgresPool
    ) async throws -> [String: Int64] {
        let standing = OrderState.standing.map(\.rawValue).joined(separator: ",")
        let orders = try request.rows(
            of: "Order", ["ticket", "quantity"], ["filter[event]": event, "filter[state][in]": standing])
        // Quantities entered by users may add up to more than an integer holds.
        let sums = try await pool.query(
            """
            SELECT ticket, greatest(least(sum(quantity), \(Int64.max)), \(Int64.min))::bigint FROM (\(orders.sql)) AS orders
            WHERE ticket IS NOT NULL GROUP BY ticket
            """, orders.parameters)
        return Dictionary(
            uniqueKeysWithValues: try sums.map { (try $0[0].objectId.stringValue, try $0[1].int64) })
    }
}
