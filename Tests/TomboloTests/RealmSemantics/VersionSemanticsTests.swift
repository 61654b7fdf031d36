import Dispatch
import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: versions, threads, freezing")
struct VersionSemanticsTests {
    let folder: TemporaryFolder
    let realm: Realm
    let ada: Citizen

    init() throws {
        folder = try TemporaryFolder()
        let realm = try folder.semanticRealm()
        self.realm = realm
        let ada = Citizen(1, "Ada")
        self.ada = ada
        ada.pets.append(objectsIn: [Pet("Rex"), Pet("Bo")])
        ada.home = Place("Main")
        try realm.write { realm.add(ada) }
    }

    /// Runs `body` with a Realm of the file on another thread, and waits for it.
    private func elsewhere(_ body: @escaping @Sendable (Realm) throws -> Void) {
        let folder = folder
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            do { try body(try folder.semanticRealm()) } catch { Issue.record(error) }
            done.signal()
        }
        done.wait()
    }

    @Test("A Realm shows its version until it is refreshed or writes")
    func versions() throws {
        let count = realm.objects(Pet.self)
        elsewhere { realm in
            try realm.write {
                realm.add(Pet("New"))
                realm.object(ofType: Citizen.self, forPrimaryKey: 1)?.name = "Theirs"
            }
        }
        #expect(count.count == 2 && ada.name == "Ada")
        #expect(realm.refresh() && count.count == 3 && ada.name == "Theirs" && !realm.refresh())
        elsewhere { realm in try realm.write { realm.deleteAll() } }
        #expect(!ada.isInvalidated && count.count == 3)
        try realm.write {
            // The transaction begins on the newest version.
            #expect(ada.isInvalidated && count.isEmpty && realm.isEmpty && !realm.refresh())
        }
    }

    @Test("Frozen objects, lists, results and Realms never change, on any thread; thawed ones are live")
    func frozen() throws {
        let (pets, results) = (ada.pets.freeze(), realm.objects(Pet.self).sorted(byKeyPath: "name").freeze())
        let (frozen, frozenRealm, home) = (ada.freeze(), realm.freeze(), try #require(ada.home).freeze())
        #expect(
            frozen.isFrozen && pets.isFrozen && results.isFrozen && frozenRealm.isFrozen && home.isFrozen
                && !ada.isFrozen)
        try realm.write {
            ada.name = "Changed"
            realm.delete(ada.pets[0])
            ada.home?.street = "Elsewhere"
        }
        #expect(frozen.name == "Ada" && pets.map(\.name) == ["Rex", "Bo"] && results.map(\.name) == ["Bo", "Rex"])
        #expect(home.street == "Main" && frozen.home == home && frozenRealm.objects(Citizen.self).first?.name == "Ada")
        #expect(frozen.thaw()?.name == "Changed" && pets.thaw()?.count == 1 && results.thaw()?.count == 1)
        #expect(frozen.freeze() === frozen && frozen.pets.count == 2 && pets[0].thaw() == nil && frozen != ada)
        #expect(frozenRealm.thaw() == realm && frozen.realm?.isFrozen == true)
        nonisolated(unsafe) let shared = (frozen, results)
        elsewhere { realm in
            #expect(shared.0.name == "Ada" && shared.1.count == 2 && shared.1.filter("name == 'Rex'").count == 1)
            let live = shared.0.thaw()
            #expect(live?.name == "Changed" && live?.realm == realm)
        }
    }

    @Test("Thread-safe references of objects, lists, results; @ThreadSafe")
    func references() throws {
        let reference = ThreadSafeReference(to: ada)
        let list = ThreadSafeReference(to: ada.pets)
        let results = ThreadSafeReference(to: realm.objects(Pet.self).where { $0.name == "Bo" })
        let home = ThreadSafeReference(to: try #require(ada.home))
        let deleted = ThreadSafeReference(to: ada.pets[0])
        try realm.write { realm.delete(ada.pets[0]) }
        @ThreadSafe var safe = ada
        let wrapper = _safe
        elsewhere { realm in
            #expect(realm.resolve(reference)?.name == "Ada" && realm.resolve(list)?.count == 1)
            #expect(realm.resolve(results)?.first?.name == "Bo" && realm.resolve(home)?.street == "Main")
            #expect(realm.resolve(deleted) == nil && reference.isInvalidated)
            try realm.write { wrapper.wrappedValue?.name = "Wrapped" }
        }
        realm.refresh()
        #expect(ada.name == "Wrapped")
    }

    @Test("@ThreadSafe finds objects created after the version that the thread's Realm reads")
    func newer() throws {
        let safe = ThreadSafe<Citizen>(wrappedValue: nil)
        #expect(realm.objects(Citizen.self).count == 1)
        elsewhere { realm in
            let bob = Citizen(2, "Bob")
            try realm.write { realm.add(bob) }
            safe.wrappedValue = bob
        }
        #expect(safe.wrappedValue?.name == "Bob")
    }

    @Test("realm.invalidate: objects and lists are invalid, the Realm stays usable")
    func invalidate() throws {
        let (pets, home, results) = (ada.pets, try #require(ada.home), realm.objects(Pet.self))
        realm.invalidate()
        #expect(ada.isInvalidated && pets.isInvalidated && home.isInvalidated)
        #expect(realm.objects(Citizen.self).first?.name == "Ada" && results.count == 2)
        try realm.write { realm.add(Pet("More")) }
        #expect(results.count == 3)
    }

    @Test("A Realm of an actor: open, asyncWrite, and its values")
    func actors() async throws {
        let keeper = Keeper(folder)
        try await keeper.open()
        #expect(try await keeper.rename("Renamed") == "Renamed")
        await #expect(throws: CancellationError.self) { try await keeper.fail() }
        #expect(await keeper.names == ["Renamed"])
        try await keeper.close()
    }
}

private actor Keeper {
    private var realm: Realm?
    private let folder: TemporaryFolder

    init(_ folder: TemporaryFolder) { self.folder = folder }

    func open() async throws {
        let configuration = folder.configuration(types: semanticClasses)
        realm = try await Realm(configuration: configuration, actor: self)
        #expect(try await Realm.open(configuration: configuration) == realm)
    }

    var names: [String] { realm?.objects(Citizen.self).map(\.name) ?? [] }

    func rename(_ name: String) async throws -> String {
        let realm = try #require(realm)
        return try await realm.asyncWrite {
            let citizen = try #require(realm.objects(Citizen.self).first)
            citizen.name = name
            return citizen.name
        }
    }

    func fail() async throws {
        let realm = try #require(realm)
        try await realm.asyncWrite {
            realm.deleteAll()
            throw CancellationError()
        }
    }

    func close() async throws { realm = nil }
}
