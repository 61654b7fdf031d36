import Dispatch
import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: listeners, and what is carried between threads")
struct ListenerSemanticsTests {
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

    @Test("withoutNotifying spares listeners of the Realm too")
    func withoutNotifying() throws {
        var heard: [String] = []
        let block: Realm.NotificationBlock = { notification, _ in heard.append("first \(notification)") }
        let first = realm.observe(block)
        let second = realm.observe { _, _ in heard.append("second") }
        try realm.write(withoutNotifying: [first]) { realm.add(Pet("New")) }
        #expect(heard == ["second"])
        realm.beginWrite()
        try realm.commitWrite(withoutNotifying: [first, second])
        #expect(heard == ["second"])
        try realm.write {}
        #expect(heard == ["second", "first didChange", "second"])
        first.invalidate()
        second.invalidate()
    }

    @Test("A Realm that was invalidated still hears of others' commits")
    func invalidated() throws {
        let queue = DispatchQueue(label: "listener")
        let heard = DispatchSemaphore(value: 0)
        let folder = folder
        nonisolated(unsafe) var kept: (Realm, NotificationToken)?
        try queue.sync {
            let realm = try Realm(configuration: folder.configuration(types: semanticClasses), queue: queue)
            kept = (realm, realm.observe { _, _ in heard.signal() })
            realm.invalidate()
        }
        try realm.write { realm.add(Pet("New")) }
        heard.wait()
        queue.sync {
            #expect(kept?.0.objects(Pet.self).count == 3)
            kept = nil
        }
    }

    @Test("A reference that was made in a write transaction finds the object after the commit")
    func referenceFromWrite() throws {
        let (early, late) = try realm.write {
            let pet = realm.create(Pet.self, value: ["name": "New"])
            let references = (ThreadSafeReference(to: pet), ThreadSafeReference(to: pet))
            elsewhere { realm in #expect(realm.resolve(references.0) == nil) }
            return references
        }
        #expect(early.isInvalidated && !late.isInvalidated)
        elsewhere { realm in #expect(realm.resolve(late)?.name == "New") }
    }
}
