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
/// - `GET /events/{id}/sessions`: the sessions that the caller may see, by start and title.
/// - `GET /events/{id}`: the public page.
/// - `GET /events/{id}/permissions`: what each role may do in an event, for its organizers.
///
/// The routes follow changes of the model as long as it has the conference's classes, possibly under other names.
public struct TicketRoutes: Sendable {
    private let rules: LiveRules
    private let pool: PostgresPool
    private let parts: SchemaCache<Parts>

    /// The objects that depend on one version of the model.
    private final class Parts: Sendable {
        let tickets: ClassTable<Ticket>
        let list: TicketList
        let order: TicketOrder
        let programme: Programme
        let page: EventPage
        let anonymous: AnonymousAnswers

        init(_ schema: Schema, _ pool: PostgresPool) throws {
            tickets = try ClassTable(schema)
            list = try TicketList(schema: schema, pool: pool)
            order = try TicketOrder(schema: schema, pool: pool)
            programme = try Programme(schema: schema, pool: pool)
            page = try EventPage(reader: RowReader(schema: schema, pool: pool))
            anonymous = try AnonymousAnswers(schema: schema, pool: pool)
        }
    }

    /// - Throws: `ValueError` if the rules' schema isn't one of the conference's models.
    public init(rules: LiveRules, pool: PostgresPool) throws {
        self.rules = rules
        self.pool = pool
        parts = SchemaCache { try Parts($0, pool) }
        _ = try parts.value(for: rules.current.schema)
    }

    public func add(to routes: Routes) {
        routes.on(
            .get, "/events/{id}", access: .open(because: "shows only what the rules let anonymous visitors read")
        ) { _, context, _ in
            let (id, rules) = (try context.id(), rules.current)
            let parts = try parts.value(for: rules.schema)
            return HTMLPage(
                try await parts.anonymous.answer(\.page, of: id, under: rules) {
                    try await parts.page.html(event: id, under: rules)
                })
        }
        routes.on(
            .get, "/events/{id}/permissions",
            access: .isCoorganizer(of: .event(by: rules, from: pool)).or(.isAdmin)
        ) { _, _, _ in
            JSONAnswer(try EventPermissions.json(rules.current))
        }
        let ofEvent: @Sendable (EdgeContext) throws -> [String: Value] = { ["event": .objectId(try $0.id())] }
        routes.on(
            .get, "/events/{id}/tickets", access: .objects(.read, of: "Ticket", by: rules, having: ofEvent)
        ) { _, context, grant in
            let id = try context.id()
            let parts = try parts.value(for: grant.rules.schema)
            // What a user sees depends on who they are, so it isn't cached.
            guard grant.subject.isAnonymous else {
                return try await parts.list.json(event: id, grant).content
            }
            return try await parts.anonymous.answer(\.list, of: id, under: grant.rules) {
                try await parts.list.json(event: id, grant)
            }
        }
        routes.on(
            .get, "/events/{id}/sessions", access: .objects(.read, of: "Session", by: rules, having: ofEvent)
        ) { _, context, grant in
            let programme = try parts.value(for: grant.rules.schema).programme
            return JSONAnswer(try await programme.json(event: context.id(), grant))
        }
        routes.on(
            .post, "/tickets/{id}/move", access: .object(.moveTicket, of: "Ticket", by: rules, from: pool)
        ) { request, context, grant in
            let place = try await request.json(TicketMove.self, context)
            return JSONText(try await move(grant, to: place))
        }
    }

    /// The size of the response to a move, in bytes.
    private static let expectedAnswerByteCount = 128

    private func move(_ grant: ObjectGrant, to place: TicketMove) async throws -> JSONBytes {
        let parts = try parts.value(for: grant.rules.schema)
        guard case .objectId(let event) = parts.tickets.row(grant.row)[keyOf: \.event] else {
            throw RequestFailure(
                .conflict, "The ticket doesn't belong to an event, so it has no place in an order.",
                hint: "Give it an event first.",
                properties: ["event"])
        }
        guard let id = grant.id else { throw RequestFailure.noSuchObject(grant.className) }
        let outcome = try await parts.order.move(id, of: event, to: place)
        var json = JSONBytes(capacity: Self.expectedAnswerByteCount)
        json.append(#"{"_id":"#)
        json.append(string: grant.keyText)
        json.append(#","changed":"#)
        json.append(outcome.isChanged)
        json.append(#","event":"#)
        json.append(string: event.stringValue)
        json.append(#","position":"#)
        json.append(Int64(outcome.position))
        json.append(#","rank":"#)
        json.append(string: outcome.rank)
        json.append("}")
        return json
    }
}
