import Foundation
import Testing
import Tombolo

@testable import TomboloObservables

@MainActor
@Suite("An observed query", .timeLimit(.minutes(15)))
struct ObservedQueryTests {
    private let kennel: Kennel
    private let tally = Tally()

    init() throws {
        kennel = try Kennel()
        for (name, age) in [("Rex", 3), ("Max", 5), ("Bo", 1)] { try kennel.add(Dog(name, age: age)) }
    }

    private func query(
        _ condition: QueryTerms.Condition = .all, keyPaths: [String]? = nil,
        by order: [Tombolo.SortDescriptor] = ["name"]
    ) -> ObservedQuery<Dog> {
        let query = ObservedQuery<Dog>(
            QueryTerms(
                configuration: kennel.configuration, condition: condition, keyPaths: keyPaths, sortDescriptors: order))
        query.willChange = { [tally] in tally.add() }
        return query
    }

    private func names(_ query: ObservedQuery<Dog>) -> [String] { query.shown.map(\.name) }

    @Test("It shows a sorted, frozen copy, and a new one after any change")
    func changes() async throws {
        let query = query()
        let first = query.shown
        #expect(first.isFrozen && first.map(\.name) == ["Bo", "Max", "Rex"])
        try kennel.add(Dog("Ali"))
        try await until { tally.count == 1 }
        #expect(first.count == 3)
        #expect(names(query) == ["Ali", "Bo", "Max", "Rex"])
        try await kennel.elsewhere { $0.add(Dog("Zoe")) }
        try await until { tally.count == 2 }
        #expect(names(query).last == "Zoe")
    }

    @Test("An object's id is the same in every version, live or frozen, so that list views keep their rows")
    func identity() throws {
        let query = query()
        let first = query.shown
        let bo = try #require(first.first?.thaw())
        try bo.realm?.write {
            bo.tag = Tag()
            bo.age += 1
        }
        let second = query.shown
        #expect(second.map(\.id) == first.map(\.id))
        #expect(bo.id == first.first?.id)
        #expect(Set(first.map(\.id)).count == 3)
        let tag = try #require(bo.tag)
        #expect(tag.id == second.first?.tag?.id && tag.id != bo.id)
        let draft = Dog("draft")
        #expect(draft.id == draft.id && draft.id != Dog("draft").id)
    }

    @Test("A frozen copy can be thawed to results that can be observed, as apps do")
    func thawing() async throws {
        let calls = Tally()
        let token = query().shown.thaw()?.observe { _ in calls.add() }
        try await until { calls.count == 1 }
        token?.invalidate()
    }

    @Test("Starting an observation notifies nobody as long as nothing changes")
    func quiet() async throws {
        let query = query()
        _ = query.shown
        let began = Tally()
        let token = query.results.observe { _ in began.add() }
        try await until { began.count > 0 }
        #expect(tally.count == 0)
        token.invalidate()
    }

    @Test("A condition can be a block or a predicate's text, and can be set later")
    func conditions() throws {
        #expect(names(query(.where { (dog: Query<Dog>) in dog.age > 2 })) == ["Max", "Rex"])
        let query = query(.format("age > 2"))
        #expect(names(query) == ["Max", "Rex"])
        query.condition = .where { (dog: Query<Dog>) in dog.name == "Bo" }
        #expect(tally.count == 1)
        #expect(names(query) == ["Bo"])
        query.condition = .all
        query.sortDescriptors = [SortDescriptor(keyPath: "age", ascending: false)]
        #expect(tally.count == 3)
        #expect(names(query) == ["Max", "Rex", "Bo"])
    }

    /// The format strings that `NSPredicate` prints.
    @Test(
        "Format strings printed by NSPredicate can be read",
        arguments: [
            ("name == \"Rex\" AND age > 2", ["Rex"]), ("name CONTAINS[c] \"X\"", ["Max", "Rex"]),
            ("name IN {\"Bo\", \"Rex\"}", ["Bo", "Rex"]), ("age BETWEEN {1, 3}", ["Bo", "Rex"]),
            ("name CONTAINS[cd] \"O\"", ["Bo"]), ("NOT age == 3", ["Bo", "Max"]),
            ("TRUEPREDICATE", ["Bo", "Max", "Rex"]), ("FALSEPREDICATE", []),
            ("ANY friends.age > 3", []), ("friend == nil", ["Bo", "Max", "Rex"]),
            ("toys.@count == 0", ["Bo", "Max", "Rex"]),
        ] as [(String, [String])])
    func predicateTexts(text: String, expected: [String]) {
        #expect(names(query(.format(text))) == expected)
    }

    @Test("A case-sensitive search narrows the condition, and an empty text ends it")
    func search() throws {
        let query = query(.where { (dog: Query<Dog>) in dog.age > 2 })
        query.search("x", \.name)
        #expect(names(query) == ["Max", "Rex"])
        query.search("R", \.name)
        #expect(names(query) == ["Rex"])
        query.search("R", \.name)
        #expect(tally.count == 2)
        query.search("o", \.name)
        #expect(names(query).isEmpty)
        query.search("", \.name)
        #expect(names(query) == ["Max", "Rex"])
    }

    @Test("Key paths choose the modifications that notify; insertions always do")
    func keyPaths() async throws {
        let query = query(keyPaths: ["name"])
        let bo = try #require(query.shown.first?.thaw())
        let began = Tally()
        let token = query.results.observe { _ in began.add() }
        try await until { began.count == 1 }
        try bo.realm?.write { bo.age = 9 }
        try await until { began.count == 2 }
        #expect(tally.count == 0)
        try bo.realm?.write { bo.name = "Bob" }
        try await until { tally.count == 1 }
        try kennel.add(Dog("New"))
        try await until { tally.count == 2 }
        token.invalidate()
    }

    @Test("If the query has no configuration, the view's environment provides it")
    func environment() throws {
        let query = ObservedQuery<Dog>()
        query.declare(QueryTerms(), environment: kennel.configuration)
        #expect(query.shown.count == 3)
        query.declare(QueryTerms(), environment: kennel.other("empty"))
        #expect(query.shown.isEmpty)
        query.declare(QueryTerms(configuration: kennel.configuration), environment: kennel.other("empty"))
        #expect(query.shown.count == 3)
    }

    @Test("A view's declaration applies when it changes; until then, values that were set stay")
    func declaring() throws {
        let query = query()
        let terms = QueryTerms(configuration: kennel.configuration, sortDescriptors: ["name"])
        query.condition = .where { (dog: Query<Dog>) in dog.age > 2 }
        query.declare(terms, environment: nil)
        #expect(names(query) == ["Max", "Rex"])
        var others = terms
        others.condition = .where { (dog: Query<Dog>) in dog.age < 2 }
        query.declare(others, environment: nil)
        #expect(names(query) == ["Bo"])
        #expect(tally.count == 1)
    }

    @Test("Appending adds an object or updates the one with its key, even if the condition excludes it")
    func appending() throws {
        let query = query(.where { (dog: Query<Dog>) in dog.age > 2 })
        query.append(Dog("Young"))
        #expect(names(query) == ["Max", "Rex"])
        #expect(try kennel.realm().objects(Dog.self).count == 4)
        let rex = try #require(query.shown.last)
        let draft = Dog("Rexine", age: 4)
        draft._id = rex._id
        query.append(draft)
        #expect(names(query) == ["Max", "Rexine"])
        query.append(rex)
        query.append(try #require(rex.thaw()))
        #expect(try kennel.realm().objects(Dog.self).count == 4)
    }

    @Test("Only objects in the results are removed, and positions refer to the objects that were shown")
    func removing() async throws {
        let query = query(.where { (dog: Query<Dog>) in dog.age > 2 })
        let bo = try #require(try kennel.realm().objects(Dog.self).where { $0.name == "Bo" }.first)
        query.remove(bo)
        query.remove(Dog("draft"))
        #expect(!bo.isInvalidated)
        #expect(names(query) == ["Max", "Rex"])
        // Another object takes the first position before the user's gesture arrives.
        try await kennel.elsewhere { $0.add(Dog("Ali", age: 7)) }
        query.remove(atOffsets: [0, 9])
        #expect(try kennel.realm().objects(Dog.self).map(\.name).sorted() == ["Ali", "Bo", "Rex"])
        query.remove(try #require(query.shown.first))
        #expect(names(query) == ["Rex"])
    }

    @Test("Sections are ordered like the results, frozen, and computed again after a change")
    func sections() async throws {
        let query = query(by: ["age", "name"])
        let sections = ObservedSections(query) { $0.age > 2 ? "old" : "young" }
        try kennel.add(Dog("Ali", age: 2))
        let shown = sections.shown
        #expect(shown.allKeys == ["young", "old"])
        #expect(shown.map { $0.map(\.name) } == [["Bo", "Ali"], ["Rex", "Max"]])
        #expect(shown[0].id == "young" && shown[0].first?.isFrozen == true)
        sections.remove(atOffsets: [1], section: shown[1])
        try await until { tally.count > 0 }
        #expect(shown[1].count == 2)
        #expect(sections.shown.map { $0.map(\.name) } == [["Bo", "Ali"], ["Rex"]])
    }

    @Test("If it's first shown in a write transaction, it's live there and observed afterwards")
    func inWrite() async throws {
        let query = query()
        let realm = try kennel.realm()
        try realm.write {
            realm.add(Dog("Ali"))
            #expect(names(query) == ["Ali", "Bo", "Max", "Rex"])
        }
        #expect(query.shown.isFrozen && tally.count == 0)
        try kennel.add(Dog("Zoe"))
        try await until { tally.count == 1 }
    }

    @Test("Sections shown in a write transaction include what it has written so far")
    func sectionsInWrite() throws {
        let query = query(by: ["age"])
        let sections = ObservedSections(query) { $0.age > 2 ? "old" : "young" }
        #expect(sections.shown.map(\.count) == [1, 2])
        let realm = try kennel.realm()
        try realm.write {
            #expect(sections.shown.map(\.count) == [1, 2])
            realm.delete(realm.objects(Dog.self).where { $0.name == "Max" })
            #expect(sections.shown.map(\.count) == [1, 1])
        }
        #expect(sections.shown.map(\.count) == [1, 1])
    }
}
