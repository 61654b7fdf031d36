import EventModels
import RandomValues
import Testing
import TomboloModel
import TomboloRules

@Suite("The rule document decides like the table that it replaced")
struct FormerRulesTests {
    private static let operations: [TomboloRules.Operation] = [
        .read, .create, .update, .delete, .trash, .listTrash, .restore, .purge, .moveTicket,
        TomboloRules.Operation("anything"),
    ]
    private static let events = (1...3).map { ObjectId(high: 7, low: $0) }
    private static let users = (1...3).map { ObjectId(high: 8, low: $0) }
    private let schema = EventModels.schema
    private let rules = EventModels.rules

    /// Whether the table covers a class; lists follow their objects.
    private static func isKnown(_ item: ClassSchema) -> Bool {
        item.owner == nil && !FormerRules.laterClasses.contains(item.name)
    }

    /// Random values for the properties that the rules check, and other values of the right type.
    private func row(of item: ClassSchema, _ random: inout RandomValues) -> Row {
        Row(
            item.columns.map { column in
                switch (item.name, column.name) {
                case ("Event", "_id"), (_, "event"):
                    return column.isOptional && random.flag(6) ? .null : .objectId(random.pick(Self.events))
                case ("User", "_id"), (_, "user"):
                    return column.isOptional && random.flag(6) ? .null : .objectId(random.pick(Self.users))
                case (_, "role"): return .string(random.pick(RoleName.allCases.map(\.rawValue) + ["other"]))
                case ("Event", "state"): return .string(random.pick(["published", "draft"]))
                case ("Event", "privacy"): return .string(random.pick(["public", "private"]))
                case ("Session", "state"):
                    return .string(random.pick(SessionState.allCases.map(\.rawValue) + ["other"]))
                case (_, "email"): return .string(random.pick(["ann@example.org", "ben@example.org"]))
                default:
                    if case .bool = column.type { return .bool(random.flag()) }
                    return column.isOptional ? .null : column.type.zero
                }
            })
    }

    /// The user's address is verified, because publishing now requires that.
    private static func subject(_ user: ObjectId, _ grants: Set<RoleGrant>) -> Subject {
        Subject(user: user, data: ["isVerified": .bool(true)], grants: grants)
    }

    private func subject(_ random: inout RandomValues) -> Subject {
        if random.flag(8) { return .anonymous }
        let roles = RoleName.allCases.map(\.rawValue) + ["other"]
        let grants = (0..<random.int(0...4)).map { _ in
            RoleGrant(Role(random.pick(roles)), in: random.flag(4) ? nil : random.pick(Self.events))
        }
        return Self.subject(random.pick(Self.users), Set(grants))
    }

    private func compare(_ subject: Subject, _ item: ClassSchema, _ index: Int, old: Row, new: Row) -> [String] {
        Self.operations.compactMap { operation in
            let expected = FormerRule.isAllowed(FormerRules.table, subject, operation, item, old: old, new: new)
            let resource = Resource.object(classIndex: index, old: old, new: new)
            let found = rules.authorize(subject, operation, resource).isAllowed
            // The table let people move objects between their events without the boxes for creating and deleting.
            if operation == .update, !found, moves(item, old, new) { return nil }
            if !found, promotes(subject, item, [old, new]) { return nil }
            return found == expected ? nil : "\(operation) \(item.name) was \(expected) and is \(found)"
        }
    }

    /// Whether the assignment gives a role to the subject themselves, or an unknown role. The table let administrators give these
    /// too.
    private func promotes(_ subject: Subject, _ item: ClassSchema, _ rows: [Row]) -> Bool {
        guard item.name == "RoleAssignment", subject.grants.contains(RoleGrant(Role("admin"), in: nil)),
            let user = item.columnIndex("user"), let role = item.columnIndex("role")
        else { return false }
        return rows.contains { row in
            row[role] == .string("other") || row[user] == subject.userID.map(Value.objectId) ?? .null
        }
    }

    /// Whether an update moves an object from one event to another.
    private func moves(_ item: ClassSchema, _ old: Row, _ new: Row) -> Bool {
        guard let column = item.columnIndex(item.name == "Event" ? "_id" : "event") else { return false }
        return old[column] != new[column]
    }

    @Test("for every role, class and operation")
    func everyRole() throws {
        var random = RandomValues(.printed(for: "FormerRulesTests.everyRole"))
        var subjects: [Subject] = [.anonymous, Subject(user: Self.users[0])]
        for role in RoleName.allCases {
            for scope in [nil, Self.events[0]] {
                subjects.append(Self.subject(Self.users[0], [RoleGrant(Role(role.rawValue), in: scope)]))
            }
        }
        for subject in subjects {
            for (index, item) in schema.classes.enumerated() where Self.isKnown(item) {
                for _ in 0..<60 {
                    let old = row(of: item, &random)
                    let new = random.flag() ? old : row(of: item, &random)
                    let differences = compare(subject, item, index, old: old, new: new)
                    #expect(differences.isEmpty, "\(subject.grants)")
                }
            }
        }
    }

    @Test("for users with several roles in several events")
    func randomSubjects() throws {
        var random = RandomValues(.printed(for: "FormerRulesTests.randomSubjects"))
        var allowed = 0
        for _ in 0..<4_000 {
            let subject = subject(&random)
            let index = random.pick(schema.classes.indices.filter { Self.isKnown(schema[$0]) })
            let item = schema[index]
            let old = row(of: item, &random)
            var new = random.flag() ? old : row(of: item, &random)
            if random.flag() { new = old }
            let differences = compare(subject, item, index, old: old, new: new)
            #expect(differences.isEmpty, "\(subject.userID as ObjectId?) \(subject.grants) \(old) \(new)")
            let resource = Resource.object(classIndex: index, old: old, new: new)
            if rules.authorize(subject, .update, resource).isAllowed { allowed += 1 }
        }
        #expect(allowed > 200)
    }
}
