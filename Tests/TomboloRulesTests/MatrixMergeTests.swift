import Testing
import TomboloRuleDocuments
import TomboloRules

/// Applying newer rules keeps what administrators changed in the matrix of the old ones.
@Suite struct MatrixMergeTests {
    static let base = """
        version: 1
        grants: {class: Membership, user: user, role: role, scope: team, roles: [staff, lead, member, guest]}
        matrix:
          scope: team
          services: {listings: Listing, photos: Photo}
          everywhere:
            staff: {listings: -ru-, photos: ----}
          roles:
            lead: {listings: crud, photos: crud}
            # They asked for it in March.
            member: {listings: -ru-, photos: -r--}
            guest: {listings: ----, photos: ----}
          users:
            verified: {"%%user.data.isVerified": true}
            unverified: {}
          permissions:
            createListing: {verified: true, unverified: false}
        Listing:
          - {name: all, applyWhen: {}, read: {isPublic: true}, write: {team: {$in: "%%user.grants.lead"}}}

        """
    /// The newer rules differ outside the matrix.
    static let newer = base.replacing("isPublic: true", with: "isShown: true")

    static func box(_ role: String, _ service: String, _ operation: TomboloRules.Operation) -> PermissionMatrix.Box {
        .init(role: role, service: service, operation: operation)
    }

    static func text(_ document: String) throws -> RuleText { try RuleText(document, file: "rules") }

    static func merge(_ current: String, _ new: String, base: String = base) throws -> MatrixMerge {
        let merge = try MatrixMerge(base: base, current: current, new: new, file: "rules")
        // Merging the result once more changes nothing.
        #expect(try MatrixMerge(base: new, current: merge.text, new: new, file: "rules").text == merge.text)
        return merge
    }

    // MARK: Boxes

    struct Case: Sendable, CustomTestStringConvertible {
        /// The letters for `member` and `listings` in the four documents.
        let base, current, new, result: String
        let kept: [String]
        let lost: Int

        init(_ base: String, _ current: String, _ new: String, _ result: String, kept: [String] = [], lost: Int = 0) {
            (self.base, self.current, self.new, self.result) = (base, current, new, result)
            self.kept = kept.map { "'member' \($0) listings" }
            self.lost = lost
        }

        var testDescription: String { "\(base) became \(current), and then \(new) is applied" }
    }

    @Test(
        "a changed box stays, whatever happens to the others, but a role that can't read can't change anything",
        arguments: [
            Case("-ru-", "-ru-", "crud", "crud"),
            Case("-ru-", "-r--", "-ru-", "-r--", kept: ["may not update"]),
            Case("-ru-", "-r--", "-rud", "-r-d", kept: ["may not update"]),
            Case("-r--", "-r-d", "-ru-", "-rud", kept: ["may delete"]),
            Case("----", "-ru-", "----", "-ru-", kept: ["may read", "may update"]),
            Case("-ru-", "-r--", "-r--", "-r--"),
            Case("-r--", "-ru-", "crud", "crud"),
            Case("-ru-", "----", "-ru-", "----", kept: ["may not update", "may not read"]),
            // An administrator took reading away, and the newer rules permit deleting.
            Case("-r--", "----", "-r-d", "----", kept: ["may not delete", "may not read"]),
            // An administrator permitted updating, and the newer rules take reading away.
            Case("-r--", "-ru-", "----", "----", lost: 1),
        ])
    func boxes(item: Case) throws {
        func document(_ letters: String, in text: String = Self.base) -> String {
            text.replacing("member: {listings: -ru-", with: "member: {listings: \(letters)")
        }
        let new = document(item.new, in: Self.newer)
        let merge = try Self.merge(document(item.current), new, base: document(item.base))
        #expect(merge.text == document(item.result, in: Self.newer))
        #expect(Set(merge.kept.map(\.description)) == Set(item.kept) && merge.kept.count == item.kept.count)
        #expect(merge.lost.count == item.lost && merge.returning.isEmpty, "\(merge)")
    }

    @Test("without changes the newer rules are taken byte for byte, and applying the same rules again changes nothing")
    func unchanged() throws {
        let changed = try Self.text(Self.base).setting(Self.box("lead", "photos", .delete), to: false).text
        #expect(try Self.merge(Self.base, Self.newer).text == Self.newer)
        let same = try Self.merge(changed, Self.base)
        #expect(same.text == changed && same.kept.isEmpty && same.lost.isEmpty)
        let adopted = try Self.merge(changed, changed)
        #expect(adopted.text == changed && adopted.kept.isEmpty)
        let bare = "version: 1\nListing: [{name: all, applyWhen: {}, read: true}]\n"
        #expect(try Self.merge(bare + "# 1\n", bare + "# 2\n", base: bare).text == bare + "# 2\n")
    }

    @Test("a changed box survives repeated upgrades, and can be changed back")
    func upgrades() throws {
        let changed = try Self.text(Self.base).setting(Self.box("lead", "photos", .delete), to: false).text
        let first = try Self.merge(changed, Self.newer).text
        let third = Self.newer + "# Newer still.\n"
        let second = try Self.merge(first, third, base: Self.newer)
        #expect(second.kept.map(\.description) == ["'lead' may not delete photos"])
        let back = try Self.text(second.text).setting(Self.box("lead", "photos", .delete), to: true).text
        #expect(back == third)
        #expect(try Self.merge(back, Self.newer, base: third).text == Self.newer)
    }

    @Test("a changed user permission stays, whether it was taken away or given")
    func permissions() throws {
        for (permission, group, isPermitted, description) in [
            ("createListing", "verified", false, "'verified' users don't have 'createListing'"),
            ("createListing", "unverified", true, "'unverified' users have 'createListing'"),
        ] {
            let box = PermissionMatrix.UserBox(permission: permission, group: group)
            let changed = try Self.text(Self.base).setting(box, to: isPermitted).text
            let merge = try Self.merge(changed, Self.newer)
            #expect(merge.kept.map(\.description) == [description])
            #expect(try Self.text(merge.text).matrix.permits(box) == isPermitted)
            let gone = try Self.merge(changed, Self.newer.replacing("createListing:", with: "makeListing:"))
            #expect(gone.kept.isEmpty && gone.lost.map(\.change) == [.userBox(box, isPermitted: isPermitted)])
        }
    }

    // MARK: What the newer rules lack

    @Test("boxes are reported as lost if their role, their service or the matrix is gone")
    func gone() throws {
        let changed = try Self.text(Self.base).setting(Self.box("member", "photos", .read), to: false)
            .setting(Self.box("staff", "photos", .read), to: true).text
        let noPhotos = Self.newer.replacing(", photos: Photo", with: "")
            .replacing(#/, photos: [crud-]{4}/#, with: "")
        let services = try Self.merge(changed, noPhotos)
        #expect(services.text == noPhotos && services.kept.isEmpty && services.returning.isEmpty)
        #expect(services.lost.map(\.description).allSatisfy { $0.contains("There is no service 'photos'") })
        #expect(services.lost.count == 2)

        let noMember = Self.newer.replacing("lead, member", with: "lead")
            .replacing("    member: {listings: -ru-, photos: -r--}\n", with: "")
        let roles = try Self.merge(changed, noMember)
        #expect(roles.kept.map(\.description) == ["'staff' may read photos"])
        #expect(roles.lost.map(\.change) == [.box(Self.box("member", "photos", .read), isPermitted: false)])

        let bare = "version: 1\nListing: [{name: all, applyWhen: {}, read: true}]\n"
        let none = try Self.merge(changed, bare)
        #expect(none.text == bare && none.lost.count == 2 && none.kept.isEmpty)
    }

    @Test(
        "if a role now applies everywhere, boxes emptied within an object stay empty, but permitted ones are lost"
    )
    func kinds() throws {
        let changed = try Self.text(Self.base).setting(Self.box("member", "listings", .delete), to: true)
            .setting(Self.box("member", "listings", .update), to: false).text
        let row = "    member: {listings: -ru-, photos: -r--}\n"
        let new = Self.newer.replacing(row, with: "").replacing("  roles:\n    lead", with: "\(row)  roles:\n    lead")
        let merge = try Self.merge(changed, new)
        #expect(merge.kept.map(\.description) == ["'member' may not update listings"])
        #expect(merge.lost.map(\.reason) == ["In the new rules the role applies everywhere."])
    }

    @Test("an emptied box that the newer rules write with an alias keeps them from being applied")
    func aliases() throws {
        let changed = try Self.text(Self.base).setting(Self.box("member", "listings", .update), to: false).text
        let new = Self.newer.replacing("lead: {listings: crud", with: "lead: {listings: &all crud")
            .replacing("member: {listings: -ru-", with: "member: {listings: *all")
        let merge = try Self.merge(changed, new)
        #expect(merge.kept.isEmpty && merge.lost.isEmpty)
        #expect(merge.returning.map(\.change) == [.box(Self.box("member", "listings", .update), isPermitted: false)])
    }

    // MARK: Beyond boxes

    @Test("changes of boxes and roles don't go beyond what an admin server changes in a matrix; all others do")
    func beyond() throws {
        func differs(_ text: String) -> Bool { RuleText.differBeyondBoxes(text, Self.base, file: "rules") }
        let roles = try Self.text(Self.base).setting(Self.box("member", "listings", .update), to: false)
            .setting(.init(permission: "createListing", group: "unverified"), to: true)
            .adding("herald", isEverywhere: false, boxes: ["photos": [.read]]).removing("guest")
        #expect(!differs(roles.text))
        #expect(!differs(Self.base + "# A comment.\n"))
        #expect(differs(Self.newer))
        for (old, new) in [
            ("  scope: team\n", "  scope: team\n  write: {\"%%user.roles\": staff}\n"),
            ("  scope: team\n", "  scope: team\n  operations: {manageAccounts: {\"%%user.roles\": staff}}\n"),
            ("photos: Photo}", "photos: Photo, trash: []}"),
            ("unverified: {}", "unverified: {\"%%user.data.email\": {$exists: true}}"),
            ("    createListing:", "    publish: {verified: true, unverified: false}\n    createListing:"),
        ] {
            #expect(Self.base.contains(old) && differs(Self.base.replacing(old, with: new)), "\(new)")
        }
    }
}
