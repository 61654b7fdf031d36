import EventModels
import Testing
import TomboloModel
import TomboloRules

@Suite struct EventModelsTests {
    @Test func theSchemaHasEveryClassAndKeepsSecretsOut() {
        let schema = EventModels.schema
        #expect(
            schema.classes.map(\.name) == [
                "Event", "Microlocation", "Order", "RoleAssignment", "Session", "Session.speakers", "SocialLink",
                "Speaker", "SpeakerContact", "Sponsor", "Ticket", "Track", "User",
            ])
        for item in schema.classes {
            #expect(item.primaryKey?.name == "_id" && item.primaryKey?.type == .objectId)
            for column in item.columns {
                for word in ["password", "hash", "token", "secret", "salt"] {
                    #expect(!column.name.lowercased().contains(word), "\(item.name).\(column.name)")
                }
            }
        }
        #expect(schema["User"]?.table == "users" && schema["Order"]?.table == "orders")
        // Assignments have no trash: roles take effect, and end, immediately.
        let others = schema.classes.filter { !$0.isTrashable && $0.owner == nil }
        #expect(others.map(\.name) == ["RoleAssignment"])
    }

    @Test func onlyLongTextsAreMarkdown() {
        let texts = EventModels.schema.classes.flatMap { item in
            item.columns.filter(\.isMarkdown).map { "\(item.name).\($0.name)" }
        }
        #expect(
            texts == [
                "Event.details", "Event.organizerDescription", "Event.codeOfConduct", "Session.shortAbstract",
                "Session.longAbstract", "Speaker.shortBiography", "Speaker.longBiography", "Sponsor.details",
                "Ticket.details", "Track.details",
            ])
    }

    @Test func eventsAndRoomsHavePlaces() {
        let places = EventModels.schema.classes.flatMap { item in
            item.columns.filter { $0.coordinate != nil }.map { "\(item.name).\($0.name)" }
        }
        #expect(
            places == [
                "Event.latitude", "Event.longitude", "Microlocation.latitude", "Microlocation.longitude",
            ])
    }

    @Test func addressesAreOnlyInClassesThatOthersCannotSee() {
        let withAddress = EventModels.schema.classes.filter { item in
            item.columns.contains { $0.name.contains("email") || $0.name.contains("mobile") }
        }
        #expect(withAddress.map(\.name) == ["SpeakerContact", "User"])
    }

    @Test func anAssignmentGivesPlatformRolesOnlyOutsideEventsAndEventRolesOnlyInside() {
        let event = ObjectId(high: 1, low: 1)
        for name in RoleName.allCases {
            let isPlatform = name == .admin || name == .superAdmin
            #expect((RoleGrant(name, event: nil) != nil) == isPlatform)
            #expect((RoleGrant(name, event: event) != nil) == !isPlatform)
        }
    }

    @Test func anUnknownRoleReadsAsTheWeakest() {
        #expect(RoleName._from(.string("emperor")) == .registrar)
        #expect(EventPrivacy._from(.string("?")) == .private)
        #expect(SessionState._from(.string("?")) == .draft)
        #expect(OrderState._from(.string("?")) == .initializing)
    }
}
