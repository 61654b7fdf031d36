import Foundation
import Testing
import Tombolo

@testable import TomboloObservables

@MainActor
@Suite("An observed object or list", .timeLimit(.minutes(15)))
struct ObservedValueTests {
    private let kennel: Kennel
    private let tally = Tally()

    init() throws { kennel = try Kennel() }

    private func observed<Value: Watchable>(_ value: Value, keyPaths: [String]? = nil) -> ObservedValue<Value> {
        let observed = ObservedValue(value, keyPaths: keyPaths)
        observed.willChange = { [tally] in tally.add() }
        return observed
    }

    /// Waits until a change has reached all listeners that the object's Realm had before this call.
    private func delivered(_ dog: Dog) async throws {
        let heard = Tally()
        let token = dog.observe { (_: ObjectChange<Dog>) in heard.add() }
        try dog.realm?.write { dog.age += 1 }
        try await until { heard.count > 0 }
        token.invalidate()
    }

    @Test("A managed object is shown frozen, and shown again after a change")
    func managed() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let observed = observed(dog)
        let first = observed.shown
        #expect(first.isFrozen && first.name == "Rex")
        #expect(!observed.value.isFrozen)
        try dog.realm?.write { dog.name = "Max" }
        try await until { tally.count == 1 }
        #expect(first.name == "Rex")
        #expect(observed.shown.name == "Max")
    }

    @Test("A frozen object is observed and written through its live version")
    func frozen() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let observed = observed(dog.freeze())
        #expect(!observed.value.isFrozen)
        _ = observed.shown
        try dog.realm?.write { dog.name = "Max" }
        try await until { tally.count == 1 }
        #expect(observed.shown.name == "Max")
    }

    @Test("An unmanaged object is shown as is, and observed once it's added to a Realm")
    func unmanaged() async throws {
        let dog = Dog("Rex")
        let observed = observed(dog)
        #expect(observed.shown === dog)
        let realm = try kennel.realm()
        try realm.write { realm.add(dog) }
        #expect(observed.shown.isFrozen)
        try realm.write { dog.age = 3 }
        try await until { tally.count == 1 }
    }

    @Test("Another thread's commits notify, and a deleted object is shown as an empty one")
    func elsewhere() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let id = dog._id
        let observed = observed(dog)
        _ = observed.shown
        try await kennel.elsewhere { $0.object(ofType: Dog.self, forPrimaryKey: id)?.age = 5 }
        try await until { tally.count == 1 }
        #expect(observed.shown.age == 5)
        try await kennel.elsewhere { realm in
            if let dog = realm.object(ofType: Dog.self, forPrimaryKey: id) { realm.delete(dog) }
        }
        try await until { tally.count == 2 }
        #expect(observed.shown.realm == nil && observed.shown.name == "")
        #expect(observed.shown === observed.shown)
    }

    @Test("An object deleted elsewhere since the last refresh is shown as an empty one, without an error")
    func deletedBehind() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let realm = try kennel.realm()
        realm.autorefresh = false
        defer { realm.autorefresh = true }
        try await kennel.elsewhere { $0.deleteAll() }
        #expect(!dog.isInvalidated)
        #expect(observed(dog).shown.realm == nil)
    }

    @Test("A change found while a view is being rendered notifies afterwards")
    func rendering() async throws {
        let rex = try kennel.add(Dog("Rex"))
        let max = try kennel.add(Dog("Max"))
        let realm = try kennel.realm()
        let id = rex._id
        let first = observed(rex)
        _ = first.shown
        try realm.write { max.age = 1 }
        realm.autorefresh = false
        defer { realm.autorefresh = true }
        try await kennel.elsewhere { $0.object(ofType: Dog.self, forPrimaryKey: id)?.age = 9 }
        // Showing an object moves the Realm to the newest version.
        _ = ObservedValue(max).shown
        #expect(rex.age == 9)
        #expect(tally.count == 0)
        try await until { tally.count == 1 }
    }

    @Test("Key paths choose the changes that notify")
    func keyPaths() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let observed = observed(dog, keyPaths: ["name"])
        _ = observed.shown
        try dog.realm?.write { dog.age = 1 }
        try await delivered(dog)
        #expect(tally.count == 0)
        try dog.realm?.write { dog.name = "Max" }
        try await until { tally.count == 1 }
    }

    @Test("Following another version of the same object changes nothing; following another object observes that")
    func following() async throws {
        let rex = try kennel.add(Dog("Rex"))
        let max = try kennel.add(Dog("Max"))
        let observed = observed(rex)
        _ = observed.shown
        let live = observed.value
        observed.follow(rex.freeze())
        #expect(observed.value === live)
        observed.follow(max.freeze())
        #expect(observed.shown.name == "Max")
        #expect(tally.count == 0)
        try rex.realm?.write { rex.age = 1 }
        try await delivered(rex)
        #expect(tally.count == 0)
        try max.realm?.write { max.age = 1 }
        try await until { tally.count == 1 }
    }

    @Test("Setting another object notifies, and the previous one is no longer observed")
    func replacing() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let observed = observed(dog)
        _ = observed.shown
        let draft = Dog("Draft")
        observed.value = draft
        try await until { tally.count == 1 }
        #expect(observed.shown === draft)
        try dog.realm?.write { dog.age = 1 }
        try await delivered(dog)
        #expect(tally.count == 1)
    }

    @Test("A list is shown frozen, and its changes notify, even right after observation began")
    func list() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let observed = observed(dog.toys)
        #expect(observed.shown.isEmpty)
        try dog.realm?.write { dog.toys.append("ball") }
        try await until { tally.count == 1 }
        #expect(Array(observed.shown) == ["ball"])
        try dog.realm?.write { dog.toys.append("bone") }
        try await until { tally.count == 2 }
        #expect(observed.shown.isFrozen && observed.shown.count == 2)
    }

    @Test("A list doesn't notify when its observation begins without a change")
    func quietList() async throws {
        let dog = try kennel.add(Dog("Rex"))
        let observed = observed(dog.toys)
        _ = observed.shown
        let began = Tally()
        let token = dog.toys.observe { _ in began.add() }
        try await until { began.count > 0 }
        #expect(tally.count == 0)
        token.invalidate()
    }

    @Test("In a write transaction the live object is shown, since objects can't be frozen there")
    func inWrite() throws {
        let dog = try kennel.add(Dog("Rex"))
        let observed = observed(dog)
        try kennel.realm().write {
            dog.name = "Max"
            #expect(observed.shown.name == "Max")
        }
    }

    @Test("Linked objects are shown in their newest version, although their changes don't notify")
    func links() throws {
        let rex = Dog("Rex")
        rex.friend = Dog("Max")
        try kennel.add(rex)
        let observed = observed(rex)
        #expect(observed.shown.friend?.name == "Max")
        try rex.realm?.write { rex.friend?.name = "Bo" }
        #expect(observed.shown.friend?.name == "Bo")
    }

    @Test("A released observed value gets no more notifications")
    func release() async throws {
        let dog = try kennel.add(Dog("Rex"))
        weak var gone: ObservedValue<Dog>?
        do {
            let observed = observed(dog)
            _ = observed.shown
            gone = observed
        }
        #expect(gone == nil)
        try dog.realm?.write { dog.age = 1 }
        try await delivered(dog)
        #expect(tally.count == 0)
    }
}
