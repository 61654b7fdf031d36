import EventModels
import Foundation
import Mustache
import TomboloHTTP
import TomboloModel
import TomboloRules

/// The public page of an event: what anonymous visitors may see of it, its tickets and its programme.
struct EventPage: Sendable {
    private let reader: RowReader
    private let template: MustacheTemplate
    private let tables: Tables

    private struct Tables: Sendable {
        let events: ClassTable<Event>
        let tickets: ClassTable<Ticket>
        let sessions: ClassTable<Session>
        let rooms: ClassTable<Microlocation>
        let tracks: ClassTable<Track>
        let speakers: ClassTable<Speaker>

        init(_ schema: Schema) throws(ValueError) {
            events = try ClassTable(schema)
            tickets = try ClassTable(schema)
            sessions = try ClassTable(schema)
            rooms = try ClassTable(schema)
            tracks = try ClassTable(schema)
            speakers = try ClassTable(schema)
        }
    }

    /// - Throws: `ValueError` if the reader's schema isn't one of the conference's models.
    init(reader: RowReader) throws {
        self.reader = reader
        tables = try Tables(reader.schema)
        template = try MustacheTemplate(string: Self.template)
    }

    /// Of a published event's programme its page shows without a login what everybody who is logged in may read.
    private static let programme: Set<String> = ["Session", "Speaker", "Track", "Microlocation"]
    /// A user with no account and no role.
    private static let anyUser = Subject(user: ObjectId())

    /// - Parameter rules: on the reader's classes.
    /// - Throws: ``RequestFailure`` with status 404 for an event that is not published, in the trash, or not there.
    func html(event id: ObjectId, under rules: Rules) async throws -> String {
        let rows = try await reader.snapshot { try await read(id, $0, rules) }
        return template.render(content(rows))
    }

    // MARK: Reading

    private struct Rows {
        var event: ClassRow<Event>
        var tickets: [ClassRow<Ticket>]
        var sessions: [ClassRow<Session>]
        var rooms: [Value: ClassRow<Microlocation>]
        var tracks: [Value: ClassRow<Track>]
        var speakers: [Value: ClassRow<Speaker>]
        /// The speakers' keys of each session, in order.
        var speakersOfSession: [Value: [Value]]
    }

    nonisolated(nonsending) private func read(_ id: ObjectId, _ reader: RowReader, _ rules: Rules) async throws -> Rows
    {
        /// - Parameter owner: the property that holds the event's key.
        func objects<Class: Object>(
            _ table: ClassTable<Class>, of owner: PartialKeyPath<Class>, sortedBy sort: [PartialKeyPath<Class>] = []
        ) async throws -> [ClassRow<Class>] {
            let subject = Self.programme.contains(table.item.name) ? Self.anyUser : .anonymous
            let access = rules.authorize(subject, .read, .objects(classIndex: table.classIndex))
            guard case .allowed(let filter) = access else { return [] }
            let own = Predicate.compare(PropertyPath(of: owner), .equal, .objectId(id))
            return try await reader.objects(table, matching: .and([own, filter]), sortedBy: sort)
        }
        guard let event = try await objects(tables.events, of: \._id).first else {
            throw RequestFailure.noSuchObject("Event")
        }
        let sessions = try await objects(tables.sessions, of: \.event, sortedBy: [\.startsAt, \.title])
        func byKey<Class>(_ rows: [ClassRow<Class>]) -> [Value: ClassRow<Class>] {
            Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        }
        return Rows(
            event: event, tickets: try await objects(tables.tickets, of: \.event, sortedBy: [\.rank]),
            sessions: sessions, rooms: byKey(try await objects(tables.rooms, of: \.event)),
            tracks: byKey(try await objects(tables.tracks, of: \.event)),
            speakers: byKey(try await objects(tables.speakers, of: \.event)),
            speakersOfSession: try await reader.list(
                PropertyPath(of: \Session.speakers).description, of: tables.sessions.item.name,
                owners: sessions.map(\.key)))
    }

    // MARK: Showing

    private func content(_ rows: Rows) -> EventPageContent {
        let event = rows.event
        let clock = EventClock(zone: event[\.timezone])
        let start = clock.day(event[\.startsAt])
        let end = clock.day(event[\.endsAt])
        let dates = start == end ? start : "\(start) to \(end)"
        let days = days(rows, clock)
        return EventPageContent(
            eventName: PageText(event[\.name]), eventDates: PageText(dates),
            eventPlace: PageText(nonEmpty: event[\.locationName]),
            eventDetails: PageText(nonEmpty: event[\.details]),
            eventWebsite: PageText(webAddress: event[\.websiteURL]), zone: PageText(clock.name),
            hasTickets: !rows.tickets.isEmpty, tickets: rows.tickets.map(ticket), hasSchedule: !days.isEmpty,
            days: days)
    }

    private func ticket(_ row: ClassRow<Ticket>) -> EventPageContent.Ticket {
        let money = Money.text(minorUnits: Int64(row[\.price]), currency: row[\.currency])
        let price: String =
            switch row[\.kind] {
            case .paid: money
            case .donation: "from \(money)"
            case .free: "free"
            }
        return EventPageContent.Ticket(
            ticketName: PageText(row[\.name]), ticketPrice: PageText(price),
            ticketDetails: PageText(nonEmpty: row[\.details]))
    }

    /// Sessions come sorted by start, those without one first: they go to the end.
    private func days(_ rows: Rows, _ clock: EventClock) -> [EventPageContent.Day] {
        var days: [(name: String, sessions: [EventPageContent.Session])] = []
        let unplanned = rows.sessions.filter { $0[\.startsAt] == nil }
        let planned = rows.sessions.filter { $0[\.startsAt] != nil }
        for row in planned + unplanned {
            let name = row[\.startsAt].map(clock.day) ?? "Not scheduled yet"
            let session = session(row, rows, clock)
            if days.last?.name == name {
                days[days.count - 1].sessions.append(session)
            } else {
                days.append((name, [session]))
            }
        }
        return days.map { EventPageContent.Day(dayName: PageText($0.name), sessions: $0.sessions) }
    }

    private func session(_ row: ClassRow<Session>, _ rows: Rows, _ clock: EventClock) -> EventPageContent.Session {
        let times = [row[\.startsAt], row[\.endsAt]].compactMap { $0.map(clock.time) }
        let speakers = (rows.speakersOfSession[row.key] ?? []).compactMap { rows.speakers[$0]?[\.name] }
        return EventPageContent.Session(
            sessionTime: PageText(nonEmpty: times.joined(separator: "–")),
            sessionTitle: PageText(row[\.title]), sessionSubtitle: PageText(nonEmpty: row[\.subtitle]),
            sessionRoom: PageText(nonEmpty: rows.rooms[row[keyOf: \.room]]?[\.name]),
            sessionTrack: PageText(nonEmpty: rows.tracks[row[keyOf: \.track]]?[\.name]),
            sessionSpeakers: PageText(nonEmpty: speakers.joined(separator: ", ")))
    }
}
