import RandomValues
import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

@Suite struct ExplanationTests {
    private static let ann = ObjectId(high: 0x64ab_0000_0000_0000, low: 1)
    private static let ben = ObjectId(high: 0x64ac_0000_0000_0000, low: 2)

    private static let rules = Result {
        try Rules(
            schema: Schema([
                ClassSchema(
                    name: "Deal",
                    columns: [
                        Column(name: "_id", type: .int(bits: 64), isPrimaryKey: true),
                        Column(name: "owner", type: .objectId), Column(name: "team", type: .string, isOptional: true),
                        Column(name: "price", type: .int(bits: 64)), Column(name: "margin", type: .int(bits: 64)),
                    ], lists: [ListProperty(name: "parts", target: "Deal")]),
                ClassSchema(name: "Secret", columns: [Column(name: "_id", type: .objectId, isPrimaryKey: true)]),
            ]),
            book: RuleBook(
                parsing: """
                    Deal:
                      - name: manager
                        applyWhen: {"%%user.custom_data.isManager": true}
                        read: {team: "%%user.custom_data.team"}
                        write: {team: "%%user.custom_data.team"}
                        insert: false
                      - name: seller
                        applyWhen: {"%%user.data.email": {$exists: true}}
                        read: {$or: [{owner: "%%user.id"}, {team: {$in: "%%user.grants.helper"}, price: {$lt: 100}}]}
                        write: {owner: "%%user.id"}
                        delete: {price: 0}
                        fields: {margin: {read: false, write: false}, price: {read: true, write: false}}
                        operations: {trash: {$not: {price: {$gt: 5}}}}
                    """, file: "deals.yaml"))
    }

    private static func explain(_ subject: Subject, _ className: String = "Deal", _ row: Row? = nil) throws -> String {
        "\(try #require(rules.get().explain(subject, className: className, row: row)))"
    }

    private static func deal(owner: ObjectId, team: String?, price: Int64) -> Row {
        Row([.int(7), .objectId(owner), team.map(Value.string) ?? .null, .int(price), .int(0)])
    }

    @Test("an explanation names the role and its place, and says why earlier ones don't apply")
    func roles() throws {
        let seller = Subject(user: Self.ann, data: ["email": .string("ann@example.org")])
        #expect(
            try Self.explain(seller) == """
                Deal
                  role 'manager' (deals.yaml:2) doesn't apply; it would need
                    %%user.custom_data.isManager == true, but the user has no such value
                  role 'seller' (deals.yaml:7) applies
                  read: objects with owner == 64ab00000000000000000001
                  create: objects with owner == 64ab00000000000000000001
                  update: objects with owner == 64ab00000000000000000001
                  delete: objects with (owner == 64ab00000000000000000001) && (price == 0)
                  trash: objects with !(price > 5)
                  hidden: margin
                  read-only: price, margin
                """)
    }

    @Test("an explanation of one object says what would have to change")
    func oneObject() throws {
        let seller = Subject(user: Self.ann, data: ["email": .string("ann@example.org")])
        #expect(
            try Self.explain(seller, "Deal", Self.deal(owner: Self.ben, team: "West", price: 9)) == """
                Deal
                  role 'manager' (deals.yaml:2) doesn't apply; it would need
                    %%user.custom_data.isManager == true, but the user has no such value
                  role 'seller' (deals.yaml:7) applies
                  read: objects with owner == 64ab00000000000000000001; not this one
                    it would need
                      one of these:
                        - owner == 64ab00000000000000000001 (%%user.id), but it is 64ac00000000000000000002
                        - team in %%user.grants.helper, but %%user.grants.helper is empty
                  create: objects with owner == 64ab00000000000000000001; not this one
                    it would need
                      owner == 64ab00000000000000000001 (%%user.id), but it is 64ac00000000000000000002
                  update: objects with owner == 64ab00000000000000000001; not this one
                    it would need
                      owner == 64ab00000000000000000001 (%%user.id), but it is 64ac00000000000000000002
                  delete: objects with (owner == 64ab00000000000000000001) && (price == 0); not this one
                    it would need
                      owner == 64ab00000000000000000001 (%%user.id), but it is 64ac00000000000000000002
                      price == 0, but it is 9
                  trash: objects with !(price > 5); not this one
                    it would need
                      not price > 5, but it holds
                  hidden: margin
                  read-only: price, margin
                """)
    }

    @Test("explanations cover a manager without a team, a user without a role, and an anonymous caller")
    func others() throws {
        let manager = Subject(user: Self.ann, customData: ["isManager": .bool(true), "team": .int(5)])
        #expect(
            try Self.explain(manager) == """
                Deal
                  role 'manager' (deals.yaml:2) applies
                  read: nothing
                    it would need
                      team == %%user.custom_data.team, but %%user.custom_data.team is 5
                  create: nothing
                    it would need
                      the rule permits nobody
                  update: nothing
                    it would need
                      team == %%user.custom_data.team, but %%user.custom_data.team is 5
                  delete: nothing
                    it would need
                      team == %%user.custom_data.team, but %%user.custom_data.team is 5
                """)
        #expect(
            try Self.explain(Subject(user: Self.ann, customData: ["isManager": .bool(false)])) == """
                Deal
                  role 'manager' (deals.yaml:2) doesn't apply; it would need
                    %%user.custom_data.isManager == true, but it is false
                  role 'seller' (deals.yaml:7) doesn't apply; it would need
                    %%user.data.email exists, but the user has no such value
                  No role applies, so the user may do nothing.
                """)
        #expect(
            try Self.explain(.anonymous) == """
                Deal
                  role 'manager' (deals.yaml:2) doesn't apply; it would need
                    a login
                  role 'seller' (deals.yaml:7) doesn't apply; it would need
                    a login
                  No role applies, so the user may do nothing.
                """)
        #expect(
            try Self.explain(Subject(user: Self.ann), "Secret")
                == "Secret has no rules, so nobody may do anything with it.")
        let rules = try Self.rules.get()
        #expect(rules.explain(.anonymous, className: "Deel") == nil)
        #expect(rules.explain(.anonymous, className: "Deal", row: Row([])) == nil)
        #expect(rules.explain(.anonymous, className: "Deal.parts")?.className == "Deal")
    }

    @Test("an explanation agrees with the decision, for any user and object")
    func agreement() throws {
        var random = RandomValues(.printed(for: "ExplanationTests.agreement"))
        let rules = try Self.rules.get()
        let index = try #require(rules.schema.index(of: "Deal"))
        for _ in 0..<2_000 {
            var data: [String: UserValue] = [:]
            if random.flag() { data["isManager"] = .bool(random.flag(3)) }
            if random.flag() { data["team"] = random.pick([.string("West"), .string("East"), .int(1)]) }
            let subject = Subject(
                user: random.pick([Self.ann, Self.ben]), data: random.flag() ? ["email": .string("x")] : [:],
                customData: data,
                grants: random.flag() ? [RoleGrant(role: Role("helper"), scope: .string("West"))] : [])
            let row = Self.deal(
                owner: random.pick([Self.ann, Self.ben]), team: random.pick(["West", "East", nil]),
                price: random.pick([0, 50, 200]))
            let explanation = try #require(rules.explain(subject, className: "Deal", row: row))
            for permission in explanation.permissions {
                let resource = Resource.object(classIndex: index, old: row, new: row)
                let decision = rules.authorize(subject, permission.operation, resource)
                #expect(permission.isPermitted == decision.isAllowed)
                #expect(permission.needs.isEmpty == decision.isAllowed, "\(explanation)")
            }
            #expect((explanation.role == nil) == explanation.permissions.isEmpty)
            for role in explanation.roles { #expect(role.applies == role.needs.isEmpty) }
        }
    }
}
