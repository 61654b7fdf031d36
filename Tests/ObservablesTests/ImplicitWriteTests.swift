import Foundation
import Testing
import Tombolo

@testable import TomboloObservables

@MainActor
@Suite("Changes of lists and deletions that open a transaction by themselves", .timeLimit(.minutes(15)))
struct ImplicitWriteTests {
    private let kennel: Kennel

    init() throws { kennel = try Kennel() }

    /// A managed dog with toys.
    private func dog(_ toys: [String] = ["a", "b", "c", "d"]) throws -> Dog {
        let dog = Dog("Rex")
        dog.toys.append(objectsIn: toys)
        return try kennel.add(dog)
    }

    @Test("Elements are appended, removed and moved in managed, frozen and unmanaged lists")
    func lists() throws {
        let unmanaged = List<String>()
        unmanaged.append(objectsIn: ["a", "b", "c", "d"])
        let managed = try dog()
        for (list, shown) in [
            (managed.toys, { Array(managed.toys) }), (unmanaged, { Array(unmanaged) }),
        ] {
            ImplicitWrite.append("e", to: list)
            #expect(shown() == ["a", "b", "c", "d", "e"])
            ImplicitWrite.remove(at: 1, from: list)
            #expect(shown() == ["a", "c", "d", "e"])
            ImplicitWrite.move(fromOffsets: [0, 1], toOffset: 4, in: list)
            #expect(shown() == ["d", "e", "a", "c"])
            ImplicitWrite.remove(atOffsets: [0, 3], from: list)
            #expect(shown() == ["e", "a"])
        }
        ImplicitWrite.append("f", to: managed.toys.freeze())
        #expect(Array(managed.toys) == ["e", "a", "f"])
    }

    @Test("Positions beyond the end of a list that has become shorter are ignored")
    func staleOffsets() throws {
        let dog = try dog(["a", "b"])
        ImplicitWrite.remove(atOffsets: [1, 5], from: dog.toys)
        #expect(Array(dog.toys) == ["a"])
        ImplicitWrite.remove(at: 3, from: dog.toys)
        ImplicitWrite.move(fromOffsets: [0, 7], toOffset: 9, in: dog.toys)
        #expect(Array(dog.toys) == ["a"])
    }

    @Test("Frozen objects are thawed before they're appended, deleted ones aren't appended, new ones are added")
    func elements() throws {
        let rex = try dog()
        let max = try kennel.add(Dog("Max"))
        ImplicitWrite.append(max.freeze(), to: rex.friends)
        #expect(Array(rex.friends) == [max])
        ImplicitWrite.append(Dog("Bo"), to: rex.friends)
        #expect(rex.friends.last?.realm != nil)
        let old = max.freeze()
        ImplicitWrite.delete(max)
        ImplicitWrite.append(old, to: rex.friends)
        #expect(rex.friends.map(\.name) == ["Bo"])
    }

    @Test("Deleting accepts frozen objects, and does nothing to unmanaged and deleted ones")
    func deletion() throws {
        let rex = try dog()
        ImplicitWrite.delete(rex.freeze())
        #expect(rex.isInvalidated)
        ImplicitWrite.delete(rex)
        ImplicitWrite.delete(Dog("draft"))
        let max = try kennel.add(Dog("Max"))
        let frozen = max.freeze()
        ImplicitWrite.delete(max)
        ImplicitWrite.delete(frozen)
        #expect(try kennel.realm().objects(Dog.self).isEmpty)
    }

    @Test("A list whose object was deleted elsewhere isn't changed")
    func deletedBehind() async throws {
        let toys = try dog().toys
        let realm = try kennel.realm()
        realm.autorefresh = false
        defer { realm.autorefresh = true }
        try await kennel.elsewhere { $0.deleteAll() }
        #expect(!toys.isInvalidated)
        #expect(!ImplicitWrite.change(toys) { $0.append("never") })
        #expect(toys.isInvalidated)
    }
}
