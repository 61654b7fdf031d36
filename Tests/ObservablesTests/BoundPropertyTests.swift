import Foundation
import Testing
import Tombolo

@testable import TomboloObservables

@MainActor
@Suite("A bound property", .serialized, .timeLimit(.minutes(15)))
struct BoundPropertyTests {
    private let kennel: Kennel

    init() throws { kennel = try Kennel() }

    @Test("Setting it writes in its own transaction, for live and frozen objects")
    func writes() throws {
        let dog = try kennel.add(Dog("Rex"))
        let name = BoundProperty(skippingEqual: dog, \.name)
        name.value = "Max"
        #expect(dog.name == "Max" && name.value == "Max")
        BoundProperty(skippingEqual: dog.freeze(), \.age).value = 4
        #expect(dog.age == 4)
    }

    @Test("It uses the Realm's current transaction, if there is one")
    func insideWrite() throws {
        let dog = try kennel.add(Dog("Rex"))
        let realm = try kennel.realm()
        realm.beginWrite()
        BoundProperty(skippingEqual: dog, \.name).value = "Max"
        realm.cancelWrite()
        #expect(dog.name == "Rex")
    }

    @Test("An equal value isn't written, but without a comparison it is")
    func skipping() throws {
        let dog = try kennel.add(Dog("Rex"))
        let writes = Tally()
        let token = try kennel.realm().observe { _, _ in writes.add() }
        BoundProperty(skippingEqual: dog, \.name).value = "Rex"
        #expect(writes.count == 0)
        BoundProperty(dog, \.name).value = "Rex"
        #expect(writes.count == 1)
        token.invalidate()
    }

    @Test("The new value is compared with the newest one, not with the one that was read last")
    func skippingAgainstTheNewest() throws {
        let dog = try kennel.add(Dog("Rex"))
        let name = BoundProperty(skippingEqual: dog, \.name)
        #expect(name.value == "Rex")
        try dog.realm?.write { dog.name = "Max" }
        name.value = "Rex"
        #expect(dog.name == "Rex")
    }

    @Test("After the object is deleted, it keeps its last value and ignores new ones")
    func deleted() throws {
        let dog = try kennel.add(Dog("Rex"))
        let name = BoundProperty(skippingEqual: dog, \.name)
        #expect(name.value == "Rex")
        try dog.realm?.write { dog.realm?.delete(dog) }
        name.value = "Max"
        #expect(name.value == "Rex")
        #expect(BoundProperty(skippingEqual: dog, \.name).value == "")
    }

    @Test("Setting it on an unmanaged object works without a Realm, and notifies")
    func unmanaged() {
        let dog = Dog("Rex")
        let sets = Tally()
        BoundProperty(dog, \.name, didSet: { _ in sets.add() }).value = "Max"
        #expect(dog.name == "Max" && sets.count == 1)

        let observed = ObservedValue(dog)
        observed.willChange = { sets.add() }
        BoundProperty(of: observed, \.age).value = 2
        #expect(dog.age == 2 && sets.count == 2)
    }

    @Test("A list is read frozen and replaced as a whole; links are thawed when set")
    func listsAndLinks() throws {
        let rex = try kennel.add(Dog("Rex"))
        let max = try kennel.add(Dog("Max"))
        let toys = BoundProperty(rex, \.toys)
        #expect(toys.value.isFrozen)
        let others = List<String>()
        others.append(objectsIn: ["ball", "bone"])
        toys.value = others
        #expect(Array(rex.toys) == ["ball", "bone"])
        toys.value = toys.value
        #expect(rex.toys.count == 2)
        BoundProperty(skippingEqual: rex, \.friend).value = max.freeze()
        #expect(rex.friend == max)
        BoundProperty(skippingEqual: rex, \.friend).value = nil
        #expect(rex.friend == nil)
    }

    @Test("A value that can't be stored is reported, and the property stays unchanged")
    func failure() throws {
        let dog = try kennel.add(Dog("Rex"))
        let before = ImplicitWrite.onFailure
        defer { ImplicitWrite.onFailure = before }
        var errors: [any Error] = []
        ImplicitWrite.onFailure = { errors.append($0) }
        let name = BoundProperty(skippingEqual: dog, \.name)
        name.value = "a\u{0}b"
        #expect(name.value == "Rex")
        #expect(errors.count == 1)
        #expect((errors.first as? Realm.Error)?.code == .invalidInput)
    }
}
