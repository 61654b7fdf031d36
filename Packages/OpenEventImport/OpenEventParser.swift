import EventModels
import Foundation
import TomboloModel

/// Reads the files of an export into rows, and writes down everything that is wrong or odd.
struct OpenEventParser {
    /// Larger files are refused, in bytes: they are read into memory whole.
    static let maximumFileByteCount = 64 << 20

    private let folder: URL
    private var problems: [OpenEventProblem] = []
    private var notes: [OpenEventNote] = []

    init(folder: String) { self.folder = URL(fileURLWithPath: folder, isDirectory: true) }

    mutating func parse() throws(OpenEventError) -> OpenEventExport {
        guard let event = parseEvent() else { throw OpenEventError(problems: problems) }
        let tracks = parseTracks(event)
        let rooms = parseRooms(event)
        let sponsors = parseSponsors(event)
        let speakers = parseSpeakers(event)
        let sessions = parseSessions(event, tracks: tracks, rooms: rooms, speakers: speakers)
        guard problems.isEmpty else { throw OpenEventError(problems: problems) }

        func part(_ className: String, _ listing: Listing) -> OpenEventExport.Part {
            OpenEventExport.Part(
                className: className, file: listing.file, recordCount: listing.recordCount,
                rows: listing.entries.map(\.draft.row))
        }
        func derived(_ className: String, _ file: String, _ rows: [Row]) -> OpenEventExport.Part {
            OpenEventExport.Part(className: className, file: file, recordCount: rows.count, rows: rows)
        }
        return OpenEventExport(
            eventID: event.key, eventName: event.name,
            parts: [
                derived("Event", "event.json", [event.draft.row]),
                derived("SocialLink", "event.json", event.links.map(\.row)),
                part("Track", tracks), part("Microlocation", rooms), part("Sponsor", sponsors),
                part("Speaker", speakers.listing),
                derived("SpeakerContact", speakers.listing.file, speakers.contacts.map(\.row)),
                part("Session", sessions.listing),
                derived("Session.speakers", sessions.listing.file, sessions.elements.map(\.row)),
            ],
            notes: notes, people: speakers.people, emailOfSpeaker: speakers.emails)
    }

    // MARK: Files

    /// The records of a list file; none, with a note, where there is no such file.
    private mutating func records(_ file: String) -> [OpenEventRecord] {
        guard FileManager.default.fileExists(atPath: folder.appendingPathComponent(file).path) else {
            notes.append(
                OpenEventNote(file: file, record: nil, message: "there is no such file; nothing was imported from it"))
            return []
        }
        guard let value = load(file) else { return [] }
        guard case .array(let elements) = value else {
            problems.append(
                OpenEventProblem(
                    file: file, record: nil, id: nil, field: nil, expected: "a list of objects", found: value.summary))
            return []
        }
        var result: [OpenEventRecord] = []
        for (position, element) in elements.enumerated() {
            if case .object(let members) = element {
                result.append(OpenEventRecord(file: file, number: position + 1, members))
            } else {
                problems.append(
                    OpenEventProblem(
                        file: file, record: position + 1, id: nil, field: nil, expected: "an object",
                        found: element.summary))
            }
        }
        return result
    }

    private mutating func load(_ file: String) -> JSONValue? {
        func fail(_ expected: String, _ found: String) {
            problems.append(
                OpenEventProblem(file: file, record: nil, id: nil, field: nil, expected: expected, found: found))
        }
        let url = folder.appendingPathComponent(file)
        let size = (try? FileManager.default.attributesOfItem(atPath: url.path)[.size]) as? Int ?? 0
        guard size <= Self.maximumFileByteCount else {
            fail("at most \(Self.maximumFileByteCount) bytes", "\(size) bytes")
            return nil
        }
        guard let data = FileManager.default.contents(atPath: url.path) else {
            let isThere = FileManager.default.fileExists(atPath: url.path)
            fail("a readable file in \(folder.path)", isThere ? "one that cannot be read" : "no such file")
            return nil
        }
        do {
            return try JSONDecoder().decode(JSONValue.self, from: data)
        } catch DecodingError.dataCorrupted(let context) {
            let cause = (context.underlyingError as NSError?)?.userInfo["NSDebugDescription"] as? String
            fail("JSON", "none: \((cause ?? context.debugDescription).trimmingCharacters(in: ["."]))")
        } catch {
            fail("JSON", "none: \(error)")
        }
        return nil
    }

    /// Takes over what a record's readers found wrong.
    private mutating func finish(_ record: OpenEventRecord) { problems.append(contentsOf: record.problems) }

    private mutating func note(_ record: OpenEventRecord, _ message: String) {
        notes.append(OpenEventNote(file: record.file, record: record.number, message: message))
    }

    // MARK: Lists

    /// The records of one file, as rows.
    private struct Listing {
        struct Entry {
            let record: OpenEventRecord
            let key: ObjectId
            let sourceID: String
            let name: String
            var draft: RowDraft
        }

        let file: String
        let recordCount: Int
        var entries: [Entry] = []
        var index: OpenEventIndex { OpenEventIndex(file: file, entries.map { ($0.sourceID, $0.name) }) }
    }

    /// Reads a list file; `fill` reads the fields beyond id, event and name.
    private mutating func listing(
        _ file: String, _ className: String, _ event: ParsedEvent, nameField: String = "name",
        fill: (inout OpenEventRecord, inout RowDraft) -> Void
    ) -> Listing {
        let records = records(file)
        var listing = Listing(file: file, recordCount: records.count)
        var occurrences: [String: Int] = [:]
        for var record in records {
            let sourceID = record.requiredID()
            let occurrence = occurrences[sourceID, default: 0]
            occurrences[sourceID] = occurrence + 1
            if occurrence > 0 {
                note(record, "id \(sourceID) was used by an earlier record; both were imported as objects of their own")
            }
            if record.text("deleted_at") != nil {
                note(record, "'\(sourceID)' is marked as deleted and was left out")
                finish(record)
                continue
            }
            let key = event.identity.id(className, sourceID, occurrence: occurrence)
            var draft = RowDraft(className, key)
            draft["event"] = .objectId(event.key)
            draft["isPublic"] = .bool(event.isPublic)
            draft["sourceID"] = .string(sourceID)
            let name = record.requiredText(nameField)
            draft[nameField] = .string(name)
            fill(&record, &draft)
            finish(record)
            listing.entries.append(.init(record: record, key: key, sourceID: sourceID, name: name, draft: draft))
        }
        return listing
    }

    private mutating func parseTracks(_ event: ParsedEvent) -> Listing {
        listing("tracks.json", "Track", event) { record, draft in
            draft["details"] = .optional(record.text("description"))
            draft["color"] = .optional(record.text("color"))
            draft["fontColor"] = .optional(record.text("font_color"))
        }
    }

    private mutating func parseRooms(_ event: ParsedEvent) -> Listing {
        listing("microlocations.json", "Microlocation", event) { record, draft in
            draft["floor"] = .optional(record.integer("floor"))
            draft["room"] = .optional(record.text("room"))
            draft["latitude"] = .optional(record.number("latitude", in: -90...90))
            draft["longitude"] = .optional(record.number("longitude", in: -180...180))
        }
    }

    private mutating func parseSponsors(_ event: ParsedEvent) -> Listing {
        listing("sponsors.json", "Sponsor", event) { record, draft in
            draft["details"] = .optional(record.text("description"))
            draft["url"] = .optional(record.text("url"))
            draft["logoURL"] = .optional(record.text("logo_url", "logo"))
            draft["type"] = .optional(record.text("type"))
            draft["level"] = .optional(record.integer("level"))
        }
    }

    // MARK: Event

    private struct ParsedEvent {
        let identity: OpenEventIdentity
        let key: ObjectId
        let name: String
        let zone: TimeZone
        let isPublic: Bool
        let draft: RowDraft
        let links: [RowDraft]
    }

    private mutating func parseEvent() -> ParsedEvent? {
        guard let value = load("event.json") else { return nil }
        guard case .object(let members) = value else {
            problems.append(
                OpenEventProblem(
                    file: "event.json", record: nil, id: nil, field: nil, expected: "an object", found: value.summary))
            return nil
        }
        var record = OpenEventRecord(file: "event.json", number: 1, members)
        let sourceID = record.requiredID()
        let identifier = record.text("identifier") ?? ""
        let identity = OpenEventIdentity(identifier: identifier, sourceID: sourceID)
        let key = identity.id("Event")
        let zone = zone(&record)
        let state = record.option("state", default: EventState.draft)
        let privacy = record.option("privacy", default: EventPrivacy.public)
        let isPublic = state == .published && privacy == .public
        var draft = RowDraft("Event", key)
        let name = record.requiredText("name")
        draft["name"] = .string(name)
        draft["identifier"] = .string(identifier)
        draft["sourceID"] = .string(sourceID)
        draft["details"] = .optional(record.text("description"))
        draft["timezone"] = .string(zone.name)
        let startsAt = record.date("starts_at", "start_time", zone: zone.zone)
        let endsAt = record.date("ends_at", "end_time", zone: zone.zone)
        for (field, time) in [("starts_at", startsAt), ("ends_at", endsAt)] where time == nil && record.problems.isEmpty
        {
            record.fail(field, expected: "a date", found: "nothing")
        }
        if let startsAt, let endsAt, endsAt < startsAt {
            record.fail("ends_at", expected: "a date that is not before the event's beginning", found: "an earlier one")
        }
        draft["startsAt"] = .date(startsAt ?? 0)
        draft["endsAt"] = .date(endsAt ?? 0)
        draft["locationName"] = .optional(record.text("location_name"))
        draft["latitude"] = .optional(record.number("latitude", in: -90...90))
        draft["longitude"] = .optional(record.number("longitude", in: -180...180))
        draft["state"] = .string(state.rawValue)
        draft["privacy"] = .string(privacy.rawValue)
        draft["organizerName"] = .optional(record.text("organizer_name"))
        draft["organizerDescription"] = .optional(record.text("organizer_description"))
        draft["logoURL"] = .optional(record.text("logo_url", "logo"))
        draft["imageURL"] = .optional(record.text("original_image_url", "large_image_url"))
        draft["ticketURL"] = .optional(record.text("ticket_url"))
        draft["websiteURL"] = .optional(record.text("external_event_url", "event_url"))
        draft["type"] = .optional(record.text("type"))
        draft["topic"] = .optional(record.text("topic"))
        draft["subTopic"] = .optional(record.text("sub_topic"))
        draft["codeOfConduct"] = .optional(record.text("code_of_conduct"))
        var copyright = record.record("event_copyright")
        draft["copyrightHolder"] = .optional(copyright.text("holder"))
        draft["copyrightYear"] = .optional(copyright.integer("year"))
        draft["licence"] = .optional(copyright.text("licence"))
        draft["licenceURL"] = .optional(copyright.text("licence_url"))
        finish(copyright)
        var links: [RowDraft] = []
        for (position, var link) in record.records("social_links").enumerated() {
            var row = RowDraft("SocialLink", identity.id("SocialLink", link.id ?? "", occurrence: position))
            row["event"] = .objectId(key)
            row["isPublic"] = .bool(isPublic)
            row["name"] = .string(link.requiredText("name"))
            row["url"] = .string(link.requiredText("link"))
            row["sourceID"] = .optional(link.id)
            finish(link)
            links.append(row)
        }
        finish(record)
        return ParsedEvent(
            identity: identity, key: key, name: name, zone: zone.zone, isPublic: isPublic, draft: draft, links: links)
    }

    private mutating func zone(_ record: inout OpenEventRecord) -> (name: String, zone: TimeZone) {
        let utc = TimeZone(secondsFromGMT: 0) ?? .current
        guard let name = record.text("timezone") else {
            note(record, "the event has no timezone; UTC was taken")
            return ("UTC", utc)
        }
        // Abbreviations such as EST are read too, but do not say which zone's summer time to use.
        guard let zone = TimeZone(identifier: name) else {
            record.fail("timezone", expected: "an IANA name such as Europe/Berlin", found: "\"\(name.prefix(60))\"")
            return ("UTC", utc)
        }
        return (name, zone)
    }

    // MARK: Speakers

    private struct ParsedSpeakers {
        var listing: Listing
        var contacts: [RowDraft] = []
        var people: [OpenEventExport.Person] = []
        var emails: [ObjectId: String] = [:]
    }

    private mutating func parseSpeakers(_ event: ParsedEvent) -> ParsedSpeakers {
        var result = ParsedSpeakers(
            listing: listing("speakers.json", "Speaker", event) { record, draft in
                for (property, field) in [
                    ("organisation", "organisation"), ("position", "position"), ("shortBiography", "short_biography"),
                    ("longBiography", "long_biography"), ("photoURL", "photo_url"), ("website", "website"),
                    ("twitter", "twitter"), ("facebook", "facebook"), ("github", "github"), ("linkedin", "linkedin"),
                    ("city", "city"), ("country", "country"),
                ] { draft[property] = .optional(record.text(field)) }
                draft["isFeatured"] = .bool(record.flag("is_featured"))
            })
        var known: Set<String> = []
        for entry in result.listing.entries {
            var record = entry.record
            let email = record.text("email")
            let mobile = record.text("mobile")
            guard email != nil || mobile != nil else { continue }
            var contact = RowDraft("SpeakerContact", event.identity.id("SpeakerContact", entry.key.stringValue))
            contact["event"] = .objectId(event.key)
            contact["speaker"] = .objectId(entry.key)
            contact["email"] = .optional(email)
            contact["mobile"] = .optional(mobile)
            result.contacts.append(contact)
            guard let email = email?.lowercased() else { continue }
            guard email.split(separator: "@", omittingEmptySubsequences: false).map(\.isEmpty) == [false, false] else {
                note(record, "'\(email)' is no e-mail address; kept as a contact, without a user")
                continue
            }
            result.emails[entry.key] = email
            if known.insert(email).inserted { result.people.append(.init(email: email, name: entry.name)) }
        }
        return result
    }

    // MARK: Sessions

    private mutating func parseSessions(
        _ event: ParsedEvent, tracks: Listing, rooms: Listing, speakers: ParsedSpeakers
    ) -> (listing: Listing, elements: [RowDraft]) {
        var listing = listing("sessions.json", "Session", event, nameField: "title") { record, draft in
            for (property, field) in [
                ("subtitle", "subtitle"), ("shortAbstract", "short_abstract"), ("longAbstract", "long_abstract"),
                ("language", "language"), ("level", "level"), ("slidesURL", "slides_url"), ("audioURL", "audio_url"),
                ("videoURL", "video_url"), ("signupURL", "signup_url"),
            ] { draft[property] = .optional(record.text(field)) }
            let startsAt = record.date("starts_at", "start_time", zone: event.zone)
            let endsAt = record.date("ends_at", "end_time", zone: event.zone)
            if let startsAt, let endsAt, endsAt < startsAt {
                record.fail("ends_at", expected: "a date that is not before the beginning", found: "an earlier one")
            }
            draft["startsAt"] = .optional(date: startsAt)
            draft["endsAt"] = .optional(date: endsAt)
            draft["state"] = .string(record.option("state", default: SessionState.pending).rawValue)
            draft["sessionType"] = .optional(record.reference("session_type")?.name)
        }
        let trackIndex = tracks.index
        let roomIndex = rooms.index
        let speakerIndex = speakers.listing.index
        var elements: [RowDraft] = []
        var spoken: [[Int]] = []
        for position in listing.entries.indices {
            let entry = listing.entries[position]
            var record = OpenEventRecord(copying: entry.record)
            if let reference = record.reference("track"), let found = find(reference, trackIndex, "track", &record) {
                listing.entries[position].draft["track"] = .objectId(tracks.entries[found].key)
            }
            if let reference = record.reference("microlocation"),
                let found = find(reference, roomIndex, "microlocation", &record)
            {
                listing.entries[position].draft["room"] = .objectId(rooms.entries[found].key)
            }
            var members: [Int] = []
            for reference in record.references("speakers") {
                guard let found = find(reference, speakerIndex, "speakers", &record) else { continue }
                if members.contains(found) {
                    note(record, "\(reference.summary) is named twice as a speaker; once is enough")
                } else {
                    members.append(found)
                }
            }
            spoken.append(members)
            finish(record)
            let ranks = (try? FractionalRank.sequence(count: members.count, between: nil, nil)) ?? []
            for (member, rank) in zip(members, ranks) {
                let speaker = speakers.listing.entries[member].key
                let identity = "\(entry.key.stringValue)/\(speaker.stringValue)"
                var element = RowDraft("Session.speakers", event.identity.id("Session.speakers", identity))
                element["owner"] = .objectId(entry.key)
                element["rank"] = .string(rank)
                element["target"] = .objectId(speaker)
                elements.append(element)
            }
        }
        noteDisagreements(listing, speakers.listing, spoken)
        return (listing, elements)
    }

    private mutating func find(
        _ reference: OpenEventReference, _ index: OpenEventIndex, _ field: String, _ record: inout OpenEventRecord
    ) -> Int? {
        switch index.find(reference) {
        case .found(let position): return position
        case .likely(let position, let message):
            note(record, "field '\(field)' has \(message)")
            return position
        case .none(let found):
            record.fail(field, expected: "a record of \(index.file)", found: found)
            return nil
        }
    }

    /// Speakers list their sessions too; where the two files differ, the sessions' file is believed.
    private mutating func noteDisagreements(_ sessions: Listing, _ speakers: Listing, _ spoken: [[Int]]) {
        let index = sessions.index
        for (position, entry) in speakers.entries.enumerated() {
            var record = OpenEventRecord(copying: entry.record)
            let claimed = record.references("sessions").compactMap { reference -> Int? in
                switch index.find(reference) {
                case .found(let found), .likely(let found, _): found
                case .none: nil
                }
            }
            finish(record)
            for session in claimed where !spoken[session].contains(position) {
                note(record, "lists session \(sessions.entries[session].sourceID), which does not list this speaker")
            }
        }
    }
}

extension OpenEventRecord {
    /// The same record without what was found wrong so far.
    init(copying other: OpenEventRecord) {
        self = other
        forgetProblems()
    }
}
