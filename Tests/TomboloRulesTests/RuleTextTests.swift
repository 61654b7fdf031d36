import RandomValues
import Testing
import TomboloRuleDocuments
import TomboloRules

/// Changing one box of a matrix edits the text as people wrote it, and changes nothing else.
@Suite struct RuleTextTests {
    private static let document = """
        # Who may do what. — Ümläute, 日本語 and 🎪 before it.
        version: 1
        grants: {class: Membership, user: user, role: role, scope: team}   # who is in which team

        matrix:
          scope: team
          services: {listings: Listing, "big photos": Photo}
          roles:
            lead: {listings: crud, "big photos": 'crud'}
            # They asked for it in March.
            member:   {listings: -ru-,   "big photos": "ru"}   # not photos
            guest:
              listings: ----
              big photos: -r--
        Listing: [{name: all, applyWhen: {}, read: {isPublic: true}}]

        """

    private static func box(
        _ role: String, _ service: String, _ operation: TomboloRules.Operation
    ) -> PermissionMatrix.Box {
        .init(role: role, service: service, operation: operation)
    }

    private static func changed(_ text: String, _ box: PermissionMatrix.Box, _ isPermitted: Bool) throws -> String {
        try RuleText(text, file: "rules.yaml").setting(box, to: isPermitted).text
    }

    @Test("only the box's letters change, however they are written")
    func letters() throws {
        for (box, isPermitted, before, after) in [
            (Self.box("member", "listings", .update), false, "{listings: -ru-,", "{listings: -r--,"),
            (Self.box("member", "big photos", .delete), true, "\"ru\"", "\"-rud\""),
            (Self.box("lead", "big photos", .create), false, "'crud'", "'-rud'"),
            (Self.box("guest", "listings", .read), true, "listings: ----", "listings: -r--"),
            (Self.box("guest", "big photos", .read), false, "big photos: -r--", "big photos: ----"),
        ] {
            let result = try Self.changed(Self.document, box, isPermitted)
            #expect(Self.document.firstRange(of: before) != nil)
            var expected = Self.document
            expected.replaceSubrange(try #require(expected.firstRange(of: before)), with: after)
            #expect(result == expected)
            #expect(try RuleText(result, file: "rules.yaml").matrix.permits(box) == isPermitted)
            #expect(try Self.changed(result, box, isPermitted) == result, "Repeating it should change nothing.")
        }
    }

    @Test("line endings, a byte order mark and JSON are kept")
    func otherTexts() throws {
        let box = Self.box("member", "listings", .update)
        for text in [
            Self.document.replacing("\n", with: "\r\n"), "\u{FEFF}" + Self.document,
            #"{"matrix": {"scope": "team", "services": {"listings": "Listing"}, "#
                + #""roles": {"member": {"listings": "-ru-"}}}}"#,
        ] {
            let result = try Self.changed(text, box, false)
            #expect(result.unicodeScalars.count == text.unicodeScalars.count && result != text)
            #expect(zip(result.unicodeScalars, text.unicodeScalars).filter { $0 != $1 }.count == 1)
        }
    }

    @Test("unknown boxes, and changes that would permit writing without reading, are refused with a reason")
    func refusals() throws {
        func error(_ box: PermissionMatrix.Box, _ isPermitted: Bool) -> String {
            do {
                _ = try Self.changed(Self.document, box, isPermitted)
                return "none"
            } catch {
                return "\(error)"
            }
        }
        #expect(
            error(Self.box("memebr", "listings", .read), true)
                == "There is no role 'memebr'; did you mean 'member'? Roles: lead, member, guest.")
        #expect(
            error(Self.box("member", "listing", .read), true)
                == "There is no service 'listing'; did you mean 'listings'? Services: listings, big photos.")
        #expect(
            error(Self.box("member", "listings", TomboloRules.Operation("edit")), true).hasPrefix(
                "There is no operation 'edit'"))
        #expect(
            error(Self.box("member", "listings", .read), false)
                == "'member' may change listings, and a role that may change objects may read them. Remove create, update and "
                + "delete first.")
        #expect(
            error(Self.box("guest", "listings", .update), true)
                == "'guest' may not read listings, and a role that may change objects must be able to read them. "
                + "Permit read first.")
        #expect(throws: MatrixEditError.noMatrix) { try RuleText("Listing: []", file: "rules.yaml") }
        #expect(throws: MatrixEditError.self) { try RuleText("a: [", file: "rules.yaml") }
    }

    @Test(
        "a box whose text is shared with others isn't changed",
        arguments: [
            "roles: {lead: &all {listings: crud}, member: *all}",
            "roles: {lead: {listings: &all crud}, member: {listings: *all}}",
            "x-all: &all {listings: crud}, roles: {lead: {<<: *all}, member: {<<: *all}}",
            "roles: {lead: {listings: crud}, member: {listings: !!str crud}}",
        ])
    func shared(_ rest: String) throws {
        let text = "matrix: {scope: team, services: {listings: Listing}, \(rest)}"
        #expect {
            _ = try Self.changed(text, Self.box("member", "listings", .delete), false)
        } throws: { error in
            switch error as? MatrixEditError {
            case .notPlain, .mistakes: true
            default: false
            }
        }
    }

    @Test("any sequence of changes leaves the document's other bytes alone, and the last value of each box counts")
    func manyChanges() throws {
        var random = RandomValues(.printed(for: "RuleTextTests.manyChanges"))
        var text = try RuleText(Self.document, file: "rules.yaml")
        var expected = text.matrix
        for _ in 0..<200 {
            let box = Self.box(
                random.pick(expected.roles), random.pick(expected.services).name,
                random.pick(PermissionMatrix.operations))
            let isPermitted = random.flag()
            guard let next = try? text.setting(box, to: isPermitted) else { continue }
            #expect(next.matrix.differences(from: expected) == (expected.permits(box) == isPermitted ? [] : [box]))
            (text, expected) = (next, next.matrix)
        }
        let skeleton = { (text: String) in text.filter { !"crud-".contains($0) } }
        #expect(skeleton(text.text) == skeleton(Self.document))
    }
}
