import EventModels
import Foundation
import Mustache
import TomboloHTTP
import TomboloModel
import TomboloRules

/// The public page of an event: what anonymous visitors may see of it, with its tickets and its programme.
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

    /// The programme of a published event. Without a login, the page shows what every logged-in user may read of
    /// these classes.
    private static let programme: Set<String> = ["Session", "Speaker", "Track", "Microlocation"]
    /// - Parameter rules: rules on the reader's classes.
    /// - Throws: ``RequestFailure`` with status 404 for an event that isn't published, is in the trash, or doesn't
    ///   exist.
    func html(event id: ObjectId, under rules: Rules) async throws -> Rendered<String> {
        let rows = try await read(id, rules)
        return Rendered(content: template.render(content(rows)), rows: rows.keys)
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
        /// Whether a list reached ``RowReader/rowLimit`` and may be incomplete.
        var isCut: Bool

        /// The keys of everything except the event.
        var keys: Set<ObjectId> {
            let values =
                tickets.map(\.key) + sessions.map(\.key) + Array(rooms.keys) + Array(tracks.keys)
                + Array(speakers.keys)
            return Set(values.compactMap { if case .objectId(let id) = $0 { id } else { nil } })
        }
    }

    /// Reads everything from one snapshot, in one round trip.
    private func read(_ id: ObjectId, _ rules: Rules) async throws -> Rows {
        /// - Parameter owner: the property that holds the event's key.
        func query<Class: Object>(
            _ table: ClassTable<Class>, of owner: PartialKeyPath<Class>, sortedBy sort: [PartialKeyPath<Class>] = []
        ) throws -> RowQuery {
            let subject = Self.programme.contains(table.item.name) ? AnonymousAnswers.anyUser : .anonymous
            let access = rules.authorize(subject, .read, .objects(classIndex: table.classIndex))
            let own = Predicate.compare(PropertyPath(of: owner), .equal, .objectId(id))
            return try reader.query(
                table.item.name, matching: .all([own, (try? access.get()) ?? .constant(false)]),
                sortedBy: sort.map { PropertyPath(of: $0).description })
        }
        let speakers = PropertyPath(of: \Session.speakers).description
        let ofEvent = PropertyPath(["owner", PropertyPath(of: \Session.event).description])
        let found = try await reader.snapshot([
            query(tables.events, of: \._id), query(tables.tickets, of: \.event, sortedBy: [\.rank]),
            query(tables.sessions, of: \.event, sortedBy: [\.startsAt, \.title]),
            query(tables.rooms, of: \.event), query(tables.tracks, of: \.event), query(tables.speakers, of: \.event),
            reader.query(
                "\(tables.sessions.item.name).\(speakers)", matching: .compare(ofEvent, .equal, .objectId(id)),
                sortedBy: ["rank"]),
        ])
        func byKey<Class>(_ rows: [Row], _ table: ClassTable<Class>) -> [Value: ClassRow<Class>] {
            Dictionary(rows.map(table.row).map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        }
        guard let event = found[0].first else { throw RequestFailure.noSuchObject("Event") }
        return Rows(
            event: tables.events.row(event), tickets: found[1].map(tables.tickets.row),
            sessions: found[2].map(tables.sessions.row), rooms: byKey(found[3], tables.rooms),
            tracks: byKey(found[4], tables.tracks), speakers: byKey(found[5], tables.speakers),
            speakersOfSession: RowReader.lists(found[6]),
            isCut: found.contains { $0.count == RowReader.rowLimit })
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
            eventDetails: PageMarkdown(event[\.details], firstHeading: 2),
            eventWebsite: PageText(webAddress: event[\.websiteURL]), isCut: rows.isCut, zone: PageText(clock.name),
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
            ticketDetails: PageMarkdown(row[\.details], firstHeading: 3))
    }

    /// The sessions by day. They come sorted by start; those without a start come first and are moved to the end.
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
            sessionSpeakers: PageText(names: speakers))
    }
}
