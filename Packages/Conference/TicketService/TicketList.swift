import EventModels
import PostgresClient
import PostgresValues
import Synchronization
import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloSQL

/// The tickets of an event that a caller may see, in order, read with one statement.
final class TicketList: Sendable {
    /// The number of cached statements, one for each set of rights. There are few sets, since the event determines
    /// what grants permit. Statements beyond this number are generated each time.
    static let statementLimit = 256
    /// The approximate size of a ticket, in bytes.
    private static let expectedByteCount = 512

    /// The rights that determine the statement.
    private struct Rights: Hashable {
        let tickets: Predicate
        let events: Predicate
    }

    /// A statement whose first parameter is the event.
    private struct Statement {
        let sql: String
        let parameters: [PostgresParameter]
    }

    private let schema: Schema
    private let pool: PostgresPool
    private let events: ClassTable<Event>
    private let tickets: ClassTable<Ticket>
    private let rows: RowJSON
    private let key: Int
    private let known = Mutex<[Rights: Statement]>([:])

    /// - Throws: `ValueError` if the schema isn't one of the conference's models.
    init(schema: Schema, pool: PostgresPool) throws {
        self.schema = schema
        self.pool = pool
        events = try ClassTable(schema)
        tickets = try ClassTable(schema)
        rows = RowJSON(tickets.item, schema: schema, with: ["position"])
        key = tickets.item.primaryKeyIndex ?? 0
    }

    /// `{"event":ID,"tickets":[…]}`, each ticket with its columns and its `position`. Positions count from 1 among
    /// the tickets that the caller sees, so they reveal nothing about hidden ones. With `"truncated":true` if there
    /// are more than ``RowReader/rowLimit``.
    /// - Parameter grant: a grant for the tickets of this event.
    /// - Throws: ``RequestFailure`` with status 404 for an event that the caller may not read.
    func json(event: ObjectId, _ grant: ObjectsGrant) async throws -> Rendered<JSONText> {
        let eventKey = [events.item.primaryKeyIndex ?? 0: Value.objectId(event)]
        let readable = grant.rules.authorize(
            grant.subject, .read, .objects(classIndex: events.classIndex, having: eventKey))
        guard let readableEvents = try? readable.get() else { throw RequestFailure.noSuchObject("Event") }
        let statement = try statement(Rights(tickets: grant.filter, events: readableEvents))
        let result = try await PostgresResultLimit.$bytes.withValue(HTTPLimits.listByteCount) {
            try await pool.query(statement.sql, [.objectId(event)] + statement.parameters)
        }
        guard !result.isEmpty else { throw RequestFailure.noSuchObject("Event") }
        var json = JSONBytes(capacity: 64 + result.count * Self.expectedByteCount)
        json.append(#"{"event":"#)
        json.append(string: event.stringValue)
        json.append(#","tickets":["#)
        // An event without a visible ticket has one row, with the event and no ticket.
        var position: Int64 = 0
        var keys: Set<ObjectId> = []
        for row in result where !row[key].isNull {
            keys.insert(try row[key].objectId)
            if position > 0 { json.append(",") }
            position += 1
            try rows.append(row, own: [position], to: &json)
        }
        json.append(result.count < RowReader.rowLimit ? "]}" : #"],"truncated":true}"#)
        return Rendered(content: JSONText(json), rows: keys)
    }

    private func statement(_ rights: Rights) throws -> Statement {
        if let statement = known.withLock({ $0[rights] }) { return statement }
        let statement = try makeStatement(rights)
        known.withLock { known in
            if known.count >= Self.statementLimit { known.removeAll() }
            known[rights] = statement
        }
        return statement
    }

    private func makeStatement(_ rights: Rights) throws -> Statement {
        var event = try SQLBuilder(
            .postgresql, schema: schema, className: events.item.name, alias: "e", firstParameter: 2)
        let isReadable = try event.condition(rights.events)
        var ticket = try SQLBuilder(
            .postgresql, schema: schema, className: tickets.item.name, alias: "t",
            firstParameter: 2 + event.parameters.count)
        let isVisible = try ticket.condition(rights.tickets)
        let order = try ticket.orderBy([
            SQLSort(PropertyPath(of: \Ticket.rank)), SQLSort(PropertyPath(of: \Ticket._id)),
        ])
        let sql = """
            SELECT \(RowReader.columns(of: tickets.item, alias: "t"))
            FROM \(events) AS "e" LEFT JOIN \(tickets) AS "t" ON "t".\(tickets[\.event]) = "e".\(events[\._id])
                AND \(isVisible) AND \(RowReader.isIn(trash: false, tickets.item, alias: "t"))
            WHERE "e".\(events[\._id]) = $1 AND \(isReadable)
                AND \(RowReader.isIn(trash: false, events.item, alias: "e"))
            ORDER BY \(order) LIMIT \(RowReader.rowLimit)
            """
        return Statement(
            sql: sql, parameters: try (event.parameters + ticket.parameters).map { try PostgresParameter($0) })
    }
}
