import Foundation
import RandomValues
import Testing
import TomboloModel
import TomboloRuleDocuments
import TomboloRules

/// All mistakes in a document are reported at once, with file, line, class, role and field.
@Suite struct RuleErrorTests {
    static let schema = Result {
        try Schema([
            ClassSchema(
                name: "Listing",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "owner", type: .objectId),
                    Column(name: "team", type: .string), Column(name: "price", type: .int(bits: 64)),
                    Column(name: "soldAt", type: .date, isOptional: true),
                    Column(name: "token", type: .uuid, isOptional: true),
                    Column(name: "photo", type: .data, isOptional: true),
                    Column(name: "home", type: .embedded("Address"), isOptional: true),
                    Column(name: "home.street", type: .string, isOptional: true),
                    Column(name: "home.tags", type: .array([.string]), isOptional: true),
                ], lists: [ListProperty(name: "related", target: "Listing")]),
            ClassSchema(
                name: "Membership",
                columns: [
                    Column(name: "_id", type: .objectId, isPrimaryKey: true), Column(name: "user", type: .objectId),
                    Column(name: "role", type: .string), Column(name: "price", type: .double),
                ]),
        ])
    }

    struct Mistake: CustomTestStringConvertible {
        let document: String
        let problems: [String]

        init(_ document: String, _ problems: String...) {
            self.document = document
            self.problems = problems
        }

        /// A mistake in a role's `read` expression.
        static func read(_ expression: String, _ problem: String) -> Mistake {
            Mistake(
                "Listing: [{name: a, applyWhen: {}, read: \(expression)}]", "1: Listing, role 'a', read: \(problem)")
        }

        var testDescription: String { document }
    }

    static let structure: [Mistake] = [
        Mistake("- a\n- b", "1: a rule document must be a mapping of class names to roles, not a list."),
        Mistake("just text", "1: a rule document must be a mapping of class names to roles, not \"just text\"."),
        Mistake("Listings: []", "1: there is no class 'Listings'; did you mean 'Listing'?"),
        Mistake(
            "Listing.related: []",
            "1: 'Listing.related' is a list of Listing; its elements follow the rules of Listing."),
        Mistake("defaultRole: []", "1: there is no class 'defaultRole'; did you mean 'defaultRoles'?"),
        Mistake("version: 2", "1: the document has version 2, but this program knows only version 1. Update it."),
        Mistake("version: one", "1: 'version' must be a whole number of at least 1, not \"one\"."),
        Mistake("rules: [Listing]", "1: 'rules' must be a mapping of class names to roles, not a list."),
        Mistake("Listing: all", "1: Listing: expected {roles: [...]} or a list of roles, not \"all\"."),
        Mistake(
            "Listing: {role: []}",
            "1: Listing: 'role' isn't known here; did you mean 'roles'?",
            "1: Listing: expected {roles: [...]} or a list of roles, not null."),
        Mistake("Listing: [everyone]", "1: Listing: a role must be a mapping with a name, not \"everyone\"."),
        Mistake("Listing: [{applyWhen: {}}]", "1: Listing: a role has no name; add name: …"),
        Mistake(
            "Listing: [{name: a, read: true}]",
            "1: Listing, role 'a': it doesn't say who it's for; add applyWhen: {} for everybody who is logged in."),
        Mistake(
            "Listing: [{name: a, aplyWhen: {}, applyWhen: {}}]",
            "1: Listing, role 'a': 'aplyWhen' isn't known here; did you mean 'applyWhen'?"),
        Mistake(
            "Listing:\n  - name: a\n    applyWhen: {}\n    document_filters: {read: true, write: true}\n    read: true",
            "2: Listing, role 'a': it mixes applyWhen with apply_when or document_filters; use one form."),
        Mistake(
            "Listing: [{name: a, apply_when: {}, read: true}]",
            "1: Listing, role 'a': it permits nothing, because it has no document_filters; add document_filters: "
                + "{read: true, write: true} for all objects."),
        Mistake(
            "Listing: [{name: a, apply_when: {}, document_filters: {read: true}, read: true}]",
            "1: Listing, role 'a': document_filters needs both read and write; write true or false for all objects."),
        Mistake(
            "Listing: [{name: a, apply_when: {}, document_filters: {read: true, write: true}}]",
            "1: Listing, role 'a': it permits no fields, whatever its document_filters say; add read: true and write: "
                + "true, or fields and additional_fields."),
        Mistake(
            "Listing: [{name: a, apply_when: {}, document_filters: {read: true, write: true}, read: {team: x}}]",
            "1: Listing, role 'a': 'read' must be true or false here, not a mapping."),
        Mistake(
            "Listing: {roles: [], filters: [{name: f}]}",
            "1: Listing: filters aren't supported; put their conditions into the roles' read and write."),
        Mistake(
            "Listing: [{name: a, applyWhen: {}, operations: {delete: true}}]",
            "1: Listing, role 'a', operations: 'delete' doesn't belong here; use the role's own read, write, insert "
                + "and delete."),
        Mistake(
            "{type: partition, permissions: {read: true}}",
            "1: a sync configuration: 'permissions' isn't known here.",
            "1: a configuration of type partition needs a partition key; add partition: {key: …}."),
        Mistake(
            "grants: {class: Membershipp, user: user, role: role}",
            "1: grants: there is no class 'Membershipp'; did you mean 'Membership'?"),
        Mistake(
            "grants: {class: Membership, user: usr, role: price}",
            "1: grants: Membership has no property 'usr'; did you mean 'user'?",
            "1: grants: Membership.price is of type double, which can't hold the name of a role; possible types: "
                + "string."),
        Mistake(
            "grants: {class: Membership, user: user}",
            "1: grants: 'role' is missing or isn't a name; it must name the property with the role."),
    ]

    static let roles: [Mistake] = [
        Mistake(
            "Listing:\n  - {name: all, applyWhen: {}, read: true}\n  - {name: b, applyWhen: {\"%%user.roles\": x}}",
            "3: Listing, role 'b': it never applies, because role 'all' (rules.yaml:2) comes first and applies to "
                + "everybody; move it up or remove it."),
        Mistake(
            "Listing:\n  - {name: a, applyWhen: {\"%%user.roles\": x}}\n  - {name: b, applyWhen: {\"%%user.roles\": x}}",
            "3: Listing, role 'b': it never applies, because role 'a' (rules.yaml:2) comes first and applies under the "
                + "same condition; move it up or remove it."),
        Mistake(
            "Listing: [{name: a, applyWhen: false, read: true}]",
            "1: Listing, role 'a': it never applies; remove it."),
        Mistake(
            "Listing: [{name: a, applyWhen: {}}, {name: a, applyWhen: {}, anonymous: true}]",
            "1: Listing: there are two roles named 'a'."),
        Mistake(
            "Listing: [{name: a, applyWhen: {team: West}, read: true}]",
            "1: Listing, role 'a', applyWhen: this condition is about the user only, so it can't look at 'team': "
                + "compare the property in read or write, or use an expansion such as %%user.custom_data.NAME."),
        Mistake(
            "Listing: [{name: a, applyWhen: {}, write: true, fields: {prize: {read: true}}}]",
            "1: Listing, role 'a', fields: Listing has no property 'prize'; did you mean 'price'?"),
        Mistake(
            "Listing: [{name: a, applyWhen: {}, write: true, fields: {price: {write: false}}}]",
            "1: Listing, role 'a', fields: 'price' doesn't say whether it may be read; add read: true or read: false."),
        Mistake(
            "Listing: [{name: a, applyWhen: {}, write: true, fields: {price: {read: {team: x}}}}]",
            "1: Listing, role 'a', fields: 'price': read must be true or false, not a mapping: field rules can't "
                + "depend on the object."),
        Mistake(
            "Listing: [{name: a, applyWhen: {}, write: true, fields: {_id: {read: true}}}]",
            "1: Listing, role 'a', fields: '_id' is the primary key, which is always part of the object; remove its "
                + "rule."),
        Mistake(
            "Listing: [{name: a, applyWhen: {}, write: true, fields: {related: {read: true}}}]",
            "1: Listing, role 'a', fields: 'related' is a list, and lists are written together with their object; give "
                + "it {write: true}, or permit no writing at all."),
        Mistake(
            "Listing: [{name: a, apply_when: {}, document_filters: {read: true, write: true}, read: true, write: true, "
                + "fields: {price: {read: true, write: false}}}]",
            "1: Listing, role 'a', fields: the rule for 'price' has no effect, because the role's own read: true and "
                + "write: true take precedence; remove those."),
    ]

    static let expressions: [Mistake] = [
        .read("{prise: 1}", "Listing has no property 'prise'; did you mean 'price'?"),
        .read("{sold_at: null}", "Listing has no property 'sold_at'; that is the column of 'soldAt'."),
        .read(
            "{related: \"%%user.id\"}",
            "'related' is a list, and rules can't look into lists: a rule is decided by the object's own values. Compare "
                + "a property or a link."),
        .read("{home.tags: x}", "'home.tags' is a list, and rules can't look into lists."),
        .read(
            "{home: {street: x}}",
            "'home' is compared with a mapping; for a property of an embedded object write 'home.street'."),
        .read("{price: {}}", "'price' is compared with {}; write a value or an operator such as $eq."),
        .read(
            "{price: {$gtt: 1}}",
            "'$gtt' isn't an operator of rules; did you mean $gt? Operators: $eq $ne $gt $gte $lt $lte $in $nin $exists "
                + "$and $or $nor $not %stringToOid %oidToString %stringToUuid %uuidToString."),
        .read(
            "{\"%function\": {name: f}}",
            "%function isn't supported: rules can't call code. Keep what the function looks up in the user's custom "
                + "data, and compare with %%user.custom_data. To take a partition apart, use %%partition.key and "
                + "%%partition.value."),
        .read("{price: cheap}", "'price' is an int and can't be compared with \"cheap\"."),
        .read("{price: 1.5}", "'price' is an int and can't be compared with 1.5."),
        .read("{team: 5}", "'team' is a string and can't be compared with 5."),
        .read(
            "{team: [a, b]}",
            "'team' is a string and can't be compared with a list of 2; to compare with several values, write "
                + "{\"$in\": […]}."
        ),
        .read("{owner: me}", "'owner' is an objectId and can't be compared with \"me\"."),
        .read("{photo: x}", "'photo' is a data and can't be compared with \"x\"."),
        .read("{token: \"%%user.id\"}", "'token' is a uuid and can't hold a user's id, which is an ObjectId."),
        .read("{token: {\"%stringToOid\": x}}", "%stringToOid gives an objectId, and 'token' is a uuid."),
        .read("{price: {$gt: null}}", "'price' can be compared with null only by $eq and $ne."),
        .read("{price: {$exists: 1}}", "$exists takes true or false, not 1."),
        .read("{price: {$in: 5}}", "$in takes a list of values, not 5."),
        .read("{team: {$in: \"%%user.id\"}}", "$in takes a list, and %%user.id isn't one."),
        .read(
            "{team: \"%%user.roles\"}",
            "%%user.roles is a list: write {\"team\": {\"$in\": \"%%user.roles\"}}."),
        .read("{price: {$in: []}}", "$in has an empty list."),
        .read("{$or: {price: 1}}", "$or takes a list of expressions, not a mapping."),
        .read("{$or: []}", "$or takes at least one expression, but the list is empty."),
        .read(
            "team", "\"team\" isn't an expression: write true, false or a mapping such as {\"owner\": \"%%user.id\"}."),
        .read(
            "{soldAt: \"%%partition\"}",
            "'soldAt' is a date and can't hold a partition, which is a string, an integer, an ObjectId or a UUID."),
        .read("{\"%%values.x\": 1}", "%%values.x isn't available: write the value itself."),
        .read(
            "{\"%%root.owner\": 1}",
            "%%root.owner isn't available: name the property as a key, as in {\"owner\": \"%%user.id\"}."),
        .read("{team: \"%%usr.id\"}", "'%%usr.id' isn't an expansion; did you mean %%user?"),
        .read(
            "{team: \"%%user.idd\"}",
            "'%%user.idd' isn't a user expansion; did you mean %%user.id? The expansions are %%user.id, %%user.type, "
                + "%%user.data.NAME, %%user.custom_data.NAME, %%user.roles, %%user.grants.ROLE."),
        .read("{team: West, $and: [{team: East}]}", "no value of 'team' satisfies all of these conditions."),
        .read("{price: {$gt: 5, $lt: 3}}", "no value of 'price' satisfies all of these conditions."),
        .read("{price: {$gte: 5, $lt: 5}}", "no value of 'price' satisfies all of these conditions."),
        .read(
            "{price: {$in: [1, 2], $nin: [3], $ne: 1, $gt: 2}}",
            "no value of 'price' satisfies all of these conditions."),
        .read(
            "{soldAt: {$exists: false, $gt: \"2024-01-01\"}}",
            "no value of 'soldAt' satisfies all of these conditions."),
        .read("{$and: [{price: 1}, false]}", "the expression is never true; write false if that is what you mean."),
    ]

    private static func problems(_ document: String) -> [String] {
        do {
            let schema = try schema.get()
            _ = try Rules(schema: schema, book: RuleBook(parsing: document, file: "rules.yaml"))
            return []
        } catch let error as RuleError {
            return error.problems
        } catch {
            return ["\(error)"]
        }
    }

    @Test("mistakes are reported with their place and a remedy", arguments: structure + roles + expressions)
    func mistakes(_ mistake: Mistake) {
        #expect(Self.problems(mistake.document) == mistake.problems.map { "rules.yaml:\($0)" })
    }

    @Test("all mistakes in a document are reported at once, each with its own line")
    func allAtOnce() {
        let found = Self.problems(
            """
            Listing:
              - name: owner
                applyWhen: {"%%user.custom_data.level": {$gtx: 1}}
                read:
                  ownr: "%%user.id"
                  price: {$lt: ten}
                insert: {team: 4}
                fields: {prices: {read: true}}
                search: true
            Listings: []
            """)
        #expect(
            found.map { $0.prefix(14) } == [
                "rules.yaml:3: ", "rules.yaml:5: ", "rules.yaml:6: ", "rules.yaml:7: ", "rules.yaml:8: ",
                "rules.yaml:10:",
            ])
    }

    @Test("a note reports what is ignored")
    func notes() throws {
        let book = try RuleBook(
            parsing: """
                {"type": "flexible", "queryable_fields_names": ["team"], "permissions": {"rules": {"Listing": [
                  {"name": "a", "applyWhen": {}, "read": true, "write": true, "search": true}
                ]}, "defaultRoles": []}}
                """, file: "config.json")
        #expect(
            try Rules(schema: Self.schema.get(), book: book).notes == [
                "config.json:1: 'type' is ignored: it isn't about rules.",
                "config.json:1: 'queryable_fields_names' is ignored: it isn't about rules.",
                "config.json:2: Listing, role 'a': 'search' is ignored; there is no search index.",
            ])
    }

    @Test("if the default roles don't fit a class, it is denied, and the other classes keep them")
    func defaultRolesThatDoNotFit() throws {
        let document = #"defaultRoles: [{name: team, applyWhen: {}, read: {team: West}, write: false}]"#
        let rules = try Rules(schema: Self.schema.get(), book: RuleBook(parsing: document, file: "rules.yaml"))
        let readable = rules.readable(Subject(user: ObjectId()))
        #expect(readable(0) == .compare(PropertyPath("team"), .equal, .string("West")))
        #expect(readable(try #require(rules.schema.index(of: "Membership"))) == .constant(false))
        #expect(rules.notes.count == 1 && rules.notes[0].contains("Membership has no property 'team'"))
        let misspelt = document.replacing("team: West", with: "teem: West")
        #expect(Self.problems(misspelt).count == 1)
    }

    // MARK: Bounds

    @Test("every bound has a message")
    func bounds() {
        let roles = (0...RuleBook.maximumRoleCount).map { "{name: r\($0), applyWhen: {}}" }.joined(separator: ", ")
        #expect(
            Self.problems("Listing: [\(roles)]")
                == ["rules.yaml:1: Listing: 101 roles; at most 100 are allowed."])
        let parts = (0..<1_001).map { "{price: \($0)}" }.joined(separator: ", ")
        #expect(
            Self.problems("Listing: [{name: a, applyWhen: {}, read: {$or: [\(parts)]}}]")
                == [
                    "rules.yaml:1: Listing, role 'a', read: the expression has 1002 parts; at most 1000 are allowed."
                ])
        let classes = (0...RuleBook.maximumClassCount).map { "C\($0): []" }.joined(separator: "\n")
        #expect(
            Self.problems(classes).contains("rules.yaml:1: 1001 classes have rules; at most 1000 are allowed."))
        let long = "# " + String(repeating: "x", count: RuleNode.maximumByteCount)
        #expect(
            Self.problems(long) == ["rules.yaml: the document has 1048578 bytes; at most 1048576 are allowed."])
        let deep = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        #expect(Self.problems(deep) == ["rules.yaml:1: the document nests deeper than 64 levels."])
    }
}
