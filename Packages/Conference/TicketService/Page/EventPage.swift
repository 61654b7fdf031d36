import EventModels
import Foundation
import Mustache
import TomboloHTTP
import TomboloModel
import TomboloRules

/// The public page of an event: what anonymous visitors may see of it, its tickets and its programme.
struct EventPage: Sendable {
    private let reader: RowReader
    private let rules: Rules
    private let template: MustacheTemplate

    init(reader: RowReader) throws {
        self.reader = reader
        rules = EventModels.rules
        template = try MustacheTemplate(string: Self.template)
    }

    /// Of a published event's programme its page shows without a login what everybody who is logged in may read.
    private static let programme: Set<String> = ["Session", "Speaker", "Track", "Microlocation"]
    /// A user with no account and no role.
    private static let anyUser = Subject(user: ObjectId())

    /// - Throws: ``RequestFailure`` with status 404 for an event that is not published, in the trash, or not there.
    func html(event id: ObjectId) async throws -> String {
        let rows = try await reader.snapshot { try await read(id, $0) }
        return template.render(content(rows))
    }

    // MARK: Reading

    private struct Rows {
        var event: Fields
        var tickets: [Fields]
        var sessions: [Fields]
        var rooms: [Value: Fields]
        var tracks: [Value: Fields]
        var speakers: [Value: Fields]
        /// The speakers' keys of each session, in order.
        var speakersOfSession: [Value: [Value]]
    }

    nonisolated(nonsending) private func read(_ id: ObjectId, _ reader: RowReader) async throws -> Rows {
        func objects(_ name: String, sortedBy sort: [String] = []) async throws -> [Fields] {
            let subject = Self.programme.contains(name) ? Self.anyUser : .anonymous
            guard let item = rules.schema[name], let index = rules.schema.index(of: name),
                case .allowed(let filter) = rules.authorize(subject, .read, .objects(classIndex: index))
            else { return [] }
            let own = Predicate.compare(PropertyPath(name == "Event" ? "_id" : "event"), .equal, .objectId(id))
            return try await reader.objects(name, matching: .and([own, filter]), sortedBy: sort)
                .map { Fields(row: $0, item: item) }
        }
        guard let event = try await objects("Event").first else { throw RequestFailure.noSuchObject("Event") }
        let sessions = try await objects("Session", sortedBy: ["startsAt", "title"])
        func byKey(_ rows: [Fields]) -> [Value: Fields] {
            Dictionary(rows.map { ($0["_id"], $0) }, uniquingKeysWith: { first, _ in first })
        }
        return Rows(
            event: event, tickets: try await objects("Ticket", sortedBy: ["rank"]), sessions: sessions,
            rooms: byKey(try await objects("Microlocation")), tracks: byKey(try await objects("Track")),
            speakers: byKey(try await objects("Speaker")),
            speakersOfSession: try await reader.list(
                "speakers", of: "Session", owners: sessions.map { $0["_id"] }))
    }

    // MARK: Showing

    private func content(_ rows: Rows) -> EventPageContent {
        let event = rows.event
        let clock = EventClock(zone: event.text("timezone") ?? "UTC")
        let start = event.microseconds("startsAt").map(clock.day)
        let end = event.microseconds("endsAt").map(clock.day)
        let dates = start == end ? start ?? "" : "\(start ?? "") to \(end ?? "")"
        let days = days(rows, clock)
        return EventPageContent(
            eventName: PageText(event.text("name") ?? ""), eventDates: PageText(dates),
            eventPlace: PageText(nonEmpty: event.text("locationName")),
            eventDetails: PageText(nonEmpty: event.text("details")),
            eventWebsite: PageText(webAddress: event.text("websiteURL")), zone: PageText(clock.name),
            hasTickets: !rows.tickets.isEmpty, tickets: rows.tickets.map(ticket), hasSchedule: !days.isEmpty,
            days: days)
    }

    private func ticket(_ row: Fields) -> EventPageContent.Ticket {
        let money = Money.text(minorUnits: row.int("price") ?? 0, currency: row.text("currency") ?? "")
        let price: String =
            switch row.text("kind").flatMap(TicketKind.init(rawValue:)) {
            case .paid: money
            case .donation: "from \(money)"
            case .free, nil: "free"
            }
        return EventPageContent.Ticket(
            ticketName: PageText(row.text("name") ?? ""), ticketPrice: PageText(price),
            ticketDetails: PageText(nonEmpty: row.text("details")))
    }

    /// Sessions come sorted by start, those without one first: they go to the end.
    private func days(_ rows: Rows, _ clock: EventClock) -> [EventPageContent.Day] {
        var days: [(name: String, sessions: [EventPageContent.Session])] = []
        let unplanned = rows.sessions.filter { $0.microseconds("startsAt") == nil }
        let planned = rows.sessions.filter { $0.microseconds("startsAt") != nil }
        for row in planned + unplanned {
            let name = row.microseconds("startsAt").map(clock.day) ?? "Not scheduled yet"
            let session = session(row, rows, clock)
            if days.last?.name == name {
                days[days.count - 1].sessions.append(session)
            } else {
                days.append((name, [session]))
            }
        }
        return days.map { EventPageContent.Day(dayName: PageText($0.name), sessions: $0.sessions) }
    }

    private func session(_ row: Fields, _ rows: Rows, _ clock: EventClock) -> EventPageContent.Session {
        let times = [row.microseconds("startsAt"), row.microseconds("endsAt")].compactMap { $0.map(clock.time) }
        let speakers = (rows.speakersOfSession[row["_id"]] ?? []).compactMap { rows.speakers[$0]?.text("name") }
        return EventPageContent.Session(
            sessionTime: PageText(nonEmpty: times.joined(separator: "–")),
            sessionTitle: PageText(row.text("title") ?? ""), sessionSubtitle: PageText(nonEmpty: row.text("subtitle")),
            sessionRoom: PageText(nonEmpty: rows.rooms[row["room"]]?.text("name")),
            sessionTrack: PageText(nonEmpty: rows.tracks[row["track"]]?.text("name")),
            sessionSpeakers: PageText(nonEmpty: speakers.joined(separator: ", ")))
    }
}
