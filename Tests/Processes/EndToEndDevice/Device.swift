import EventModels
import Foundation
import ListingModels
import Synchronization
import Tombolo

/// Performs what the tests ask a device to do.
@MainActor
final class Device {
    private let file: URL
    private var realm: Realm?
    private var editing: Task<Void, any Error>?
    nonisolated private let problems = Mutex<[String]>([])
    nonisolated private let resets: ResetLog

    init(file: URL) {
        self.file = file
        resets = ResetLog(file: file.appendingPathExtension("resets"))
    }

    func perform(_ command: String, _ words: [String]) async throws -> String {
        switch (command, words.count) {
        case ("open", 2...3):
            return try await open(
                url: words[0], token: words[1], trusted: words.count > 2 ? URL(filePath: words[2]) : nil)
        case ("subscribe", 1...): return try await subscribe(to: words)
        case ("unsubscribe", 1...):
            let classes = try words.map { try ModelClass.named($0) }
            let subscriptions = try current().subscriptions
            try await subscriptions.update { for item in classes { item.unsubscribe(subscriptions) } }
            return "removed"
        case ("subscribe-homes", 0):
            let subscriptions = try current().subscriptions
            try await subscriptions.update {
                subscriptions.append(
                    QuerySubscription<Listing>(name: "home-search") {
                        $0.location == "dallas" && $0.price < 300000 && $0.bedrooms >= 3
                    })
            }
            return "subscribed"
        case ("unsubscribe-homes", 0):
            let subscriptions = try current().subscriptions
            try await subscriptions.update { subscriptions.remove(named: "home-search") }
            return "removed"
        case ("count", 1): return String(try ModelClass.named(words[0]).count(current()))
        case ("create", 2...):
            var values = try self.values(words.dropFirst(2))
            values["_id"] = try ObjectId(string: words[1])
            let realm = try current()
            let item = try ModelClass.named(words[0])
            try realm.write { item.create(realm, values) }
            return "created"
        case ("set", 3...):
            let object = try find(words[0], words[1])
            let values = try self.values(words.dropFirst(2))
            try current().write { for (name, value) in values { object[name] = value } }
            return "set"
        case ("add", 3):
            guard let listing = try find("Listing", words[0]) as? Listing, let amount = Int(words[2]),
                words[1] == "price"
            else { throw DeviceError("Only a listing's price can be added to.") }
            try current().write { listing.increment(\.price, by: amount) }
            return "added"
        case ("die-in", 1):
            resets.die(in: words[0])
            return "will"
        case ("erase", 2):
            let object = try find(words[0], words[1])
            let realm = try current()
            try realm.write { realm.delete(object) }
            return "erased"
        case ("get", 3):
            return "\(try find(words[0], words[1])[words[2]] ?? "nil")"
        case ("upload", 0):
            try await current().syncSession?.waitForUpload()
            try current().refresh()
            return "uploaded"
        case ("problems", 0): return problems.withLock { $0 }.joined(separator: "\t")
        case ("offline", 0):
            guard let session = try current().syncSession else { throw DeviceError("There is no session.") }
            // Until this returns, it may still connect and upload.
            await session.suspendAndWait()
            return "offline"
        case ("online", 0):
            try current().syncSession?.resume()
            return "online"
        case ("edit", 3): return try startEditing(seed: words[0], counters: Array(words.dropFirst()))
        case ("rest", 0):
            editing?.cancel()
            try? await editing?.value
            editing = nil
            return "resting"
        case ("quit", 0): return "bye"
        default: throw DeviceError("This device doesn't know '\(command)' with \(words.count) words.")
        }
    }

    private func current() throws -> Realm {
        guard let realm else { throw DeviceError("Open the file first.") }
        realm.refresh()
        return realm
    }

    private func open(url: String, token: String, trusted: URL?) async throws -> String {
        let app = App(
            id: "end-to-end",
            configuration: AppConfiguration(
                baseURL: url, rootDirectory: file.deletingPathExtension(), trustedCertificates: trusted))
        let user = try await app.login(credentials: .accessToken(token))
        var configuration = user.flexibleSyncConfiguration()
        let resets = resets
        let mode = ClientResetMode.recoverUnsyncedChanges { before in
            resets.note("before", before)
        } afterReset: { before, after in
            resets.note("after", before, after)
        }
        configuration.syncConfiguration = SyncConfiguration(user: user, clientResetMode: mode) { [weak self] error, _ in
            // The device stalled while connecting, and will reconnect.
            if error.message.contains("did not open its session within") { return }
            let numbers = error.compensatingWrites.map { String($0.number) }.joined(separator: ",")
            self?.problems.withLock { $0.append("\(error.code) [\(numbers)] \(error.message)") }
        }
        configuration.fileURL = file
        configuration.objectTypes = EventModels.objectTypes + ListingModels.objectTypes
        realm = try await Realm.open(configuration: configuration)
        return user.id
    }

    private func subscribe(to names: [String]) async throws -> String {
        let classes = try names.map { try ModelClass.named($0) }
        let subscriptions = try current().subscriptions
        try await subscriptions.update { for item in classes { item.subscribe(subscriptions) } }
        return "subscribed"
    }

    private func find(_ name: String, _ id: String) throws -> Object {
        guard let object = try ModelClass.named(name).find(current(), try ObjectId(string: id)) else {
            throw DeviceError("There is no \(name) \(id) on this device.")
        }
        return object
    }

    /// `property=kind:text`, where kind is s, i or b, k for an id, or o for a link: `o:Class:id`.
    private func values(_ words: some Sequence<String>) throws -> [String: Any] {
        var result: [String: Any] = [:]
        for word in words {
            let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
            let kind = parts.count == 2 ? parts[1].prefix(2) : ""
            let text = String(parts.last?.dropFirst(2) ?? "")
            switch kind {
            case "s:": result[parts[0]] = text
            case "i:": result[parts[0]] = Int(text) ?? 0
            case "b:": result[parts[0]] = text == "true"
            case "k:": result[parts[0]] = try ObjectId(string: text)
            case "o:":
                let link = text.split(separator: ":").map(String.init)
                guard link.count == 2 else { throw DeviceError("'\(word)' doesn't name an object.") }
                result[parts[0]] = try find(link[0], link[1])
            default: throw DeviceError("'\(word)' isn't a property with a value.")
            }
        }
        return result
    }

    // MARK: The device's own edits

    /// Edits until told to stop. Every transaction makes one listing named after the first counter and adds one to both counters,
    /// so their values show how many transactions took effect. It also changes shared rows.
    private func startEditing(seed: String, counters: [String]) throws -> String {
        guard editing == nil else { throw DeviceError("This device is already editing.") }
        let editor = Editor(seed: UInt64(seed) ?? 0, counters: try counters.map { try ObjectId(string: $0) })
        let realm = try current()
        editing = Task {
            while !Task.isCancelled {
                realm.refresh()
                say("+ \(try editor.edit(realm))")
                try await Task.sleep(for: .milliseconds(editor.pauseMilliseconds()))
            }
        }
        return "editing"
    }
}
