import Dispatch
import Foundation
import Testing
import TomboloModel

@testable import Tombolo

@Suite("Versions and confinement")
struct ConfinementTests {
    let folder: TemporaryFolder
    var configuration: Realm.Configuration { folder.configuration() }

    init() throws { folder = try TemporaryFolder() }

    @Test("A Realm shows one version until it is refreshed or writes")
    func versions() throws {
        let one = try Realm.fresh(configuration)
        let two = try Realm.fresh(configuration)
        #expect(one != two)
        try one.write { one.add(Session(1, "First")) }
        #expect(two.objects(Session.self).isEmpty)
        #expect(two.refresh())
        let session = try #require(two.objects(Session.self).first)
        let results = two.objects(Session.self)
        try one.write {
            one.objects(Session.self)[0].title = "Second"
            one.add(Session(2, "Other"))
        }
        #expect(session.title == "First")
        #expect(results.count == 1)
        #expect(two.refresh())
        #expect(!two.refresh())
        #expect(session.title == "Second")
        #expect(results.count == 2)
        try one.write { one.delete(one.objects(Session.self)) }
        #expect(!session.isInvalidated)
        try two.write { #expect(session.isInvalidated) }
        #expect(results.isEmpty)
    }

    @Test("Listeners hear their Realm's commits before write returns, and others' when the Realm advances")
    func listeners() throws {
        let one = try Realm.fresh(configuration)
        let two = try Realm.fresh(configuration)
        var heard: [String] = []
        let token = two.observe { notification, realm in
            heard.append("\(notification) \(realm.objects(Session.self).count)")
        }
        try two.write { two.add(Session(1, "Mine")) }
        #expect(heard == ["didChange 1"])
        try one.write { one.add(Session(2, "Theirs")) }
        #expect(heard == ["didChange 1"])
        two.refresh()
        two.refresh()
        #expect(heard == ["didChange 1", "didChange 2"])
        try one.write { one.add(Session(3, "Theirs")) }
        try two.write { #expect(heard.last == "didChange 3") }
        #expect(heard.count == 4)
        token.invalidate()
        try two.write { two.add(Session(4, "Mine")) }
        #expect(heard.count == 4)
    }

    @Test("A configuration has one Realm per thread")
    func shared() throws {
        let one = try Realm(configuration: configuration)
        let two = try Realm(configuration: configuration)
        #expect(one == two)
        let object = Session(1, "One")
        try one.write { one.add(object) }
        try two.write { object.title = "Two" }
        #expect(object.realm == two)
    }

    @Test("A Realm on a queue refreshes automatically")
    func queue() throws {
        let queue = DispatchQueue(label: "test")
        let changed = DispatchSemaphore(value: 0)
        final class Holder: @unchecked Sendable {
            // Used only on `queue`.
            var token: NotificationToken?
            var results: Results<Session>?
        }
        let holder = Holder()
        try queue.sync {
            let realm = try Realm(configuration: configuration, queue: queue)
            holder.results = realm.objects(Session.self)
            holder.token = realm.observe { _, _ in changed.signal() }
        }
        let writer = try Realm.fresh(configuration)
        try writer.write { writer.add(Session(1, "One")) }
        changed.wait()
        queue.sync {
            #expect(holder.results?.count == 1)
            holder.results = nil
            holder.token = nil
        }
    }

    @Test("A Realm on an actor refreshes automatically and survives suspension")
    func actors() async throws {
        actor Screen {
            private var realm: Realm?
            private var token: NotificationToken?
            private var arrived: CheckedContinuation<Int, Never>?
            private var count = 0

            func open(_ configuration: Realm.Configuration) async throws {
                let realm = try await Realm.open(configuration: configuration)
                self.realm = realm
                await Task.yield()
                try realm.write { realm.add(Session(1, "Mine")) }
                token = realm.observe { [weak self] _, realm in
                    let count = realm.objects(Session.self).count
                    self?.assumeIsolated { $0.arrive(count) }
                }
            }

            private func arrive(_ count: Int) {
                self.count = count
                arrived?.resume(returning: count)
                arrived = nil
            }

            func next() async -> Int {
                if count > 0 { return count }
                return await withCheckedContinuation { arrived = $0 }
            }
        }
        let screen = Screen()
        try await screen.open(configuration)
        let writer = try await Realm.open(configuration: configuration)
        try writer.write { writer.add(Session(2, "Theirs")) }
        #expect(await screen.next() == 2)
    }

    @Test("Using a Realm on the wrong thread stops the program and says why")
    func wrongThread() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            struct Smuggled: @unchecked Sendable {
                let realm: Realm
                let object: Session
            }
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: "thread", objectTypes: [Session.self]))
            let session = Session(1, "One")
            try realm.write { realm.add(session) }
            let smuggled = Smuggled(realm: realm, object: session)
            let done = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                _ = smuggled.object.title
                done.signal()
            }
            done.wait()
        }
        #expect(
            String(decoding: result.standardErrorContent, as: UTF8.self).contains(
                "Realm accessed from incorrect thread."))
    }

    @Test("Writing outside of a transaction stops the program and says what to do")
    func outsideTransaction() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: "outside", objectTypes: [Session.self]))
            let session = Session(1, "One")
            try realm.write { realm.add(session) }
            session.title = "Two"
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("outside of a write transaction"))
    }

    @Test("Reading a deleted object stops the program and names it")
    func deletedObject() async throws {
        let result = try await #require(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let realm = try Realm(
                configuration: .init(inMemoryIdentifier: "deleted", objectTypes: [Session.self]))
            let session = Session(17, "One")
            try realm.write { realm.add(session) }
            try realm.write { realm.delete(session) }
            _ = session.title
        }
        let text = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(text.contains("Object has been deleted or invalidated. It was Session 17"))
    }

    @Test("Writers of two Realms wait for each other")
    func concurrentWriters() async throws {
        let configuration = configuration
        let first = try Realm.fresh(configuration)
        try first.write { first.add(Session(0, "", price: 0)) }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    do {
                        let realm = try await Realm.open(configuration: configuration)
                        for _ in 0..<25 {
                            try whenFree { try realm.write { realm.objects(Session.self)[0].price += 1 } }
                        }
                    } catch {
                        Issue.record(error)
                    }
                }
            }
        }
        first.refresh()
        #expect(first.objects(Session.self)[0].price == 100)
    }

    @Test("invalidate() releases objects, and the Realm stays usable")
    func invalidation() throws {
        let realm = try Realm.fresh(configuration)
        let session = Session(1, "One")
        try realm.write { realm.add(session) }
        realm.invalidate()
        #expect(session.isInvalidated)
        #expect(realm.objects(Session.self).first?.title == "One")
    }
}
