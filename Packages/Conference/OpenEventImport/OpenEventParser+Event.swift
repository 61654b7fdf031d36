import EventModels
import Foundation
import TomboloModel

extension OpenEventParser {
    struct ParsedEvent {
        let identity: OpenEventIdentity
        let key: ObjectId
        let name: String
        let zone: TimeZone
        let isPublic: Bool
        let draft: RowDraft
        let links: [RowDraft]
        let setAsideLinkCount: Int
    }

    mutating func parseEvent() -> ParsedEvent? {
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
            record.fail(
                "ends_at", expected: "a date not before the event's start",
                found: "\(record.shown("ends_at", "end_time")), earlier than \(record.shown("starts_at", "start_time"))"
            )
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
        finish(copyright, or: .export)
        var links: [RowDraft] = []
        let linkRecords = record.records("social_links")
        for (position, var link) in linkRecords.enumerated() {
            var row = RowDraft("SocialLink", identity.id("SocialLink", link.id ?? "", occurrence: position))
            row["event"] = .objectId(key)
            row["isPublic"] = .bool(isPublic)
            row["name"] = .string(link.requiredText("name"))
            row["url"] = .string(link.requiredText("link"))
            row["sourceID"] = .optional(link.text("id"))
            if finish(link, or: .record) { links.append(row) }
        }
        finish(record, or: .export)
        return ParsedEvent(
            identity: identity, key: key, name: name, zone: zone.zone, isPublic: isPublic, draft: draft, links: links,
            setAsideLinkCount: linkRecords.count - links.count)
    }

    private mutating func zone(_ record: inout OpenEventRecord) -> (name: String, zone: TimeZone) {
        let utc = TimeZone(secondsFromGMT: 0) ?? .current
        guard let name = record.text("timezone") else {
            note(record, "the event has no timezone; UTC was used")
            return ("UTC", utc)
        }
        // Abbreviations such as EST are accepted too, but don't say which zone's summer time to use.
        guard let zone = TimeZone(identifier: name) else {
            record.fail(
                "timezone", expected: "an IANA name such as Europe/Berlin",
                found: "\"\(name.shortened(toByteCount: 60))\"")
            return ("UTC", utc)
        }
        return (name, zone)
    }
}
