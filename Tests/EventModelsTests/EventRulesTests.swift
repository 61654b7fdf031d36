import EventModels
import Foundation
import Testing
import TomboloChangesets
import TomboloModel
import TomboloRules

@Suite struct EventRulesTests {
    static let event = ObjectId(high: 7, low: 1)
    static let otherEvent = ObjectId(high: 7, low: 2)
    static let user = ObjectId(high: 8, low: 1)
    static let stranger = ObjectId(high: 8, low: 2)
    private let rules = EventModels.rules
    private let schema = EventModels.schema

    /// A row of zeros except for the given properties.
    private func row(_ name: String, _ values: [String: Value]) throws -> Row {
        let item = try #require(schema[name])
        var row = Row(item.columns.map { $0.isOptional ? .null : $0.type.zero })
        for (property, value) in values { row[try #require(item.columnIndex(property), "\(name).\(property)")] = value }
        return row
    }

    private func index(_ name: String) throws -> Int { try #require(schema.index(of: name)) }

    static func subject(_ name: String) -> Subject {
        switch name {
        case "anonymous": .anonymous
        case "attendee": Subject(user: user)
        default:
            if let role = RoleName(rawValue: name),
                let grant = RoleGrant(role, event: RoleName.platformRoles.contains(role) ? nil : event)
            {
                Subject(user: user, grants: [grant])
            } else {
                .anonymous
            }
        }
    }

    /// A line of Open Event's matrix: a role, a class, and the seeded permissions.
    struct MatrixLine: CustomTestStringConvertible {
        let role: String
        let className: String
        let permitted: String

        var testDescription: String { "\(role) \(className)" }
    }

    static let matrix: [MatrixLine] = {
        let text = String(decoding: PackageResources.permission_matrix_csv, as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).dropFirst().map { line in
            let cells = line.split(separator: ",", omittingEmptySubsequences: false)
            let words = cells[0].split(separator: "_").map(String.init)
            let role = words[0] + words.dropFirst().map(\.capitalized).joined()
            return MatrixLine(role: role, className: cells[1].capitalized, permitted: String(cells[2].prefix(4)))
        }
    }()
    static let roles = matrix.reduce(into: [String]()) { if !$0.contains($1.role) { $0.append($1.role) } }

    @Test("the matrix that Open Event seeds holds", arguments: matrix)
    func theSeededMatrixHolds(_ line: MatrixLine) throws {
        let subject = Self.subject(line.role)
        let operations: [(Character, TomboloRules.Operation)] = [
            ("C", .create), ("R", .read), ("U", .update), ("D", .delete),
        ]
        for event in [Self.event, Self.otherEvent] {
            // The row is in a draft event, so rights to published objects don't count.
            let row = try row(line.className, ["event": .objectId(event), "isPublic": .bool(false)])
            for (letter, operation) in operations {
                let resource = Resource.object(classIndex: try index(line.className), old: row, new: row)
                let isExpected = line.permitted.contains(letter) && (event == Self.event || line.role == "superAdmin")
                #expect(
                    rules.authorize(subject, operation, resource).isAllowed == isExpected,
                    "\(operation) in \(event == Self.event ? "their" : "another") event")
            }
        }
    }

    @Test("the matrix has every role and every class")
    func theMatrixIsComplete() {
        #expect(Self.roles.count == 9 && Self.matrix.count == 45)
        #expect(Set(Self.matrix.map(\.className)) == ["Microlocation", "Session", "Speaker", "Sponsor", "Track"])
        for line in Self.matrix {
            let isWellFormed = line.permitted.wholeMatch(of: #/[C-][R-][U-][D-]/#) != nil
            #expect(isWellFormed, "\(line.permitted)")
        }
    }

    @Test(arguments: ["owner", "organizer", "coorganizer", "trackOrganizer"])
    func nobodyMovesAnObjectToAnotherEvent(_ role: String) throws {
        for service in ["Track", "Session", "Speaker", "Ticket", "SpeakerContact"] {
            let old = try row(service, ["event": .objectId(Self.event)])
            let new = try row(service, ["event": .objectId(Self.otherEvent)])
            let resource = Resource.object(classIndex: try index(service), old: old, new: new)
            #expect(!rules.authorize(Self.subject(role), .update, resource).isAllowed)
        }
    }

    @Test func attendeesReadTheProgrammeAndNoDrafts() throws {
        let read = rules.readable(Self.subject("attendee"))
        func sees(_ name: String, _ values: [String: Value]) throws -> Bool {
            let index = try index(name)
            return read(index).matches(try row(name, values), of: schema[index])
        }
        for state in SessionState.allCases {
            let inProgramme = state == .accepted || state == .confirmed
            #expect(
                try sees("Session", ["isPublic": .bool(true), "state": .string(state.rawValue)]) == inProgramme)
            #expect(try !sees("Session", ["isPublic": .bool(false), "state": .string(state.rawValue)]))
        }
        for name in ["Track", "Microlocation", "Speaker", "Sponsor", "SocialLink"] {
            #expect(try sees(name, ["isPublic": .bool(true)]))
            #expect(try !sees(name, [:]))
        }
        #expect(try sees("Ticket", ["isPublic": .bool(true)]))
        #expect(try !sees("Ticket", ["isPublic": .bool(true), "isHidden": .bool(true)]))
        #expect(try sees("Event", ["state": .string("published"), "privacy": .string("public")]))
        #expect(try !sees("Event", ["state": .string("draft"), "privacy": .string("public")]))
        #expect(try !sees("Event", ["state": .string("published"), "privacy": .string("private")]))
        #expect(read(try index("SpeakerContact")) == .constant(false))
    }

    @Test func attendeesSeeAndChangeOnlyTheirOwnAccount() throws {
        let subject = Self.subject("attendee")
        let users = try index("User")
        let mine = try row("User", ["_id": .objectId(Self.user)])
        let other = try row("User", ["_id": .objectId(Self.stranger)])
        #expect(rules.readable(subject)(users).matches(mine, of: schema[users]))
        #expect(!rules.readable(subject)(users).matches(other, of: schema[users]))
        let permit = rules.permit(subject)
        #expect(permit(WriteRequest(operation: .update, classIndex: users, old: mine, new: mine)) == nil)
        #expect(permit(WriteRequest(operation: .update, classIndex: users, old: other, new: other)) != nil)
        #expect(permit(WriteRequest(operation: .create, classIndex: users, old: nil, new: mine)) != nil)
        #expect(permit(WriteRequest(operation: .delete, classIndex: users, old: mine, new: nil)) != nil)
    }

    @Test(
        "nobody can change an account's e-mail address or protection through sync, or create an account",
        arguments: ["attendee", "owner", "organizer", "admin", "superAdmin"])
    func accountsAreMadeByTheServersTools(_ role: String) throws {
        let users = try index("User")
        let permit = rules.permit(Self.subject(role))
        for id in [Self.user, Self.stranger] {
            let old = try row("User", ["_id": .objectId(id), "email": .string("ann@example.org")])
            for (property, value) in [("email", Value.string("boss@example.org")), ("isSuperAdmin", .bool(true))] {
                var new = old
                new[try #require(schema[users].columnIndex(property))] = value
                #expect(permit(WriteRequest(operation: .update, classIndex: users, old: old, new: new)) != nil)
                #expect(permit(WriteRequest(operation: .update, classIndex: users, old: new, new: old)) != nil)
            }
            #expect(permit(WriteRequest(operation: .create, classIndex: users, old: nil, new: old)) != nil)
        }
    }

    @Test("an administrator can't change, trash or restore a super administrator")
    func administratorsHaveNoPowerOverSuperAdministrators() throws {
        let users = try index("User")
        func may(_ role: String, _ operation: TomboloRules.Operation, isSuperAdmin: Bool) throws -> Bool {
            let old = try row("User", ["_id": .objectId(Self.stranger), "isSuperAdmin": .bool(isSuperAdmin)])
            var new = old
            new[try #require(schema[users].columnIndex("displayName"))] = .string("Mallory")
            let resource = Resource.object(classIndex: users, old: old, new: new)
            return rules.authorize(Self.subject(role), operation, resource).isAllowed
        }
        for operation in [TomboloRules.Operation.update, .delete, .trash, .restore] {
            #expect(try may("admin", operation, isSuperAdmin: false), "\(operation)")
            #expect(try !may("admin", operation, isSuperAdmin: true), "\(operation)")
            #expect(try may("superAdmin", operation, isSuperAdmin: true), "\(operation)")
            for role in ["owner", "organizer", "coorganizer", "attendee"] {
                #expect(try !may(role, operation, isSuperAdmin: false), "\(role) \(operation)")
            }
        }
        #expect(try may("admin", .read, isSuperAdmin: true))
        let assignments = try index("RoleAssignment")
        let top = try row("RoleAssignment", ["role": .string("superAdmin"), "user": .objectId(Self.stranger)])
        let low = try row("RoleAssignment", ["role": .string("moderator"), "user": .objectId(Self.stranger)])
        let permit = rules.permit(Self.subject("admin"))
        #expect(permit(WriteRequest(operation: .delete, classIndex: assignments, old: top, new: nil)) != nil)
        #expect(permit(WriteRequest(operation: .update, classIndex: assignments, old: top, new: low)) != nil)
        #expect(permit(WriteRequest(operation: .update, classIndex: assignments, old: low, new: top)) != nil)
    }

    @Test("organizers and co-organizers can't change the event's roles")
    func organizersGiveNoRoles() throws {
        let assignments = try index("RoleAssignment")
        func row(_ role: RoleName) throws -> Row {
            try self.row(
                "RoleAssignment",
                ["role": .string(role.rawValue), "user": .objectId(Self.user), "event": .objectId(Self.event)])
        }
        for subject in ["organizer", "coorganizer", "trackOrganizer", "moderator", "registrar"] {
            let permit = rules.permit(Self.subject(subject))
            for (before, after) in [
                (RoleName.coorganizer, RoleName.organizer), (.organizer, .owner), (.owner, .registrar),
            ] {
                for request in [
                    WriteRequest(
                        operation: .update, classIndex: assignments, old: try row(before), new: try row(after)),
                    WriteRequest(operation: .delete, classIndex: assignments, old: try row(before), new: nil),
                    WriteRequest(operation: .create, classIndex: assignments, old: nil, new: try row(after)),
                ] {
                    #expect(permit(request) != nil, "\(subject) \(request.operation) \(before) \(after)")
                }
            }
        }
        let owner = rules.permit(Self.subject("owner"))
        for other in [RoleName.owner, .admin, .superAdmin] {
            let request = WriteRequest(operation: .delete, classIndex: assignments, old: try row(other), new: nil)
            #expect(owner(request) != nil, "owner deletes \(other)")
        }
    }

    @Test("attendees can write only their own account, and are told so before any row is checked")
    func attendeesWriteNothingElse() throws {
        let denial = rules.denial(Self.subject("attendee"))
        let permit = rules.permit(Self.subject("attendee"))
        for (index, item) in schema.classes.enumerated() where item.owner == nil && item.name != "User" {
            let values: [String: Value] = item.columnIndex("isPublic") == nil ? [:] : ["isPublic": .bool(true)]
            let row = try row(item.name, values)
            for operation in [WriteRequest.Operation.create, .update, .delete] {
                let request = WriteRequest(operation: operation, classIndex: index, old: row, new: row)
                #expect(permit(request) != nil, "\(operation) \(item.name)")
                #expect(denial(operation, index) != nil, "\(operation) \(item.name)")
            }
        }
        #expect(denial(.update, try index("User")) == nil)
    }

    @Test func anonymousReadsOnlyPublishedEventsAndTheirTickets() throws {
        let read = rules.readable(.anonymous)
        let readable = schema.classes.indices.filter { read($0) != .constant(false) }.map { schema[$0].name }
        #expect(readable == ["Event", "Ticket"])
    }

    @Test func noRoleGivesARoleAboveItself() throws {
        let assignments = try index("RoleAssignment")
        func may(_ role: String, _ given: RoleName, _ event: ObjectId?) throws -> Bool {
            let new = try row(
                "RoleAssignment",
                ["role": .string(given.rawValue), "event": event.map { .objectId($0) } ?? .null])
            let resource = Resource.object(classIndex: assignments, old: nil, new: new)
            return rules.authorize(Self.subject(role), .create, resource).isAllowed
        }
        for given in RoleName.allCases {
            for role in ["organizer", "coorganizer", "trackOrganizer", "moderator", "registrar", "attendee"] {
                #expect(try !may(role, given, Self.event))
                #expect(try !may(role, given, nil))
            }
            #expect(try may("owner", given, Self.event) == ![.owner, .admin, .superAdmin].contains(given))
            #expect(try !may("owner", given, Self.otherEvent))
            #expect(try !may("owner", given, nil))
            #expect(try may("admin", given, nil) == (given != .superAdmin))
            #expect(try may("superAdmin", given, nil))
        }
    }

    @Test func theTrashIsForAdministrators() throws {
        let session = try row("Session", ["event": .objectId(Self.event)])
        let resource = Resource.object(classIndex: try index("Session"), old: session, new: nil)
        let expected: [String: Set<TomboloRules.Operation>] = [
            "superAdmin": [.trash, .listTrash, .restore, .purge], "admin": [.trash, .listTrash, .restore],
            "owner": [.trash], "organizer": [.trash],
        ]
        for role in Self.roles {
            for operation in [TomboloRules.Operation.trash, .listTrash, .restore, .purge] {
                #expect(
                    rules.authorize(Self.subject(role), operation, resource).isAllowed
                        == (expected[role]?.contains(operation) ?? false), "\(role) \(operation)")
            }
        }
    }

    @Test("Only the platform's owner can see devices' sessions")
    func devicesAreInspectedByTheOwner() throws {
        for (index, item) in rules.schema.classes.enumerated() where item.owner == nil && !item.isEmbedded {
            for role in Self.roles {
                let isPermitted = rules.authorize(Self.subject(role), .inspect, .objects(classIndex: index)).isAllowed
                #expect(isPermitted == (role == "superAdmin"), "\(role) \(item.name)")
            }
        }
    }

    @Test func ticketsAreMovedByTheEventsOrganizers() throws {
        let ticket = try row("Ticket", ["event": .objectId(Self.event)])
        let resource = Resource.object(classIndex: try index("Ticket"), old: ticket, new: nil)
        for role in Self.roles {
            let isExpected = ["superAdmin", "owner", "organizer", "coorganizer"].contains(role)
            #expect(rules.authorize(Self.subject(role), .moveTicket, resource).isAllowed == isExpected, "\(role)")
        }
    }
}
