import EventModels
import Foundation
import ListingModels
import Tombolo

/// Does what the demo asks of a device: an app without a user interface.
@MainActor
final class Device {
    private let file: URL
    private var realm: Realm?

    init(file: URL) { self.file = file }

    func perform(_ command: String, _ words: [String]) async throws -> String {
        switch (command, words.count) {
        case ("login", 3): return try await login(url: words[0], email: words[1], password: words[2])
        case ("subscribe-event", 1): return try await subscribe(toEvent: words[0])
        case ("subscribe-homes", 0): return try await subscribeToHomes()
        case ("unsubscribe-homes", 0): return try await unsubscribeFromHomes()
        case ("count-homes", 0): return String(try open().objects(Listing.self).count)
        case ("schedule", 0): return try schedule()
        case ("tickets", 0): return try tickets()
        case ("has-session", 1): return try session(words[0]) == nil ? "no" : "yes"
        case ("title", 1): return try require(words[0]).title
        case ("rename", 2):
            let session = try require(words[0])
            try open().write { session.title = words[1] }
            return "renamed"
        case ("move-to-room", 2):
            let session = try require(words[0])
            let key = try ObjectId(string: words[1])
            guard let room = try open().object(ofType: Microlocation.self, forPrimaryKey: key) else {
                throw DeviceError("This device has no room \(words[1]).")
            }
            try open().write { session.room = room }
            return "moved"
        case ("offline", 0):
            try open().syncSession?.suspend()
            return "offline"
        case ("online", 0):
            try open().syncSession?.resume()
            return "online"
        case ("wait-for-upload", 0):
            try await open().syncSession?.waitForUpload()
            try open().refresh()
            return "uploaded"
        case ("quit", 0): return "bye"
        default: throw DeviceError("Unknown command: '\(command)' with \(words.count) words.")
        }
    }

    private func open() throws -> Realm {
        guard let realm else { throw DeviceError("Log in first.") }
        realm.refresh()
        return realm
    }

    private func login(url: String, email: String, password: String) async throws -> String {
        // To the server, each device of the demo is a separate one.
        let app = App(
            id: "demo",
            configuration: AppConfiguration(baseURL: url, rootDirectory: file.deletingPathExtension()))
        let user = try await app.login(credentials: .emailPassword(email: email, password: password))
        var configuration = user.flexibleSyncConfiguration()
        configuration.fileURL = file
        configuration.objectTypes = EventModels.objectTypes + ListingModels.objectTypes
        let realm = try await Realm.open(configuration: configuration)
        self.realm = realm
        _ = realm.syncSession?.addProgressNotification(for: .download, mode: .reportIndefinitely) {
            progress in
            say("~ \(progress.transferred) of \(progress.transferrable)")
        }
        return user.id
    }

    private func subscribe(toEvent id: String) async throws -> String {
        let key = try ObjectId(string: id)
        let event = Event()
        event._id = key
        let subscriptions = try open().subscriptions
        try await subscriptions.update {
            subscriptions.append(QuerySubscription<Event>(name: "event") { $0._id == key })
            subscriptions.append(QuerySubscription<Session>(name: "sessions") { $0.event == event })
            subscriptions.append(QuerySubscription<Speaker>(name: "speakers") { $0.event == event })
            subscriptions.append(QuerySubscription<Microlocation>(name: "rooms") { $0.event == event })
            subscriptions.append(QuerySubscription<Ticket>(name: "tickets") { $0.event == event })
        }
        let realm = try open()
        return "\(realm.objects(Session.self).count) sessions, \(realm.objects(Speaker.self).count) speakers, "
            + "\(realm.objects(Microlocation.self).count) rooms"
    }

    /// The query from the article that introduced Flexible Sync, line by line.
    private func subscribeToHomes() async throws -> String {
        let realm = try open()
        let subscriptions = realm.subscriptions
        try await subscriptions.write {
            subscriptions.append(
                QuerySubscription<Listing>(name: "home-search") {
                    $0.location == "dallas" && $0.price < 300000 && $0.bedrooms >= 3
                })
        }
        return String(realm.objects(Listing.self).count)
    }

    private func unsubscribeFromHomes() async throws -> String {
        let realm = try open()
        let subscriptions = realm.subscriptions
        try await subscriptions.write {
            subscriptions.remove(named: "home-search")
        }
        return String(realm.objects(Listing.self).count)
    }

    private func session(_ id: String) throws -> Session? {
        try open().object(ofType: Session.self, forPrimaryKey: try ObjectId(string: id))
    }

    private func require(_ id: String) throws -> Session {
        guard let session = try session(id) else { throw DeviceError("This device has no session \(id).") }
        return session
    }

    /// Sessions in order of time with room and speakers, separated by tabs, as an app's list would show them.
    private func schedule() throws -> String {
        let sessions = try open().objects(Session.self).sorted {
            ($0.startsAt ?? .distantPast, $0.title, $0._id) < ($1.startsAt ?? .distantPast, $1.title, $1._id)
        }
        return sessions.map { session in
            let speakers = session.speakers.map(\.name).joined(separator: ", ")
            return "\(session.title) | \(session.room?.name ?? "no room") | \(speakers)"
        }.joined(separator: "\t")
    }

    private func tickets() throws -> String {
        try open().objects(Ticket.self).sorted(byKeyPath: "rank").map(\.name).joined(separator: ", ")
    }
}

/// A command that this device can't perform.
struct DeviceError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
