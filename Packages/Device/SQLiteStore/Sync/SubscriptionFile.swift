package import Foundation
package import TomboloModel
package import TomboloSyncProtocol

/// The subscriptions of a synced file. For the app's threads, which must not wait for the sync engine. It has its own
/// connection and is confined to its owner.
package final class SubscriptionFile {
    private let connection: SQLiteConnection
    private let table: SubscriptionTable

    /// - Throws: ``SQLiteStoreError``.
    package init(path: String, schema: Schema) throws {
        connection = try SQLiteConnection(path: path, durability: .full)
        table = SubscriptionTable(connection: connection, codec: MessageCodec(schema: schema))
        try table.prepare()
    }

    /// A set as the app sees it.
    package struct Kept: Sendable {
        package var set: SubscriptionSet
        /// One note for each subscription of the set, in the same order.
        package var notes: [SubscriptionNote]
    }

    /// The newest set that the app asked for.
    package func newest() throws -> Kept { try reading { try kept(table.newest() ?? .empty) } }

    /// The status of a set.
    package func status(version: Int64) throws -> SubscriptionStatus {
        try reading {
            let active = try connection.integer("SELECT subscription_version FROM tombolo_meta") ?? 0
            if version < active { return .superseded }
            // A new file doesn't have the empty set's content until the server has confirmed it.
            let hasContent = try connection.integer("SELECT token FROM tombolo_meta") != 0
            if version == active, hasContent { return .complete }
            return try table.refusal(version: version).map(SubscriptionStatus.refused) ?? .pending
        }
    }

    /// Replaces the newest set with the result of `change`.
    /// - Returns: the new set, or the current one if `change` leaves it unchanged.
    package func change(_ change: (Kept) throws -> Kept) throws -> Kept {
        try connection.run(.beginImmediate)
        do {
            let old = try kept(table.newest() ?? .empty)
            var new = try change(old)
            if new.set.subscriptions == old.set.subscriptions, new.notes == old.notes {
                connection.rollback()
                return old
            }
            new.set.version = old.set.version + 1
            try table.insert(new.set)
            try table.setNotes(Array(JSONEncoder().encode(new.notes)), version: new.set.version)
            try connection.run(.commit)
            return new
        } catch {
            connection.rollback()
            throw error
        }
    }

    private func kept(_ set: SubscriptionSet) throws -> Kept {
        let bytes = try table.notes(version: set.version)
        let notes = (try? JSONDecoder().decode([SubscriptionNote].self, from: Data(bytes))) ?? []
        // A set that the engine stored has no notes.
        let isWhole = notes.count == set.subscriptions.count
        return Kept(
            set: set, notes: isWhole ? notes : set.subscriptions.map { _ in SubscriptionNote(at: .distantPast) })
    }

    private func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.run(.begin)
        defer { connection.rollback() }
        return try body()
    }
}

/// What a file stores about a subscription besides its query.
package struct SubscriptionNote: Codable, Hashable, Sendable {
    /// Stays the same when the query of a named subscription changes.
    package var id: UUID
    package var createdAt: Date
    package var updatedAt: Date

    package init(at time: Date) {
        id = UUID()
        createdAt = time
        updatedAt = time
    }
}

/// The status of a subscription set.
package enum SubscriptionStatus: Hashable, Sendable {
    /// The device doesn't have the objects yet.
    case pending
    /// The device has exactly the objects that the set asks for.
    case complete
    /// The server refused the set. An older set stays active.
    case refused(String)
    /// A newer set is active.
    case superseded
}
