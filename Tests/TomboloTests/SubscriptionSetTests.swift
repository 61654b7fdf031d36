import Dispatch
import Foundation
import Synchronization
import Testing
import TomboloModel
import TomboloSQLiteStore
import TomboloSyncProtocol
import TomboloSyncSession

@testable import Tombolo

/// Subscription sets of a device without a gateway: port 0 accepts no connections.
@Suite("Subscription sets", .timeLimit(.minutes(15)))
struct SubscriptionSetTests {
    private let folder: TemporaryFolder
    private let app: App

    init() throws {
        folder = try TemporaryFolder()
        app = App(id: "tests", configuration: .init(baseURL: "http://127.0.0.1:0", rootDirectory: folder.url))
    }

    private func realm(_ change: (inout Realm.Configuration) -> Void = { _ in }) async throws -> Realm {
        let claims = Data(#"{"sub":"ada"}"#.utf8).base64EncodedString().replacing("=", with: "")
        let user = try await app.login(credentials: .accessToken("e30.\(claims).unsigned"))
        var configuration = user.flexibleSyncConfiguration()
        configuration.objectTypes = [Session.self, Speaker.self, Room.self]
        change(&configuration)
        return try await Realm.open(configuration: configuration)
    }

    private func names(_ set: SyncSubscriptionSet) -> [String?] { set.map(\.name) }

    @Test("An update shows its changes inside the block and after it, and new sets show them too")
    func update() async throws {
        let realm = try await realm()
        let set = realm.subscriptions
        #expect(set.count == 0)
        #expect(set.state == .pending)
        var inside: [Int] = []
        set.update(
            {
                set.append(QuerySubscription<Room>(name: "rooms"))
                inside.append(set.count)
                set.append(QuerySubscription<Session> { $0._id > 3 })
                if set.first(named: "rooms") != nil { set.remove(named: "rooms") }
                inside.append(set.count)
            }, onComplete: nil)
        #expect(inside == [1, 1])
        #expect(names(set) == [nil])
        #expect(names(realm.subscriptions) == [nil])
        #expect(set.first(ofType: Session.self) { $0._id > 3 } != nil)
        #expect(set.first(ofType: Session.self, where: "_id > %@", 3) != nil)
        #expect(set.first(ofType: Session.self) { $0._id > 4 } == nil)
    }

    @Test("A repeated query keeps its subscription; reusing a name for another query refuses the whole update")
    func append() async throws {
        let realm = try await realm()
        let set = realm.subscriptions
        set.update({ set.append(QuerySubscription<Session>(name: "late") { $0._id > 3 }) }, onComplete: nil)
        let created = try #require(set.first).createdAt
        set.update({ set.append(QuerySubscription<Session>(name: "late") { $0._id > 3 }) }, onComplete: nil)
        #expect(set.count == 1)
        #expect(set.first?.createdAt == created)
        let error: (any Error)? = await withCheckedContinuation { continuation in
            set.update(
                {
                    set.append(QuerySubscription<Room>(name: "rooms"))
                    set.append(QuerySubscription<Session>(name: "late") { $0._id > 4 })
                }, onComplete: { continuation.resume(returning: $0) })
        }
        #expect((error as? Realm.Error)?.code == .subscriptionFailed)
        #expect(names(realm.subscriptions) == ["late"])
        #expect(names(set) == ["late"])
    }

    @Test("A name spelled with other code points is another name")
    func spelling() async throws {
        let (one, other) = ("caf\u{E9}", "cafe\u{301}")
        let set = try await realm().subscriptions
        set.update(
            {
                set.append(QuerySubscription<Session>(name: one) { $0._id > 3 })
                set.append(QuerySubscription<Session>(name: other) { $0._id > 4 })
                set.append(QuerySubscription<Session>(name: other) { $0._id > 4 })
            }, onComplete: nil)
        #expect(set.count == 2)
        set.update({ set.first(named: other)?.updateQuery(toType: Session.self) { $0._id > 5 } }, onComplete: nil)
        #expect(set.first(ofType: Session.self) { $0._id > 3 } != nil)
        set.update({ set.remove(named: one) }, onComplete: nil)
        #expect(set.count == 1 && set.first(named: one) == nil)
        #expect(set.first(ofType: Session.self) { $0._id > 5 } != nil)
    }

    @Test("updateQuery replaces the query in place and keeps name and creation time")
    func updateQuery() async throws {
        let realm = try await realm()
        let set = realm.subscriptions
        set.update(
            {
                set.append(QuerySubscription<Session>(name: "late") { $0._id > 3 })
                set.append(QuerySubscription<Room>(name: "rooms"))
            }, onComplete: nil)
        let created = try #require(set.first(named: "late")).createdAt
        set.update({ set.first(named: "late")?.updateQuery(toType: Session.self) { $0._id > 9 } }, onComplete: nil)
        #expect(names(set) == ["late", "rooms"])
        #expect(set.first(named: "late")?.createdAt == created)
        #expect(set.first(ofType: Session.self) { $0._id > 9 }?.name == "late")
        let error: (any Error)? = await withCheckedContinuation { continuation in
            set.update(
                { set.first(named: "late")?.updateQuery(toType: Room.self) },
                onComplete: {
                    continuation.resume(returning: $0)
                })
        }
        #expect((error as? Realm.Error)?.message.contains("can't be changed to one to Room") == true)
    }

    @Test("Subscriptions are removed by name, by query, by class, and all unnamed ones at once")
    func remove() async throws {
        let realm = try await realm()
        let set = realm.subscriptions
        func fill() {
            set.update(
                {
                    set.removeAll()
                    set.append(QuerySubscription<Session>(name: "named") { $0._id > 3 })
                    set.append(QuerySubscription<Session> { $0._id > 3 })
                    set.append(QuerySubscription<Room>(name: "rooms"))
                    set.append(QuerySubscription<Speaker>())
                }, onComplete: nil)
        }
        fill()
        set.update({ set.removeAll(unnamedOnly: true) }, onComplete: nil)
        #expect(names(set) == ["named", "rooms"])
        fill()
        set.update({ set.remove(ofType: Session.self) { $0._id > 3 } }, onComplete: nil)
        #expect(names(set) == ["named", "rooms", nil])
        set.update({ set.removeAll(ofType: Session.self) }, onComplete: nil)
        #expect(names(set) == ["rooms", nil])
        let last = try #require(set.last)
        set.update({ set.remove(last) }, onComplete: nil)
        #expect(names(set) == ["rooms"])
    }

    @Test("Names, times and order survive reopening")
    func persistence() async throws {
        var realm: Realm? = try await realm()
        let set = try #require(realm?.subscriptions)
        set.update(
            {
                set.append(QuerySubscription<Room>(name: "rooms"))
                set.append(QuerySubscription<Speaker>())
            }, onComplete: nil)
        let before = set.map { "\($0.name ?? "-") \($0.createdAt.timeIntervalSince1970)" }
        realm?.syncSession?.closeFile()
        realm = nil
        let after = try await self.realm().subscriptions.map {
            "\($0.name ?? "-") \($0.createdAt.timeIntervalSince1970)"
        }
        #expect(after == before)
    }

    @Test("A refused set is in the error state, waiting for it ends, and a later valid set gets through")
    func refused() async throws {
        let realm = try await realm()
        let session = try #require(realm.syncSession)
        let set = realm.subscriptions
        let version = try set.commit { set.append(QuerySubscription<Room>(name: "rooms")) }
        let store = try SQLiteDeviceStore(path: realm.core.file.path, schema: realm.core.schema)
        #expect(try store.state().wanted.version == version)
        let waiting = Task { try await session.waitForSubscriptions(version: version) }
        while session.waiterCount == 0 { await Task.yield() }
        try store.refuseSubscriptions(version: version, reason: "no")
        session.receive(.subscriptionsRefused(version: version, SessionFailure(.badSubscription, "no")))
        let error = await #expect(throws: Realm.Error.self) { try await waiting.value }
        #expect(error?.code == .subscriptionFailed)
        #expect(set.state == .error(SyncError(.invalidFlexibleSyncSubscriptions, "no")))
        #expect(try store.state().wanted == .empty)
        await #expect(throws: Realm.Error.self) { try await session.waitForSubscriptions(version: version) }

        let next = realm.subscriptions
        #expect(names(next) == ["rooms"])
        try next.commit { next.removeAll() }
        #expect(next.state == .pending)
        #expect(try store.state().wanted.version == version + 1)
    }

    @Test("Observers are told each state of a set once")
    func observe() async throws {
        let realm = try await realm()
        let session = try #require(realm.syncSession)
        let set = realm.subscriptions
        let version = try set.commit { set.append(QuerySubscription<Room>(name: "rooms")) }
        let (states, add) = AsyncStream.makeStream(of: SyncSubscriptionState.self)
        let token = set.observe(on: DispatchQueue(label: "states")) { add.yield($0) }
        var iterator = states.makeAsyncIterator()
        #expect(await iterator.next() == .pending)
        let store = try SQLiteDeviceStore(path: realm.core.file.path, schema: realm.core.schema)
        try store.refuseSubscriptions(version: version, reason: "no")
        session.receive(.subscriptionsRefused(version: version, SessionFailure(.badSubscription, "no")))
        #expect(await iterator.next() == .error(SyncError(.invalidFlexibleSyncSubscriptions, "no")))
        token.invalidate()
    }

    @Test("The last state that observers hear is the newest, whichever thread saw it")
    func newestState() {
        let states = ToldStates<Int>()
        let newest = Mutex(0)
        let told = Mutex(0)
        for number in 1...20_000 {
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 { newest.withLock { $0 = number } }
                states.tell(newest.withLock { $0 }) { state in told.withLock { $0 = state } }
            }
            #expect(told.withLock { $0 } == number)
        }
    }

    @Test("Initial subscriptions are made for a new file, and at every opening only if the configuration says so")
    func initialSubscriptions() async throws {
        for rerun in [false, true] {
            let calls = Texts()
            let change: (inout Realm.Configuration) -> Void = { configuration in
                configuration.fileURL = folder.url.appending(path: "initial-\(rerun).realm")
                configuration.syncConfiguration?.initialSubscriptions = InitialSubscriptionsConfiguration(
                    callback: { set in
                        calls.append("\(set.count)")
                        if set.first(named: "rooms") == nil { set.append(QuerySubscription<Room>(name: "rooms")) }
                    }, rerunOnOpen: rerun)
            }
            var realm: Realm? = try await realm(change)
            #expect(names(try #require(realm?.subscriptions)) == ["rooms"])
            _ = try await self.realm(change)
            realm?.syncSession?.closeFile()
            realm = nil
            _ = try await self.realm(change)
            #expect(calls.all == (rerun ? ["0", "1"] : ["0"]))
        }
    }

    @Test("Results subscribe to their query, with or without a name, and unsubscribe only from their own subscription")
    func results() async throws {
        let realm = try await realm()
        let late = realm.objects(Session.self).where { $0._id > 3 }
        try await late.subscribe(waitForSync: .never)
        try await late.subscribe(name: "late", waitForSync: .never)
        try await late.subscribe(name: "late", waitForSync: .never)
        #expect(names(realm.subscriptions) == [nil, "late"])
        try await realm.objects(Session.self).subscribe(name: "late", waitForSync: .never)
        #expect(realm.subscriptions.first(ofType: Session.self) { $0._id > 3 }?.name == nil)
        #expect(realm.subscriptions.count == 2)
        late.unsubscribe()
        #expect(names(realm.subscriptions) == ["late"])
        let error = await #expect(throws: POSIXError.self) {
            _ = try await realm.objects(Room.self).subscribe(timeout: 0.01)
        }
        #expect(error?.code == .ETIMEDOUT)
        #expect(realm.subscriptions.count == 2)
    }
}
