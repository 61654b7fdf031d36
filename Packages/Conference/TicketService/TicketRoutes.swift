import EventModels
import HTTPTypes
public import PostgresClient
public import TomboloHTTP
import TomboloModel
public import TomboloRules

/// The routes of the ticket API.
///
/// - `GET /events/{id}/tickets`: the tickets that the caller may see, in order, with `position` from 1.
/// - `POST /tickets/{id}/move`: see ``TicketMove``.
/// - `GET /events/{id}`: the public page.
public struct TicketRoutes: Sendable {
    private let rules: LiveRules
    private let reader: RowReader
    private let tickets: ClassTable<Ticket>
    private let order: TicketOrder
    private let page: EventPage

    /// - Throws: `ValueError` if the rules' schema isn't one of the conference's models.
    public init(rules: LiveRules, pool: PostgresPool) throws {
        self.rules = rules
        reader = RowReader(schema: rules.schema, pool: pool)
        tickets = try ClassTable(rules.schema)
        order = try TicketOrder(schema: rules.schema, pool: pool)
        page = try EventPage(reader: reader, rules: rules)
    }

    public func add(to routes: Routes) {
        routes.on(
            .get, "/events/{id}", access: .open(because: "shows only what the rules let anonymous visitors read")
        ) { _, context, _ in
            HTMLPage(try await page.html(event: context.id()))
        }
        routes.on(.get, "/events/{id}/tickets", access: .objects(.read, of: "Ticket", by: rules)) {
            _, context, grant in
            JSONAnswer(try await list(event: context.id(), grant))
        }
        routes.on(
            .post, "/tickets/{id}/move", access: .object(.moveTicket, of: "Ticket", by: rules, from: reader)
        ) { request, context, grant in
            let place = try TicketMove(await request.json(JSON.self, context))
            return JSONAnswer(try await move(grant, to: place))
        }
    }

    private func list(event: ObjectId, _ grant: ObjectsGrant) async throws -> JSON {
        let ofEvent = Predicate.compare(PropertyPath(of: \Ticket.event), .equal, .objectId(event))
        let rows = try await reader.snapshot { reader in
            _ = try await reader.readable("Event", id: event, by: grant.subject, under: rules.current)
            return try await reader.objects(tickets, matching: .and([ofEvent, grant.filter]), sortedBy: [\.rank])
        }
        let list = rows.enumerated().map { index, row -> JSON in
            guard case .object(var members) = JSON(row.row, of: tickets.item) else { return .null }
            // Among the tickets that the caller sees: positions tell nothing about hidden ones.
            members["position"] = .int(Int64(index + 1))
            return .object(members)
        }
        return ["event": .string(event.stringValue), "tickets": .array(list)]
    }

    private func move(_ grant: ObjectGrant, to place: TicketMove) async throws -> JSON {
        guard case .objectId(let event) = tickets.row(grant.row)[keyOf: \.event] else {
            throw RequestFailure(
                .conflict, "The ticket belongs to no event, and so has no order.", hint: "Give it an event first.",
                properties: ["event"])
        }
        let outcome = try await order.move(grant.id, of: event, to: place)
        return [
            "_id": .string(grant.id.stringValue), "event": .string(event.stringValue), "rank": .string(outcome.rank),
            "position": .int(Int64(outcome.position)), "changed": .bool(outcome.isChanged),
        ]
    }
}
