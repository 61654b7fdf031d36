import Dispatch
import Foundation
import Testing
import Tombolo

@Suite("Realm semantics: listeners, and passing objects between threads")
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

    @Test("withoutNotifying skips listeners of the Realm too")
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

    @Test("An invalidated Realm is still told of others' commits")
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

    /// Generic code such as apps have.
    private func watch<C: RealmCollection>(_ collection: C, _ texts: Texts, _ queue: DispatchQueue? = nil)
        -> NotificationToken
    where C.Element == Pet {
        collection.observe(keyPaths: nil, on: queue) { change in
            switch change {
            case .initial(let pets): texts.append("initial \(pets.map(\.name).joined(separator: " "))")
            case .update(let pets, let deletions, let insertions, let modifications):
                texts.append("\(pets.count) \(deletions) \(insertions) \(modifications)")
            case .error(let error): texts.append("\(error)")
            }
        }
    }

    @Test("Listeners of a deleted object's list and LinkingObjects hear of its end, not of a successor with its key")
    func ownerWithSameKey() throws {
        let bob = Citizen(value: ["_id": 2, "name": "Bob", "boss": ada])
        try realm.write { realm.add(bob) }
        let texts = Texts()
        func note<Collection>(_ change: RealmCollectionChange<Collection>) {
            if case .update(_, let deletions, let insertions, let modifications) = change {
                texts.append("-\(deletions) +\(insertions) ~\(modifications)")
            }
        }
        let tokens = [ada.pets.observe { note($0) }, ada.reports.observe { note($0) }]
        realm.refresh()
        try realm.write {
            realm.delete(ada)
            let another = Citizen(1, "Another")
            another.pets.append(objectsIn: realm.objects(Pet.self))
            realm.add(another)
            bob.boss = another
        }
        realm.refresh()
        #expect(texts.all == ["-[0, 1] +[] ~[]", "-[0] +[] ~[]"])
        try realm.write {
            realm.objects(Pet.self)[0].name = "Max"
            bob.name = "Bobby"
        }
        realm.refresh()
        #expect(texts.all.count == 2)
        for token in tokens { token.invalidate() }
    }

    @Test("AnyRealmCollection can be observed, frozen and passed to other threads")
    func anyCollection() throws {
        let collections = [
            AnyRealmCollection(ada.pets), AnyRealmCollection(realm.objects(Pet.self).sorted(byKeyPath: "name")),
        ]
        let texts = Texts()
        let tokens = collections.map { watch($0, texts) } + [watch(ada.pets, texts)]
        realm.refresh()
        try realm.write { ada.pets.append(Pet("Ace")) }
        realm.refresh()
        #expect(
            texts.all.sorted() == [
                "3 [] [0] []", "3 [] [2] []", "3 [] [2] []", "initial Bo Rex", "initial Rex Bo", "initial Rex Bo",
            ])
        for token in tokens { token.invalidate() }

        let frozen = collections.map { $0.freeze() }
        let references = collections.map { ThreadSafeReference(to: $0) }
        @ThreadSafe var list = collections[0]
        let wrapper = _list
        try realm.write { realm.delete(collections[1]) }
        #expect(frozen.map(\.count) == [3, 3] && frozen.allSatisfy(\.isFrozen))
        #expect(frozen.map { $0.thaw()?.count } == [0, 0])
        elsewhere { realm in
            #expect(references.map { realm.resolve($0)?.count } == [0, 0])
            #expect(wrapper.wrappedValue?.isEmpty == true)
        }
    }

    @Test("LinkingObjects can be frozen and passed to other threads")
    func linkingObjects() throws {
        let owners = ada.pets[0].owners
        let (frozen, any) = (owners.freeze(), AnyRealmCollection(owners).freeze())
        let reference = ThreadSafeReference(to: owners)
        try realm.write { realm.add(Citizen(value: ["_id": 2, "name": "Bob", "pets": [ada.pets[0]]])) }
        #expect(frozen.map(\.name) == ["Ada"] && any.map(\.name) == ["Ada"] && frozen.isFrozen)
        #expect(frozen.thaw()?.map(\.name) == ["Ada", "Bob"] && any.thaw()?.count == 2)
        elsewhere { realm in
            let owners = realm.resolve(reference)
            #expect(owners?.map(\.name) == ["Ada", "Bob"])
            try realm.write { owners?.last?.name = "Bobby" }
        }
        realm.refresh()
        #expect(owners.map(\.name) == ["Ada", "Bobby"])
        try realm.write { realm.delete(ada.pets[0]) }
        #expect(frozen.thaw() == nil)
    }

    @Test("A reference made in a write transaction resolves after the commit")
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
