import TomboloHTTP
import TomboloModel

/// A class to crawl, with its collection's name in URLs and a property to write.
struct CrawlKind {
    let name: String
    /// The service's name in the matrix, or the collection's name if the class isn't in the matrix.
    let service: String
    let property: String
    /// The property's values before and after a write.
    var before = "before"
    var after = "after"
    /// A text property whose values must be unique within an event.
    var unique: String?
    var isOfEvent = true

    static let event = CrawlKind(name: "Event", service: "events", property: "name")
    /// The classes that have boxes in the matrix, except events.
    static let ofMatrix = [
        CrawlKind(name: "Ticket", service: "tickets", property: "name", unique: "rank"),
        CrawlKind(name: "Order", service: "orders", property: "currency", unique: "identifier"),
        CrawlKind(name: "Track", service: "tracks", property: "name"),
        CrawlKind(name: "Session", service: "sessions", property: "title"),
        CrawlKind(name: "Speaker", service: "speakers", property: "name"),
        CrawlKind(name: "SpeakerContact", service: "speakerContacts", property: "mobile"),
        CrawlKind(name: "Microlocation", service: "microlocations", property: "name"),
        CrawlKind(name: "Sponsor", service: "sponsors", property: "name"),
        CrawlKind(name: "SocialLink", service: "socialLinks", property: "name"),
    ]
    static let assignment = CrawlKind(
        name: "RoleAssignment", service: "role_assignments", property: "role", before: "registrar", after: "moderator")
    static let user = CrawlKind(
        name: "User", service: "users", property: "displayName", unique: "email", isOfEvent: false)
    /// Belongs to another app in the same database.
    static let listing = CrawlKind(name: "Listing", service: "listings", property: "location", isOfEvent: false)
    /// All classes except events, whose deletion takes their objects along.
    static let all = ofMatrix + [assignment, user, listing]

    var item: ClassSchema? { Platform.schema[name] }
    var table: String { item?.table ?? "" }
    var column: String { item?.columns.first { $0.name == property }?.sqlName ?? property }
    var collection: String { ClassSchema.collectionName(of: name) }
    var isTrashable: Bool { item?.isTrashable ?? false }

    /// The values that a new object needs besides the property to write, by column.
    var required: [(column: Column, value: Value)] {
        let state = name == "Order" ? "placed" : "draft"
        let known = ["state": state, "privacy": "public", "kind": "free", "currency": "EUR", "timezone": "UTC"]
        let columns = item?.columns ?? []
        return columns.filter { !$0.isOptional && !$0.isPrimaryKey && $0.name != property }.compactMap { column in
            switch column.type {
            case .string: (column, .string(known[column.name] ?? "made"))
            // The beginning of 2030.
            case .date: (column, .date(1_893_456_000_000_000))
            default: nil
            }
        }
    }
}
