import Testing
import TomboloRuleDocuments
import TomboloRules

/// Adding, renaming and removing roles edits the text as people wrote it, and changes nothing else.
@Suite struct RoleTextTests {
    private static let document = """
        # Who may do what. — Ümläute and 🎪 before it.
        version: 1
        grants:
          - class: Membership
            user: user
            role: role
            scope: team
            roles: [staff, lead, member, "guest"]   # the weakest last
        matrix:
          scope: team
          services: {listings: Listing, "big photos": Photo}
          everywhere:
            staff:
              listings: -r--
              big photos: -r--
          # Within a team.
          roles:
            lead: {listings: crud, "big photos": 'crud'}
            # They asked for it in March.
            member:   {listings: -ru-,   "big photos": "ru"}   # not photos
            guest:
              listings: ----
              big photos: -r--   # for now

        Listing:
          - {name: all, applyWhen: {}, read: {isPublic: true}, write: {team: {$in: "%%user.grants.lead"}}}

        """

    private static func text(_ document: String = document) throws -> RuleText {
        try RuleText(document, file: "rules.yaml")
    }

    /// The lines that are only in the old text and those only in the new one.
    private static func changes(_ before: String, _ after: String) -> (gone: [String], new: [String]) {
        let (old, new) = (
            before.split(separator: "\n", omittingEmptySubsequences: false).map(String.init),
            after.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        )
        let difference = new.difference(from: old)
        return (
            difference.removals.compactMap { if case .remove(_, let line, _) = $0 { line } else { nil } },
            difference.insertions.compactMap { if case .insert(_, let line, _) = $0 { line } else { nil } }
        )
    }

    @Test("a role is added to the list and to the matrix, and every other byte stays")
    func adding() throws {
        let added = try Self.text().adding(
            "herald", isEverywhere: false, boxes: ["listings": [.read, .update]])
        let changes = Self.changes(Self.document, added.text)
        #expect(changes.gone == [#"    roles: [staff, lead, member, "guest"]   # the weakest last"#])
        #expect(
            changes.new == [
                #"    roles: [staff, lead, member, "guest", "herald"]   # the weakest last"#,
                #"    herald: {listings: -ru-, "big photos": ----}"#,
            ])
        #expect(added.matrix.letters(role: "herald", service: "listings") == "-ru-")
        #expect(added.matrix.roles == ["lead", "member", "guest", "herald"])
        let everywhere = try added.adding("sales", isEverywhere: true, boxes: ["big photos": [.read]])
        #expect(everywhere.matrix.everywhereRows == ["staff", "sales"])
        // Removing the roles in either order restores the document.
        #expect(try everywhere.removing("sales").removing("herald").text == Self.document)
        #expect(try everywhere.removing("herald").removing("sales").text == Self.document)
        // The boxes of an added role change like any others.
        let box = PermissionMatrix.Box(role: "herald", service: "big photos", operation: .read)
        #expect(try added.setting(box, to: true).text.contains(#""big photos": -r--}"#))
    }

    @Test("a role is renamed in both places; one that rules refer to elsewhere can be neither renamed nor removed")
    func renaming() throws {
        let renamed = try Self.text().renaming("member", to: "regular")
        #expect(renamed.text.contains(#"roles: [staff, lead, regular, "guest"]"#))
        #expect(renamed.text.contains(#"regular:   {listings: -ru-,"#))
        #expect(try renamed.renaming("regular", to: "member").text == Self.document)
        #expect(try Self.text().renaming("guest", to: "visitor").matrix.roles == ["lead", "member", "visitor"])
        for role in ["lead"] {
            #expect(throws: MatrixEditError.namedInRules(role, line: 26)) { try Self.text().removing(role) }
            #expect(throws: MatrixEditError.namedInRules(role, line: 26)) { try Self.text().renaming(role, to: "boss") }
            #expect(try !Self.text().isCustom(role))
        }
        #expect(try Self.text().isCustom("member"))
    }

    @Test("removing a role in the middle keeps the other roles' comments")
    func removing() throws {
        let removed = try Self.text().removing("member")
        #expect(removed.matrix.roles == ["lead", "guest"])
        #expect(removed.text.contains("# They asked for it in March.") && removed.text.contains("# for now"))
        #expect(try removed.removing("guest").matrix.roles == ["lead"])
        #expect(throws: MatrixEditError.self) { try Self.text().removing("nobody") }
    }

    @Test(
        "hostile names, other roles' names in any spelling, and reserved words are refused",
        arguments: [
            "", " ", "lead", "LEAD", "Staff", "a b", "a:b", "a,b", "a]", "a}", "a#b", "'a'", "\"a\"", "&a", "*a", "%a",
            "a\nb", "a: {listings: crud}", "1st", "-a", "_a", "true", "null", "No", "anonymous", "any user", "ünter",
            "a\u{0}b", "a\u{202E}b", "%%user.grants.lead", "<<", String(repeating: "a", count: 41),
        ])
    func names(name: String) throws {
        for isEverywhere in [false, true] {
            #expect(throws: MatrixEditError.self) {
                _ = try Self.text().adding(name, isEverywhere: isEverywhere)
            }
        }
        #expect(throws: MatrixEditError.self) { _ = try Self.text().renaming("member", to: name) }
    }

    @Test("unknown boxes, and boxes that permit changes without reading, are refused")
    func boxes() throws {
        for boxes: [String: Set<TomboloRules.Operation>] in [
            ["nothing": [.read]], ["listings": [.update]], ["listings": [.read, .purge]],
        ] {
            #expect(throws: MatrixEditError.self) { _ = try Self.text().adding("x", isEverywhere: false, boxes: boxes) }
        }
    }

    @Test(
        "documents in flow style, including JSON, get a role in their own style and lose it again",
        arguments: [
            #"{"grants": {"class": "Membership", "user": "user", "role": "role", "scope": "team", "roles": ["lead", "member"]}, "matrix": {"scope": "team", "services": {"listings": "Listing"}, "roles": {"lead": {"listings": "crud"}, "member": {"listings": "-r--"}}}}"#,
            """
            grants: [{class: Membership, user: user, role: role, scope: team, roles: [lead, member]}]
            matrix:
              scope: team
              services: {listings: Listing}
              roles: {lead: {listings: crud}, member: {listings: -r-- # for now
                }, }
            """,
            """
            grants: [{class: Membership, user: user, role: role, scope: team, roles: [lead, member]}]
            matrix: {scope: team, services: {listings: Listing}, roles: {lead: {listings: crud},
              member: {listings: -r--}}}
            """,
            """
            grants: [{class: Membership, user: user, role: role, scope: team}]
            matrix:
              scope: team
              services: {listings: Listing}
              roles:
                lead: {
                  listings: crud
                }
                member:
                  listings: -r--

            """,
        ])
    func flow(document: String) throws {
        let added = try Self.text(document).adding("herald", isEverywhere: false, boxes: ["listings": [.read]])
        #expect(added.matrix.roles == ["lead", "member", "herald"])
        #expect(added.matrix.letters(role: "herald", service: "listings") == "-r--")
        #expect(try added.removing("herald").text == document)
        #expect(try added.renaming("herald", to: "crier").removing("crier").text == document)
        #expect(try added.removing("member").matrix.roles == ["lead", "herald"])
        #expect(try added.removing("lead").matrix.roles == ["member", "herald"])
        // A missing section comes and goes with its only role, if the matrix has room for it.
        if let everywhere = try? Self.text(document).adding("staff", isEverywhere: true) {
            #expect(everywhere.matrix.everywhereRows == ["staff"])
            #expect(try everywhere.removing("staff").text == document)
        } else {
            #expect(document.contains("roles: {lead: {listings: crud}, member: {listings: -r-- #"))
        }
        #expect(throws: MatrixEditError.self) { try added.removing("lead").removing("member").removing("herald") }
    }

    private static let withUsers = """
        grants: [{class: Membership, user: user, role: role, scope: team}]
        matrix:
          scope: team
          services: {listings: Listing}
          roles: {lead: {listings: crud}}
          users: {staff: {"%%user.roles": staff}, guests: {}}
          permissions:
            createTeam: {staff: true, guests: false} # for now
            invite: {staff: yes, guests: "false"}
        """

    @Test("only a user box's own text changes")
    func userBoxes() throws {
        let document = Self.withUsers.replacing(#"{staff: yes, guests: "false"}"#, with: "{staff: true, guests: true}")
        let box = PermissionMatrix.UserBox(permission: "createTeam", group: "guests")
        let ticked = try Self.text(document).setting(box, to: true)
        #expect(ticked.text == document.replacing("guests: false} # for", with: "guests: true} # for"))
        #expect(ticked.matrix.permits(box) && ticked.matrix.userGroups == ["staff", "guests"])
        #expect(try ticked.setting(box, to: false).text == document)
        #expect(throws: MatrixEditError.unknownGroup("x", known: ["staff", "guests"])) {
            try Self.text(document).setting(.init(permission: "invite", group: "x"), to: true)
        }
        #expect(throws: MatrixEditError.self) {
            try Self.text(document).setting(.init(permission: "x", group: "staff"), to: true)
        }
        let shared = document.replacing("createTeam: {", with: "createTeam: &all {")
            .replacing("invite: {staff: true, guests: true}", with: "invite: *all")
        #expect(throws: MatrixEditError.self) { try Self.text(shared).setting(box, to: true) }
    }

    @Test("other ways to write the same keep their line endings, and documents that are too clever are refused")
    func otherTexts() throws {
        for text in [
            Self.document.replacing("\n", with: "\r\n"), "\u{FEFF}" + Self.document,
            Self.document.replacing(
                #"roles: [staff, lead, member, "guest"]   # the weakest last"#,
                with: "roles:\n      - staff\n      - lead\n      - member # fine\n      - guest"),
            String(Self.document.split(separator: "\nListing:")[0]),
        ] {
            let added = try Self.text(text).adding("herald", isEverywhere: false)
            #expect(added.matrix.roles.last == "herald")
            #expect(try added.removing("herald").text == text)
        }
        for text in [
            Self.document.replacing("roles: [staff", with: "roles: &all [staff"),
            Self.document.replacing("member:   {listings: -ru-,   \"big photos\": \"ru\"}", with: "member: *m")
                .replacing("lead: {", with: "lead: &m {"),
        ] {
            // In documents with anchors or aliases the change affects one place only, or is refused.
            if let added = try? Self.text(text).adding("herald", isEverywhere: false) {
                #expect(try added.removing("herald").text == text)
            }
            #expect(throws: MatrixEditError.self) {
                _ = try Self.text(text.replacing("- class:", with: "- <<: {roles: [a]}\n    class:")).removing("nobody")
            }
        }
    }
}
