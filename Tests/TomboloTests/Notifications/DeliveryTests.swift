import Dispatch
import Foundation
import Synchronization
import Testing
import TomboloModel

@testable import Tombolo
@testable import TomboloSQLiteStore

/// Where and when listeners are called.
@Suite("Delivery of notifications")
struct DeliveryTests {
    let folder: TemporaryFolder
    var configuration: Realm.Configuration { folder.configuration() }

    init() throws { folder = try TemporaryFolder() }

    /// Records events on a queue and lets another thread wait for them.
    private final class QueueUser: @unchecked Sendable {
        // Used only on `queue`, except the semaphore.
        let queue = DispatchQueue(label: "test")
        let heard = DispatchSemaphore(value: 0)
        var realm: Realm?
        var token: NotificationToken?
        var counts: [Int] = []
        var notifications: [Realm.Notification] = []

        func run(_ body: @Sendable (QueueUser) throws -> Void) rethrows { try queue.sync { try body(self) } }

        func observe() {
            guard let realm else { return }
            token = realm.objects(Session.self).observe { [unowned self] change in
                switch change {
                case .initial(let sessions), .update(let sessions, _, _, _): counts.append(sessions.count)
                case .error: counts.append(-1)
                }
                heard.signal()
            }
        }
    }

    @Test("On a queue, listeners are called automatically, for other Realms' commits too")
    func queue() throws {
        let configuration = configuration
        let user = QueueUser()
        try user.run { user in
            user.realm = try Realm(configuration: configuration, queue: user.queue)
            user.observe()
            #expect(user.counts == [])
        }
        user.heard.wait()
        let writer = try Realm.fresh(configuration)
        try writer.write { writer.add(Session(1, "One")) }
        user.heard.wait()
        try user.run { user in
            try user.realm?.write { user.realm?.add(Session(2, "Two")) }
            #expect(user.counts == [0, 1])
        }
        user.heard.wait()
        user.run { user in
            #expect(user.counts == [0, 1, 2])
            user.token = nil
            user.realm = nil
        }
    }

    @Test("Another process's commit is noticed and reported")
    func otherProcess() async throws {
        let configuration = configuration
        let user = QueueUser()
        try user.run { user in
            user.realm = try Realm(configuration: configuration, queue: user.queue)
            user.observe()
        }
        user.heard.wait()
        let path = folder.url.appending(path: "test.sqlite").path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let realm = try Realm(
                configuration: .init(
                    fileURL: URL(fileURLWithPath: path), objectTypes: [Session.self, Speaker.self, Room.self]))
            try realm.write { for id in 1...3 { realm.add(Session(id, "From elsewhere")) } }
        }
        user.heard.wait()
        user.run { user in
            #expect(user.counts == [0, 3])
            user.token = nil
            user.realm = nil
        }
    }

    @Test("A Realm with autorefresh off is told of other processes' commits, not of its own")
    func refreshRequired() async throws {
        let configuration = configuration
        let user = QueueUser()
        try user.run { user in
            let realm = try Realm(configuration: configuration, queue: user.queue)
            realm.autorefresh = false
            user.realm = realm
            user.token = realm.observe { [unowned user] notification, realm in
                user.notifications.append(notification)
                user.heard.signal()
            }
        }
        let path = folder.url.appending(path: "test.sqlite").path
        await #expect(processExitsWith: .success) { [path = path as String] in
            let realm = try Realm(
                configuration: .init(
                    fileURL: URL(fileURLWithPath: path), objectTypes: [Session.self, Speaker.self, Room.self]))
            try realm.write { realm.add(Session(1, "From elsewhere")) }
        }
        // The first report may come before the commit is visible.
        var isRefreshed = false
        while !isRefreshed {
            user.heard.wait()
            isRefreshed = user.queue.sync {
                #expect(user.notifications.allSatisfy { $0 == .refreshRequired })
                #expect(user.realm?.objects(Session.self).count == 0)
                return user.realm?.refresh() == true
            }
        }
        user.run { user in
            #expect(user.notifications.last == .didChange)
            #expect(user.realm?.objects(Session.self).count == 1)
            user.token = nil
            user.realm = nil
        }
    }

    @Test(
        "Each commit elsewhere is reported once as refreshRequired, own commits never")
    func refreshRequiredOnce() throws {
        let configuration = configuration
        let user = QueueUser()
        try user.run { user in
            let realm = try Realm(configuration: configuration, queue: user.queue)
            realm.autorefresh = false
            user.realm = realm
            user.token = realm.observe { [unowned user] notification, _ in user.notifications.append(notification) }
        }
        let observers = user.queue.sync { user.realm?.core.file.observers }
        /// Does what the file's watcher does after any write.
        func look() {
            observers?.notify(from: nil)
            user.queue.sync {}
        }
        for number in 0..<10 {
            try user.run { user in try user.realm?.write { user.realm?.add(Session(number, "Mine")) } }
            look()
        }
        #expect(user.queue.sync { user.notifications } == Array(repeating: .didChange, count: 10))
        let other = try Realm.fresh(configuration)
        for number in 10..<12 {
            user.queue.sync { user.notifications = [] }
            try other.write { other.add(Session(number, "Theirs")) }
            for _ in 0..<3 { look() }
            #expect(user.queue.sync { user.notifications } == [.refreshRequired])
        }
        // Another process's commit right after this Realm's own isn't mistaken for it.
        user.run { user in
            user.realm?.refresh()
            user.notifications = []
        }
        try user.run { user in try user.realm?.write { user.realm?.add(Session(20, "Mine")) } }
        try SQLiteConnection(path: folder.url.appending(path: "test.sqlite").path, durability: .full)
            .execute("UPDATE session SET title = 'Foreign'")
        for _ in 0..<3 { look() }
        user.run { user in
            #expect(user.notifications == [.didChange, .refreshRequired])
            #expect(user.realm?.refresh() == true)
            #expect(user.realm?.objects(Session.self).first?.title == "Foreign")
            user.token = nil
            user.realm = nil
        }
    }

    @Test("observe(on: queue) calls on the queue with its Realm's collection, and any thread can invalidate the token")
    func onQueue() throws {
        let realm = try Realm.fresh(configuration)
        try realm.write { realm.add(Session(1, "One", price: 20)) }
        let queue = DispatchQueue(label: "test")
        let mark = QueueMark(marking: queue)
        let heard = DispatchSemaphore(value: 0)
        let texts = Mutex<[String]>([])
        let session = try #require(realm.objects(Session.self).first)
        let results = realm.objects(Session.self).where { $0.price > 10 }
        let tokens = [
            results.observe(on: queue) { change in
                guard mark.isCurrent else { return }
                switch change {
                case .initial(let found): texts.withLock { $0.append("initial \(Array(found.map(\._id)))") }
                case .update(let found, let deletions, let insertions, let modifications):
                    texts.withLock {
                        $0.append("\(Array(found.map(\._id))) \(deletions) \(insertions) \(modifications)")
                    }
                case .error(let error): texts.withLock { $0.append("\(error)") }
                }
                heard.signal()
            },
            session.observe(on: queue) { change in
                guard mark.isCurrent else { return }
                if case .change(let session, let properties) = change {
                    texts.withLock { $0.append("\(session.title) \(properties.map(\.name))") }
                    heard.signal()
                }
            },
        ]
        heard.wait()
        // Both listen by now: the second was added after the first and before the first one's initial call.
        queue.sync {}
        try realm.write { session.title = "Changed" }
        heard.wait()
        heard.wait()
        #expect(texts.withLock { $0.sorted() } == ["Changed [\"title\"]", "[1] [] [] [0]", "initial [1]"])
        for token in tokens { token.invalidate() }
        try realm.write { session.title = "Not heard" }
        queue.sync {}
        queue.sync {}
        #expect(texts.withLock { $0.count } == 3)
    }

    @Test("observe(on: actor) calls on the actor")
    func onActor() async throws {
        actor Screen {
            var texts: [String] = []
            private var waiting: CheckedContinuation<Void, Never>?

            func note(_ text: String) {
                texts.append(text)
                waiting?.resume()
                waiting = nil
            }

            func heard(_ count: Int) async -> [String] {
                while texts.count < count { await withCheckedContinuation { waiting = $0 } }
                return texts
            }
        }
        let screen = Screen()
        let realm = try await Realm.open(configuration: configuration)
        try realm.write { realm.add(Session(1, "One")) }
        let token = await realm.objects(Session.self).observe(on: screen) { screen, change in
            switch change {
            case .initial(let sessions): screen.note("initial \(sessions.count)")
            case .update(let sessions, _, let insertions, _): screen.note("\(sessions.count) \(insertions)")
            case .error(let error): screen.note("\(error)")
            }
        }
        #expect(await screen.heard(1) == ["initial 1"])
        try realm.write { realm.add(Session(2, "Two")) }
        #expect(await screen.heard(2) == ["initial 1", "2 [1]"])
        token.invalidate()
    }

    @Test("A write in a Realm's listener doesn't call the Realm's listeners again, like in Realm")
    func order() throws {
        let realm = try Realm.fresh(configuration)
        var heard: [String] = []
        let tokens = [
            realm.observe { _, realm in
                let count = realm.objects(Session.self).count
                heard.append("first \(count)")
                try? realm.write { realm.add(Session(count + 1, "From a listener")) }
                heard.append("wrote \(count + 1)")
            },
            realm.observe { _, realm in heard.append("second \(realm.objects(Session.self).count)") },
        ]
        try realm.write { realm.add(Session(1, "One")) }
        #expect(heard == ["first 1", "wrote 2", "second 2"])
        realm.refresh()
        #expect(heard.count == 3)
        tokens[1].invalidate()
        try realm.write { realm.add(Session(3, "Three")) }
        #expect(heard.suffix(2) == ["first 3", "wrote 4"] && heard.count == 5)
        for token in tokens { token.invalidate() }
    }

    @Test("On a thread without a run loop, listeners are called while the Realm refreshes")
    func thread() throws {
        let realm = try Realm(configuration: configuration)
        let other = try Realm.fresh(configuration)
        var counts: [Int] = []
        let token = realm.objects(Session.self).observe { change in
            if case .initial(let sessions) = change { counts.append(sessions.count) }
            if case .update(let sessions, _, _, _) = change { counts.append(sessions.count) }
        }
        try other.write { other.add(Session(1, "Theirs")) }
        try realm.write { realm.add(Session(2, "Mine")) }
        // The write picked up the other Realm's commit.
        #expect(counts == [1])
        #expect(!realm.refresh())
        #expect(counts == [1, 2])
        token.invalidate()
    }

    @Test("Listeners hear others' writes before a write transaction begins, and may write themselves")
    func beforeWriting() throws {
        let (realm, other) = (try Realm.fresh(configuration), try Realm.fresh(configuration))
        var heard: [String] = []
        let token = realm.objects(Session.self).observe { change in
            guard case .update(_, _, let insertions, _) = change else { return }
            heard.append("\(insertions) \(realm.isInWriteTransaction)")
        }
        realm.refresh()
        try other.write { other.add(Session(1, "Theirs")) }
        try realm.write {
            #expect(heard == ["[0] false"])
            realm.add(Session(2, "Mine"))
        }
        realm.refresh()
        #expect(heard == ["[0] false", "[1] false"])
        token.invalidate()
    }

    @Test("A task gets changes one by one, merged while it's busy, until it's cancelled")
    func sequences() async throws {
        let realm = try await Realm.open(configuration: configuration)
        let other = try Realm.fresh(configuration)
        var changes = realm.objects(Session.self).changesets.makeAsyncIterator()
        guard case .initial(let sessions) = await changes.next() else {
            Issue.record("No beginning.")
            return
        }
        #expect(sessions.isEmpty)
        for id in 1...3 { try other.write { other.add(Session(id, "Theirs")) } }
        guard case .update(let more, let deletions, let insertions, let modifications) = await changes.next() else {
            Issue.record("No update.")
            return
        }
        #expect(more.count == 3)
        #expect((deletions, insertions, modifications) == ([], [0, 1, 2], []))
        var values = realm.objects(Session.self).values.makeAsyncIterator()
        #expect(await values.next()?.count == 3)
        try realm.write { realm.add(Session(4, "Mine")) }
        #expect(await values.next()?.count == 4)

        let configuration = configuration
        let (started, start) = AsyncStream<Void>.makeStream()
        let reader = Task {
            let realm = try await Realm.open(configuration: configuration)
            var count = 0
            for await _ in realm.objects(Session.self).values {
                count += 1
                start.yield()
            }
            return count
        }
        for await _ in started { break }
        reader.cancel()
        #expect(try await reader.value == 1)
    }

    @Test("A task gets an object's changes one by one, up to its deletion")
    func objectSequence() async throws {
        let realm = try await Realm.open(configuration: configuration)
        let other = try Realm.fresh(configuration)
        try realm.write { realm.add(Session(1, "One")) }
        other.refresh()
        let session = try #require(realm.object(ofType: Session.self, forPrimaryKey: 1))
        let theirs = try #require(other.object(ofType: Session.self, forPrimaryKey: 1))
        var changes = session.changesets(keyPaths: ["title"]).makeAsyncIterator()
        for title in ["Two", "Three"] {
            try other.write {
                theirs.title = title
                theirs.price += 1
            }
            guard case .change(let session, let properties) = await changes.next() else {
                Issue.record("No change.")
                return
            }
            #expect(session.title == title && properties.map(\.name) == ["title"])
        }
        try other.write { other.delete(theirs) }
        guard case .deleted = await changes.next() else {
            Issue.record("Not deleted.")
            return
        }
        let end = await changes.next()
        #expect(end == nil)
        #expect(session.isInvalidated)
    }

    @Test("A task gets a Realm's notifications one by one")
    func realmSequence() async throws {
        let realm = try await Realm.open(configuration: configuration)
        let other = try Realm.fresh(configuration)
        var notifications = realm.notifications.makeAsyncIterator()
        try other.write { other.add(Session(1, "One")) }
        #expect(await notifications.next() == .didChange)
        #expect(realm.objects(Session.self).count == 1)
        try realm.write { realm.add(Session(2, "Two")) }
        #expect(await notifications.next() == .didChange)
        realm.autorefresh = false
        try other.write { other.add(Session(3, "Three")) }
        #expect(await notifications.next() == .refreshRequired)
        #expect(realm.objects(Session.self).count == 2)
        realm.refresh()
        #expect(await notifications.next() == .didChange)
        #expect(realm.objects(Session.self).count == 3)
    }

    @Test("A commit elsewhere wakes a waiting task")
    func waiting() async throws {
        let configuration = configuration
        let (counts, continuation) = AsyncStream<Int>.makeStream()
        let reader = Task {
            let realm = try await Realm.open(configuration: configuration)
            for await sessions in realm.objects(Session.self).values {
                continuation.yield(sessions.count)
                if sessions.count == 2 { break }
            }
        }
        var heard: [Int] = []
        let writer = try Realm.fresh(configuration)
        for await count in counts {
            heard.append(count)
            if count == 2 { break }
            try writer.write { writer.add(Session(heard.count, "One more")) }
        }
        #expect(heard == [0, 1, 2])
        try await reader.value
    }

    @Test("Refreshing a Realm with autorefresh off wakes a waiting task", .timeLimit(.minutes(15)))
    @MainActor
    func refreshedByHand() async throws {
        // No other signal can arrive: the commit is made before the task listens, to a file that isn't being watched by then.
        var configuration = configuration
        configuration.inMemoryIdentifier = UUID().uuidString
        let realm = try await Realm.open(configuration: configuration)
        realm.autorefresh = false
        let other = try Realm.fresh(configuration)
        try other.write { other.add(Session(1, "Theirs")) }
        let (counts, continuation) = AsyncStream<Int>.makeStream()
        let reader = Task {
            for await sessions in realm.objects(Session.self).values { continuation.yield(sessions.count) }
        }
        var heard: [Int] = []
        for await count in counts {
            heard.append(count)
            if count == 1 { break }
            realm.refresh()
        }
        #expect(heard == [0, 1])
        reader.cancel()
        await reader.value
    }
}
