import Foundation
import Synchronization
import Testing

@testable import Tombolo

@Suite("Frozen objects, lists, results and Realms")
struct FreezingTests {
    let folder: TemporaryFolder
    let realm: Realm

    init() throws {
        folder = try TemporaryFolder()
        realm = try Realm(configuration: folder.configuration(types: personClasses))
        try realm.write {
            let person = Person(1, "Ada")
            person.home = Address("Main St")
            person.home?.codes.append(objectsIn: [1, 2])
            person.others.append(Address("Side St"))
            person.tags.append(objectsIn: ["a", "b"])
            person.dogs.append(Dog("Rex"))
            realm.add(person)
            realm.add(Person(2, "Bob"))
        }
    }

    private var ada: Person { get throws { try #require(realm.object(ofType: Person.self, forPrimaryKey: 1)) } }

    @Test("Frozen objects show the version they were frozen at, whatever is written later")
    func keepsVersion() throws {
        let person = try ada
        let frozen = person.freeze()
        let people = realm.objects(Person.self).sorted(byKeyPath: "_id").freeze()
        let tags = person.tags.freeze()
        #expect(frozen.isFrozen && people.isFrozen && tags.isFrozen)
        #expect(!person.isFrozen && !realm.isFrozen)
        try realm.write {
            person.name = "Grace"
            person.tags.removeAll()
            person.home = nil
            realm.delete(realm.objects(Person.self).where { $0._id == 2 })
        }
        #expect(frozen.name == "Ada" && person.name == "Grace")
        #expect(Array(frozen.tags) == ["a", "b"] && Array(tags) == ["a", "b"])
        #expect(frozen.home?.street == "Main St")
        #expect(frozen.home.map { Array($0.codes) } == [1, 2])
        #expect(people.map(\.name) == ["Ada", "Bob"] && people.count == 2)
        #expect(realm.objects(Person.self).count == 1)
        #expect(frozen.others.first?.street == "Side St")
        #expect(frozen.dogs.first?.owners.first?.name == "Ada")
    }

    @Test("Frozen objects can be read on many threads at once")
    func threads() async throws {
        let people = realm.objects(Person.self).freeze()
        let shared = Shared(people)
        let sum = await withTaskGroup(of: Int.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    var sum = 0
                    for _ in 0..<200 {
                        for person in shared.value { sum += person.name.count + person.tags.count }
                        sum += shared.value.count + (shared.value.first?.home?.codes.count ?? 0)
                    }
                    return sum
                }
            }
            return await group.reduce(0, +)
        }
        #expect(sum == 8 * 200 * (3 + 2 + 3 + 0 + 2 + 2))
    }

    @Test("Objects that link to a frozen object can be read on many threads at once")
    func linkingThreads() async throws {
        let dog = try #require(try ada.dogs.first).freeze()
        for _ in 0..<100 {
            let owners = Shared(dog.owners)
            let sum = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<4 { group.addTask { owners.value.count + (owners.value.first?.name.count ?? 0) } }
                return await group.reduce(0, +)
            }
            #expect(sum == 4 * (1 + 3))
        }
    }

    @Test("Thawing gives the live object, or nil if it was deleted")
    func thaw() throws {
        let person = try ada
        let frozen = person.freeze()
        let frozenTags = person.tags.freeze()
        try realm.write { person.name = "Grace" }
        let live = try #require(frozen.thaw())
        #expect(live == person && live.name == "Grace" && !live.isFrozen)
        #expect(live.thaw() === live)
        #expect(frozenTags.thaw().map { Array($0) } == ["a", "b"])
        #expect(frozen.home?.thaw()?.street == "Main St")
        try realm.write { person.home = nil }
        #expect(frozen.home?.thaw() == nil)
        try realm.write { realm.delete(person) }
        #expect(frozen.thaw() == nil && frozenTags.thaw() == nil)
        #expect(frozen.name == "Ada")
    }

    @Test("Freezing again without a change gives the same Realm; freezing a frozen object returns itself")
    func again() throws {
        let frozen = try ada.freeze()
        #expect(try ada.freeze().realm == frozen.realm)
        #expect(frozen.freeze() === frozen)
        let before = frozen.realm
        try realm.write { try ada.name = "Grace" }
        #expect(try ada.freeze().realm != before)
        #expect(realm.freeze().freeze() == realm.freeze())
        #expect(try frozen.realm?.thaw() == Realm(configuration: realm.configuration))
    }

    @Test(
        "Writing to frozen objects, freezing unmanaged ones, and freezing in a write stop the program",
        arguments: ["write", "set", "unmanaged", "inWrite", "observe", "deleted"])
    func mistakes(_ call: String) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [call = call as String] in
            let realm = try Realm(configuration: .init(inMemoryIdentifier: "frozen", objectTypes: [Session.self]))
            let session = Session(1, "")
            if call == "unmanaged" { _ = session.freeze() }
            try realm.write { realm.add(session) }
            switch call {
            case "write": try realm.freeze().write {}
            case "set": session.freeze().title = "x"
            case "inWrite": try realm.write { _ = session.freeze() }
            case "observe": _ = realm.freeze().observe { _, _ in }
            default:
                try realm.write { realm.delete(session) }
                _ = session.freeze()
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        let expected = [
            "write": "Can't perform transactions on a frozen Realm", "set": "Cannot modify managed objects outside",
            "unmanaged": "Unmanaged objects cannot be frozen",
            "inWrite": "Cannot freeze a Realm in a write transaction",
            "observe": "Frozen Realms do not change", "deleted": "cannot be frozen: check isInvalidated first",
        ]
        #expect(text.contains(try #require(expected[call])), "\(text)")
    }
}

/// Passes something frozen to several tasks, as its documentation allows.
private final class Shared<Value>: @unchecked Sendable {
    let value: Value
    init(_ value: Value) { self.value = value }
}

@Suite("Threads")
struct ThreadTests {
    let folder: TemporaryFolder
    let configuration: Realm.Configuration

    init() throws {
        folder = try TemporaryFolder()
        configuration = folder.configuration(types: personClasses)
    }

    @Test("A reference resolves an object, list or results on another thread, once")
    func references() async throws {
        let queue = DispatchQueue(label: "references")
        let (person, tags, people) = try onThisThread {
            let realm = try Realm(configuration: self.configuration)
            let person = Person(1, "Ada")
            person.tags.append("x")
            try realm.write { realm.add(person) }
            return (
                ThreadSafeReference(to: person), ThreadSafeReference(to: person.tags),
                ThreadSafeReference(to: realm.objects(Person.self).where { $0.name == "Ada" })
            )
        }
        let configuration = configuration
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            #expect(realm.resolve(person)?.name == "Ada")
            #expect(realm.resolve(tags).map { Array($0) } == ["x"])
            #expect(realm.resolve(people)?.count == 1)
            #expect(person.isInvalidated)
        }
    }

    @Test("A reference to an object deleted meanwhile resolves to nil")
    func deleted() throws {
        let realm = try Realm(configuration: configuration)
        let person = Person(1, "Ada")
        try realm.write { realm.add(person) }
        let reference = ThreadSafeReference(to: person)
        try realm.write { realm.delete(person) }
        #expect(realm.resolve(reference) == nil)
    }

    @Test("@ThreadSafe gives the calling thread's live object")
    func threadSafe() throws {
        let realm = try Realm(configuration: configuration)
        let person = Person(1, "Ada")
        try realm.write { realm.add(person) }
        let holder = ThreadSafe(wrappedValue: person)
        let configuration = configuration
        let queue = DispatchQueue(label: "threadSafe")
        queue.sync {
            #expect(holder.wrappedValue?.name == "Ada")
            #expect((try? Realm(configuration: configuration))?.objects(Person.self).count == 1)
        }
        try realm.write { realm.delete(person) }
        #expect(holder.wrappedValue == nil)
    }

    @Test("asyncWrite waits for another writer without blocking the actor, and returns the block's value")
    @MainActor
    func asyncWrite() async throws {
        let realm = try await Realm.open(configuration: configuration)
        let other = try Self.locked(configuration)
        // Late enough that the waiting write has tried a few times, however busy the machine.
        let (queue, writer) = other.value
        let locked = Shared(writer)
        queue.asyncAfter(deadline: .now() + .milliseconds(20)) { locked.value.cancelWrite() }
        let name = try await RealmCore.$maximumWait.withValue(.seconds(600)) {
            try await realm.asyncWrite {
                realm.add(Person(1, "Ada"))
                return "done"
            }
        }
        #expect(name == "done" && realm.objects(Person.self).count == 1)
        await #expect(throws: Stop.self) {
            try await realm.asyncWrite {
                realm.add(Person(2, "Bob"))
                throw Stop()
            }
        }
        #expect(realm.objects(Person.self).count == 1 && !realm.isInWriteTransaction)
    }

    @Test("writeAsync commits in order, calls back, and can be cancelled before it starts")
    func writeAsync() async throws {
        let queue = DispatchQueue(label: "writeAsync")
        let configuration = configuration
        let names: [String] = try await withCheckedThrowingContinuation { continuation in
            queue.async {
                do {
                    let realm = try Realm(configuration: configuration, queue: queue)
                    realm.writeAsync { realm.add(Person(1, "Ada")) }
                    let third = realm.writeAsync { realm.add(Person(3, "Never")) }
                    realm.beginAsyncWrite {
                        realm.add(Person(2, "Bob"))
                        realm.commitAsyncWrite { error in
                            #expect(error == nil)
                            continuation.resume(
                                returning: realm.objects(Person.self).sorted(byKeyPath: "_id").map(\.name))
                        }
                    }
                    #expect(realm.isPerformingAsynchronousWriteOperations)
                    #expect(realm.objects(Person.self).isEmpty)
                    try realm.cancelAsyncWrite(third)
                    // Has no effect, as in Realm.
                    try realm.cancelAsyncWrite(third)
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(names == ["Ada", "Bob"])
    }

    @Test("An asynchronous commit is reported before the next transaction begins, as in Realm")
    func asyncOrder() async throws {
        let queue = DispatchQueue(label: "order")
        let configuration = configuration
        let texts = Texts()
        let count: Int = try await withCheckedThrowingContinuation { continuation in
            queue.async {
                do {
                    let realm = try Realm(configuration: configuration, queue: queue)
                    realm.beginAsyncWrite {
                        realm.add(Person(1, "Ada"))
                        realm.beginAsyncWrite {
                            texts.append("inner")
                            realm.cancelWrite()
                            continuation.resume(returning: realm.objects(Person.self).count)
                        }
                        realm.commitAsyncWrite { _ in texts.append("first committed") }
                    }
                    realm.writeAsync {
                        texts.append("second")
                        realm.add(Person(2, "Bob"))
                    } onComplete: { _ in
                        texts.append("second committed")
                    }
                    realm.beginWrite()
                    realm.commitAsyncWrite { _ in texts.append("own committed") }
                } catch {
                    continuation.resume(throwing: error)
                }
            }
        }
        #expect(count == 2)
        #expect(texts.all == ["own committed", "first committed", "second", "second committed", "inner"])
    }

    @Test("An asynchronous transaction that can't begin says why when it's committed, like any other")
    func asyncFailure() throws {
        _ = try Realm.fresh(configuration)
        var readOnly = configuration
        readOnly.readOnly = true
        let configuration = readOnly
        let queue = DispatchQueue(label: "failure")
        let texts = Texts()
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.beginAsyncWrite {
                realm.add(Person(1, "Ada"))
                realm.commitAsyncWrite { error in
                    let code = (error as? Realm.Error)?.code
                    texts.append("\(code == .filePermissionDenied) \(realm.isInWriteTransaction)")
                }
            }
        }
        // Waits for the transaction's turn on the queue, and for its completion's.
        for _ in 0..<2 { queue.sync {} }
        #expect(texts.all == ["true false"])
    }

    /// A Realm on its own queue, in the middle of a write transaction.
    private static func locked(_ configuration: Realm.Configuration) throws -> Shared<(DispatchQueue, Realm)> {
        let queue = DispatchQueue(label: "locked")
        return try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            realm.beginWrite()
            return Shared((queue, realm))
        }
    }

    private func onThisThread<Result>(_ body: () throws -> Result) rethrows -> Result { try body() }
}

private struct Stop: Error {}
