import EventModels
import Testing
import TomboloModel
import TomboloRules

/// Ten roles × every class of a service × four operations, against the table of values below.
@Suite struct MatrixTableTests {
    private static let services = [
        "Event", "Ticket", "Order", "Track", "Session", "Speaker", "SpeakerContact", "Microlocation", "Sponsor",
        "SocialLink",
    ]

    /// Services without classes.
    private static let pages = ["trash", "auditLog", "devices", "accounts", "permissions"]

    /// For objects in a draft event, in the order of ``services``; ``EventRulesTests`` covers published objects.
    static let table: [(role: String, letters: String)] = [
        ("superAdmin", "crud crud crud crud crud crud crud crud crud crud"),
        // Administrators manage events, but nothing within them.
        ("admin", "crud ---- ---- ---- ---- ---- ---- ---- ---- ----"),
        ("owner", "-rud crud crud crud crud crud crud crud crud crud"),
        ("organizer", "-ru- crud cru- crud crud crud crud crud crud crud"),
        ("coorganizer", "-r-- -ru- -ru- -ru- -ru- -ru- -ru- -ru- -ru- -ru-"),
        ("trackOrganizer", "-r-- -r-- ---- crud -r-- -r-- ---- -r-- -r-- -r--"),
        ("moderator", "-r-- -r-- ---- -r-- -r-- -r-- ---- -r-- -r-- -r--"),
        ("registrar", "-r-- -r-- cru- -r-- -r-- -r-- ---- -r-- -r-- -r--"),
        ("attendee", "---- ---- ---- ---- ---- ---- ---- ---- ---- ----"),
        ("anonymous", "---- ---- ---- ---- ---- ---- ---- ---- ---- ----"),
    ]

    private func letters(_ role: String, _ name: String, in event: ObjectId) throws -> String {
        let (rules, schema) = (EventModels.rules, EventModels.schema)
        let index = try #require(schema.index(of: name))
        var row = Row(schema[index].columns.map { $0.isOptional ? .null : $0.type.zero })
        row[try #require(schema[index].columnIndex(name == "Event" ? "_id" : "event"))] = .objectId(event)
        let operations: [TomboloRules.Operation] = [.create, .read, .update, .delete]
        return String(
            operations.map { operation in
                let resource = Resource.object(classIndex: index, old: row, new: row)
                let decision = rules.authorize(EventRulesTests.subject(role), operation, resource)
                return decision.isAllowed ? operation.name.first ?? "?" : "-"
            })
    }

    @Test("in their own event and no other, every role may do with every service what the table says")
    func table() throws {
        #expect(Self.table.count == 10)
        for line in Self.table {
            let expected = line.letters.split(separator: " ").map(String.init)
            #expect(expected.count == Self.services.count)
            for (name, expected) in zip(Self.services, expected) {
                #expect(
                    try letters(line.role, name, in: EventRulesTests.event) == expected, "\(line.role) \(name)")
                let isOfPlatform = ["superAdmin", "admin"].contains(line.role)
                #expect(
                    try letters(line.role, name, in: EventRulesTests.otherEvent) == (isOfPlatform ? expected : "----"),
                    "\(line.role) \(name) in another event")
            }
        }
    }

    @Test("the document's matrix equals the table, and has every class that belongs to an event")
    func theDocument() throws {
        let matrix = try #require(EventModels.rules.matrices["conference.rules.yaml"])
        #expect(matrix.services.flatMap(\.classNames) == Self.services)
        let rows = Self.table.filter { matrix.roles.contains($0.role) }
        #expect(rows.map(\.role) == matrix.roles)
        for line in rows {
            let found = matrix.services.filter { !$0.classNames.isEmpty }
                .map { matrix.letters(role: line.role, service: $0.name) }
            for service in Self.pages { #expect(matrix.letters(role: line.role, service: service) == "----") }
            #expect(found.joined(separator: " ") == line.letters, "\(line.role)")
        }
        let ofEvents = EventModels.schema.classes.filter { $0.owner == nil && $0.columnIndex("event") != nil }
        #expect(Set(ofEvents.map(\.name)) == Set(Self.services).subtracting(["Event"]).union(["RoleAssignment"]))
    }

    @Test(
        "administrators have the boxes of the panel's pages that they had rights for, and every box has an effect"
    )
    func pages() throws {
        let matrix = try #require(EventModels.rules.matrices["conference.rules.yaml"])
        #expect(matrix.services.filter(\.classNames.isEmpty).map(\.name) == Self.pages)
        let letters = Self.pages.map { matrix.letters(role: "admin", service: $0) }
        #expect(letters == ["-rud", "-r--", "----", "-r--", "-r--"])
        #expect(!EventModels.rules.notes.contains { $0.contains("matrix, role") })
        func counting(_ role: String) -> [String] {
            Self.pages.map { service in
                PermissionMatrix.operations.filter {
                    matrix.counts(.init(role: role, service: service, operation: $0))
                }.map { String($0.name.prefix(1)) }.joined()
            }
        }
        #expect(counting("admin") == ["rud", "r", "r", "ru", "r"])
        #expect(counting("owner") == ["rud", "r", "", "", ""])
    }

    @Test("super administrators can change the matrix, administrators can see it, and nobody else can do either")
    func access() throws {
        for role in Self.table.map(\.role) {
            let subject = EventRulesTests.subject(role)
            func may(_ operation: TomboloRules.Operation) -> Bool {
                EventModels.rules.refusal(subject, operation, ofMatrixIn: "conference.rules.yaml") == nil
            }
            #expect(may(.update) == (role == "superAdmin"), "\(role)")
            #expect(may(.read) == ["superAdmin", "admin"].contains(role), "\(role)")
            #expect(may(.listAccounts) == ["superAdmin", "admin"].contains(role), "\(role)")
            #expect(may(.manageAccounts) == (role == "superAdmin"), "\(role)")
        }
    }
}
