import Testing
import TomboloRuleDocuments
import TomboloRules

/// Applying newer rules keeps the roles that administrators added, removed and renamed.
@Suite struct RoleMergeTests {
    private static let base = MatrixMergeTests.base
    private static let newer = MatrixMergeTests.newer

    private static func text(_ document: String = base) throws -> RuleText { try MatrixMergeTests.text(document) }

    private static func merge(_ current: RuleText, _ new: String = newer) throws -> MatrixMerge {
        try MatrixMergeTests.merge(current.text, new)
    }

    @Test("an added role stays with its boxes, except those of services that are gone or new")
    func added() throws {
        let changed = try Self.text().adding("herald", isEverywhere: false, boxes: ["listings": [.read, .update]])
            .adding("watcher", isEverywhere: true, boxes: ["photos": [.read]])
        let merge = try Self.merge(changed)
        #expect(
            merge.kept.map(\.description) == [
                "the role 'watcher', which applies everywhere (photos -r--)", "the role 'herald' (listings -ru-)",
            ])
        let matrix = try Self.text(merge.text).matrix
        #expect(matrix.differences(from: changed.matrix).isEmpty && matrix.rows == changed.matrix.rows)
        #expect(merge.text.contains("isShown: true"))

        let other = Self.newer.replacing("photos: Photo", with: "films: Film").replacing("photos:", with: "films:")
        let films = try Self.merge(changed, other)
        #expect(try Self.text(films.text).matrix.letters(role: "herald", service: "listings") == "-ru-")
        #expect(try Self.text(films.text).matrix.letters(role: "watcher", service: "films") == "----")
        #expect(
            films.lost.map(\.change) == [
                .box(MatrixMergeTests.box("watcher", "photos", .read), isPermitted: true)
            ])
    }

    @Test("a role that both sides added gets only what both permit")
    func addedTwice() throws {
        let changed = try Self.text().adding("herald", isEverywhere: false, boxes: ["listings": [.read, .update]])
        let new = try Self.text(Self.newer).adding(
            "herald", isEverywhere: false, boxes: ["listings": [.read, .delete], "photos": [.read]])
        let merge = try Self.merge(changed, new.text)
        let matrix = try Self.text(merge.text).matrix
        #expect(matrix.letters(role: "herald", service: "listings") == "-r--")
        #expect(matrix.letters(role: "herald", service: "photos") == "----")
        #expect(
            merge.kept.map(\.description) == [
                "'herald' may not delete listings", "'herald' may not read photos",
            ])
        #expect(
            merge.lost.map(\.description) == [
                "'herald' may update listings. The new rules have a role with this name, and it may not do this."
            ])
    }

    @Test("an added role whose name the newer rules use for something else is reported as lost")
    func nameTaken() throws {
        let changed = try Self.text().adding("herald", isEverywhere: false, boxes: ["listings": [.read]])
        let new = Self.newer.replacing("%%user.grants.lead", with: "%%user.grants.herald")
        let merge = try Self.merge(changed, new)
        #expect(merge.text == new && merge.kept.isEmpty)
        #expect(merge.lost.map(\.description).first?.contains("the role 'herald' (listings -r--)") == true)
    }

    @Test("a removed role stays removed, unless the newer rules refer to it")
    func removed() throws {
        let changed = try Self.text().removing("guest")
        let merge = try Self.merge(changed)
        #expect(merge.kept == [.removed("guest")])
        #expect(try Self.text(merge.text).matrix.roles == ["lead", "member"])
        let new = Self.newer.replacing("%%user.grants.lead", with: "%%user.grants.guest")
        let named = try Self.merge(changed, new)
        #expect(named.text == new && named.lost.map(\.change) == [.removed("guest")])
    }

    @Test("a renamed role keeps its new name and its boxes")
    func renamed() throws {
        for name in ["regular", "visitor"] {
            let changed = try Self.text().renaming("guest", to: name)
                .setting(MatrixMergeTests.box(name, "listings", .read), to: true)
            let merge = try Self.merge(changed)
            let matrix = try Self.text(merge.text).matrix
            #expect(matrix.roles == ["lead", "member", name] && merge.lost.isEmpty)
            #expect(matrix.letters(role: name, service: "listings") == "-r--")
        }
    }
}
