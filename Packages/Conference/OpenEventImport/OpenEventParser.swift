import EventModels
import Foundation
import TomboloModel

/// Reads the files of an export into rows, and records everything that is wrong or odd.
///
/// The effect of a fault depends on where it is. A fault in a link costs the link; in another field, the record; in
/// the event or a whole file, the import. In a strict parser, any fault refuses the whole export.
struct OpenEventParser {
    let folder: URL
    let isStrict: Bool
    var problems: [OpenEventProblem] = []
    var notes: [OpenEventNote] = []

    init(folder: String, isStrict: Bool) {
        self.folder = URL(fileURLWithPath: folder, isDirectory: true)
        self.isStrict = isStrict
    }

    mutating func parse() throws(OpenEventError) -> OpenEventExport {
        guard let event = parseEvent() else { throw OpenEventError(problems: problems) }
        let tracks = parseTracks(event)
        let rooms = parseRooms(event)
        let sponsors = parseSponsors(event)
        let speakers = parseSpeakers(event)
        let sessions = parseSessions(event, tracks: tracks, rooms: rooms, speakers: speakers)
        let fatal = isStrict ? problems : problems.filter { $0.extent == .export }
        guard fatal.isEmpty else { throw OpenEventError(problems: fatal) }

        func part(_ className: String, _ listing: Listing) -> OpenEventExport.Part {
            OpenEventExport.Part(
                className: className, file: listing.file, recordCount: listing.recordCount,
                setAsideCount: listing.setAsideCount, rows: listing.entries.map(\.draft.row))
        }
        func derived(_ className: String, _ file: String, _ rows: [Row], setAside: Int = 0) -> OpenEventExport.Part {
            OpenEventExport.Part(
                className: className, file: file, recordCount: rows.count + setAside, setAsideCount: setAside,
                rows: rows)
        }
        return OpenEventExport(
            eventID: event.key, eventName: event.name,
            parts: [
                derived("Event", "event.json", [event.draft.row]),
                derived("SocialLink", "event.json", event.links.map(\.row), setAside: event.setAsideLinkCount),
                part("Track", tracks), part("Microlocation", rooms), part("Sponsor", sponsors),
                part("Speaker", speakers.listing),
                derived("SpeakerContact", speakers.listing.file, speakers.contacts.map(\.row)),
                part("Session", sessions.listing),
                derived(
                    "Session.speakers", sessions.listing.file, sessions.elements.map(\.row),
                    setAside: sessions.lostElementCount),
            ],
            notes: notes, setAside: problems, people: speakers.people, emailOfSpeaker: speakers.emails)
    }

    /// Takes over the problems that a record's readers found.
    /// - Parameter extent: what is left out because of them.
    /// - Returns: whether there were none.
    @discardableResult
    mutating func finish(_ record: OpenEventRecord, or extent: OpenEventProblem.Extent) -> Bool {
        for var problem in record.problems {
            problem.extent = extent
            problems.append(problem)
        }
        return record.problems.isEmpty
    }

    mutating func note(_ record: OpenEventRecord, _ message: String) {
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
        var setAsideCount = 0
        /// The imported records.
        var entries: [Entry] = []
        /// Everything that references may refer to, in the order of the file.
        var targets: [OpenEventIndex.Entry] = []
        var index: OpenEventIndex { OpenEventIndex(file: file, targets) }
    }

    /// Reads a list file; `fill` reads the fields beyond id, event and name.
    private mutating func listing(
        _ file: String, _ className: String, _ event: ParsedEvent, nameField: String = "name",
        fill: (inout OpenEventRecord, inout RowDraft) -> Void
    ) -> Listing {
        let (records, strayCount) = records(file)
        var listing = Listing(file: file, recordCount: records.count + strayCount, setAsideCount: strayCount)
        var occurrences: [String: Int] = [:]
        for var record in records {
            let sourceID = record.requiredID()
            let occurrence = occurrences[sourceID, default: 0]
            occurrences[sourceID] = occurrence + 1
            if occurrence > 0, !sourceID.isEmpty {
                note(record, "id \(sourceID) was used by an earlier record; each becomes a separate object")
            }
            if record.text("deleted_at") != nil {
                note(record, "'\(sourceID)' is marked as deleted and was left out")
                if isStrict { finish(record, or: .record) }
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
            // A strict import continues, to find further problems.
            let isImported = finish(record, or: .record) || isStrict
            listing.targets.append(
                .init(id: sourceID, name: name, fate: isImported ? .imported(listing.entries.count) : .setAside))
            if isImported {
                listing.entries.append(.init(record: record, key: key, sourceID: sourceID, name: name, draft: draft))
            } else {
                listing.setAsideCount += 1
            }
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
                // The values are read again below, for imported speakers only.
                _ = (record.text("email"), record.text("mobile"))
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
                note(record, "'\(email)' isn't an e-mail address; kept as a contact without a user")
                continue
            }
            result.emails[entry.key] = email
            if known.insert(email).inserted { result.people.append(.init(email: email, name: entry.name)) }
        }
        return result
    }

    // MARK: Sessions

    private struct ParsedSessions {
        let listing: Listing
        let elements: [RowDraft]
        let lostElementCount: Int
    }

    private mutating func parseSessions(
        _ event: ParsedEvent, tracks: Listing, rooms: Listing, speakers: ParsedSpeakers
    ) -> ParsedSessions {
        var listing = listing("sessions.json", "Session", event, nameField: "title") { record, draft in
            for (property, field) in [
                ("subtitle", "subtitle"), ("shortAbstract", "short_abstract"), ("longAbstract", "long_abstract"),
                ("language", "language"), ("level", "level"), ("slidesURL", "slides_url"), ("audioURL", "audio_url"),
                ("videoURL", "video_url"), ("signupURL", "signup_url"),
            ] { draft[property] = .optional(record.text(field)) }
            let startsAt = record.date("starts_at", "start_time", zone: event.zone)
            let endsAt = record.date("ends_at", "end_time", zone: event.zone)
            if let startsAt, let endsAt, endsAt < startsAt {
                record.fail(
                    "ends_at", expected: "a date not before the start",
                    found:
                        "\(record.shown("ends_at", "end_time")), earlier than \(record.shown("starts_at", "start_time"))"
                )
            }
            draft["startsAt"] = .optional(date: startsAt)
            draft["endsAt"] = .optional(date: endsAt)
            draft["state"] = .string(record.option("state", default: SessionState.pending).rawValue)
        }
        let trackIndex = tracks.index
        let roomIndex = rooms.index
        let speakerIndex = speakers.listing.index
        var elements: [RowDraft] = []
        var spoken: [[Int]] = []
        var lostElementCount = 0
        for position in listing.entries.indices {
            let entry = listing.entries[position]
            var record = OpenEventRecord(copying: entry.record)
            listing.entries[position].draft["sessionType"] = .optional(record.reference("session_type")?.name)
            if let reference = record.reference("track"), let found = find(reference, trackIndex, "track", &record) {
                listing.entries[position].draft["track"] = .objectId(tracks.entries[found].key)
            }
            if let reference = record.reference("microlocation"),
                let found = find(reference, roomIndex, "microlocation", &record)
            {
                listing.entries[position].draft["room"] = .objectId(rooms.entries[found].key)
            }
            finish(record, or: .link)
            record.forgetProblems()
            var members: [Int] = []
            for reference in record.references("speakers") {
                guard let found = find(reference, speakerIndex, "speakers", &record) else { continue }
                if members.contains(found) {
                    note(record, "\(reference.summary) is listed twice as a speaker; the second was ignored")
                } else {
                    members.append(found)
                }
            }
            spoken.append(members)
            lostElementCount += record.problems.count
            finish(record, or: .link)
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
        return ParsedSessions(listing: listing, elements: elements, lostElementCount: lostElementCount)
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
        case .setAside:
            record.fail(
                field, expected: "a record of \(index.file)", found: "\(reference.summary), which was set aside")
            return nil
        }
    }

    /// Notes where the two files disagree. Speakers list their sessions too; the sessions' file is used.
    private mutating func noteDisagreements(_ sessions: Listing, _ speakers: Listing, _ spoken: [[Int]]) {
        let index = sessions.index
        for (position, entry) in speakers.entries.enumerated() {
            var record = OpenEventRecord(copying: entry.record)
            let claimed = record.references("sessions").compactMap { reference -> Int? in
                switch index.find(reference) {
                case .found(let found), .likely(let found, _): found
                case .setAside, .none: nil
                }
            }
            if isStrict {
                finish(record, or: .link)
            } else {
                for problem in record.problems {
                    note(
                        record,
                        "field 'sessions' has \(problem.found) where \(problem.expected) was expected; the sessions' file "
                            + "decides who speaks")
                }
            }
            for session in claimed where !spoken[session].contains(position) {
                note(record, "lists session \(sessions.entries[session].sourceID), which doesn't list this speaker")
            }
        }
    }
}

extension OpenEventRecord {
    /// The same record, without the problems found so far.
    init(copying other: OpenEventRecord) {
        self = other
        forgetProblems()
    }
}
