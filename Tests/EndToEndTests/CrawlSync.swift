import Foundation
import PostgresClient
import TomboloChangesets
import TomboloModel
import TomboloSyncProtocol

/// Finds out what a role's edits on a device change in the database, within the role's event and in another one. The
/// device can't edit what it can't see, so forged instructions try that instead.
struct CrawlSync {
    let platform: Platform
    let token: String
    let device: DeviceProcess

    /// What the device saw of a site, and what it created there.
    private struct Attempt {
        let site: CrawlSite
        var made: [String: ObjectId] = [:]
        var read: Set<String> = []

        var seesEvent: Bool { read.contains(CrawlKind.event.name) }
    }

    init(_ role: String, _ token: String, _ platform: Platform) async {
        (self.platform, self.token) = (platform, token)
        device = DeviceProcess(
            name: role, file: platform.folder.appending(path: "\(role).realm"), url: await platform.gateways[0].url,
            token: token)
    }

    /// For each site, the letters of the permitted operations, by service.
    func crawl(_ sites: [CrawlSite]) async throws -> [[String: String]] {
        try await device.start()
        try await device.ask(["subscribe"] + ([.event] + CrawlKind.all).map(\.name))
        var attempts: [Attempt] = []
        for site in sites { attempts.append(try await edit(site)) }
        try await device.ask("upload")
        try await forge(try attempts.flatMap { try instructions($0) })
        var found: [[String: String]] = []
        for attempt in attempts {
            var letters: [String: String] = [:]
            for kind in CrawlKind.all { letters[kind.service] = try await self.letters(kind, attempt) }
            found.append(letters)
        }
        // Events last, because erasing an event erases everything in it.
        for attempt in attempts where attempt.seesEvent {
            try await device.ask("erase", "Event", attempt.site.event.stringValue)
        }
        try await device.ask("upload")
        for (index, attempt) in attempts.enumerated() {
            found[index][CrawlKind.event.service] = try await letters(.event, attempt)
        }
        try await device.kill9()
        return found
    }

    // MARK: Edits

    private func has(_ name: String, _ id: ObjectId, _ property: String) async -> Bool {
        (try? await device.ask("get", name, id.stringValue, property)) != nil
    }

    /// Edits the objects that the device has.
    private func edit(_ site: CrawlSite) async throws -> Attempt {
        var attempt = Attempt(site: site)
        if await has("Event", site.event, "name") { attempt.read.insert("Event") }
        for kind in CrawlKind.all {
            let (ids, value) = (site.ids(kind), "\(kind.property)=s:\(kind.after)")
            if await has(kind.name, ids[0], kind.property) {
                attempt.read.insert(kind.name)
                try await device.ask("set", kind.name, ids[1].stringValue, value)
                try await device.ask("erase", kind.name, ids[2].stringValue)
            }
            let id = ObjectId.generate()
            attempt.made[kind.name] = id
            guard attempt.seesEvent || !kind.isOfEvent else { continue }
            var words = ["create", kind.name, id.stringValue, value]
            if let unique = kind.unique { words.append("\(unique)=s:made") }
            if kind.isOfEvent { words.append("event=o:Event:\(site.event)") }
            if kind.name == CrawlKind.assignment.name, await has("User", site.holders[3], "displayName") {
                words.append("user=o:User:\(site.holders[3])")
            }
            try await device.ask(words)
        }
        let newEvent = ObjectId.generate()
        attempt.made["Event"] = newEvent
        try await device.ask("create", "Event", newEvent.stringValue, "name=s:after", "identifier=s:\(newEvent)")
        if attempt.seesEvent { try await device.ask("set", "Event", site.event.stringValue, "name=s:after") }
        return attempt
    }

    /// Instructions for objects that the device lacks, which its interface has no way to write.
    private func instructions(_ attempt: Attempt) throws -> [Instruction] {
        var result: [Instruction] = []
        for kind in CrawlKind.all + [.event] where !attempt.read.contains(kind.name) {
            guard let item = kind.item, let index = Platform.schema.index(of: kind.name),
                let property = item.columnIndex(kind.property)
            else { throw EndToEndFailure("The schema has no \(kind.name).\(kind.property).") }
            func reference(_ id: ObjectId) -> ObjectReference {
                ObjectReference(classIndex: index, key: .objectId(id))
            }
            let ids = attempt.site.ids(kind)
            result.append(.set(reference(ids[1]), [FieldWrite(column: property, value: .string(kind.after))]))
            result.append(.erase(reference(ids[2])))
            guard kind.isOfEvent, kind.name != CrawlKind.event.name, !attempt.seesEvent,
                let made = attempt.made[kind.name]
            else { continue }
            var values = item.columns.map { $0.isOptional ? Value.null : $0.type.zero }
            for (column, value) in kind.required {
                if let place = item.columnIndex(column.name) { values[place] = value }
            }
            values[property] = .string(kind.after)
            if let event = item.columnIndex("event") { values[event] = .objectId(attempt.site.event) }
            let fields = values.indices.filter { $0 != item.primaryKeyIndex }
            result.append(.create(reference(made), fields.map { FieldWrite(column: $0, value: values[$0]) }))
        }
        return result
    }

    /// Uploads each instruction in a changeset of its own, as a device without our code can.
    private func forge(_ instructions: [Instruction]) async throws {
        guard !instructions.isEmpty else { return }
        let (token, codec) = (token, MessageCodec(schema: Platform.schema))
        let subscriptions = ([CrawlKind.event] + CrawlKind.all).map {
            Subscription(name: nil, className: $0.name, predicate: .constant(true))
        }
        let isOver = try await RawSocket.with(platform.gateways[0]) { socket in
            try await socket.send(
                Greeting.hello(
                    Platform.schema, token: token, client: Greeting.newClient(), subscriptions: subscriptions),
                codec: codec)
            var isUploaded = false
            while case .message(let bytes) = try await socket.next() {
                guard case .end(let end) = try codec.decodeServerMessage(bytes) else { continue }
                if end.acknowledged >= Int64(instructions.count) { return true }
                try await socket.send(.applied(tick: end.position.tick), codec: codec)
                guard !isUploaded else { continue }
                isUploaded = true
                let changesets = instructions.enumerated().map { index, instruction in
                    Changeset(
                        number: Int64(index + 1), base: end.position.tick, stamp: Stamp(microseconds: 1),
                        instructions: [instruction])
                }
                try await socket.send(.upload(changesets), codec: codec)
            }
            return false
        }
        guard isOver else { throw EndToEndFailure("The gateway didn't take all that was forged.") }
    }

    // MARK: Results

    private func letters(_ kind: CrawlKind, _ attempt: Attempt) async throws -> String {
        func holds(_ condition: String, _ id: ObjectId?) async throws -> Bool {
            guard let id else { return false }
            return try await platform.sql(
                "SELECT count(*) FROM \(kind.table) WHERE _id = $1 AND \(condition)", [.bytea(id.bytes)])[0, 0].int64
                > 0
        }
        let ids = attempt.site.ids(kind)
        let isCreated = try await holds("true", attempt.made[kind.name])
        let isUpdated = try await holds("\(kind.column) = '\(kind.after)'", ids[1])
        let isThere = try await holds(kind.isTrashable ? "trashed_at IS NULL" : "true", ids[2])
        return (isCreated ? "c" : "-") + (attempt.read.contains(kind.name) ? "r" : "-") + (isUpdated ? "u" : "-")
            + (isThere ? "-" : "d")
    }
}
