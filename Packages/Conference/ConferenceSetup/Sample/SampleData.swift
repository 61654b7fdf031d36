import EventModels
import Foundation
public import OpenEventImport
public import PostgresClient
public import TomboloAuthentication
public import TomboloModel

/// Fills a migrated database with sample data: an event with tickets and orders, and four accounts. Loading it again
/// leaves existing rows alone and only resets the accounts' passwords.
public enum SampleData {
    /// What was loaded.
    public struct Report: Sendable {
        public let event: OpenEventSummary
        public let users: [SampleUser]
        public let ticketCount: Int
        public let orderCount: Int
    }

    /// - Parameter export: the event to import.
    /// - Throws: ``AuthenticationError``, `PostgresError`.
    public static func load(
        _ export: OpenEventExport, _ pool: PostgresPool, hasher: PasswordHasher = PasswordHasher(),
        progress: OpenEventImporter.Progress = { _, _, _ in }
    ) async throws -> Report {
        let summary = try await pool.withConnection { connection in
            try await OpenEventImporter.write(export, to: connection, progress: progress)
        }
        let accounts = AccountRegistry(pool: pool, hasher: hasher)
        var ids: [String: ObjectId] = [:]
        var assignments: [Row] = []
        for user in SampleUser.all {
            let userID = try await account(user, accounts)
            ids[user.email] = userID
            guard let role = user.role else { continue }
            let isPlatformRole = RoleName.platformRoles.contains(role)
            assignments.append(
                RoleAssignments.row(user: userID, role: role, event: isPlatformRole ? nil : summary.eventID))
        }
        let roles = assignments
        let tickets = try SampleTickets.rows(event: summary.eventID, salesEndAt: beginning(of: export))
        let orders = SampleOrders.rows(
            event: summary.eventID, buyers: ids, now: Date().microsecondsSince1970)
        try await pool.transaction { connection in
            for (className, rows) in [("RoleAssignment", roles), ("Ticket", tickets), ("Order", orders)] {
                guard let index = EventModels.schema.index(of: className) else { continue }
                let upsert = RowUpsert(EventModels.schema, classIndex: index, existing: .keep)
                _ = try await upsert.write(rows, connection) { progress(className, $0, rows.count) }
            }
        }
        return Report(
            event: summary, users: SampleUser.all, ticketCount: tickets.count, orderCount: orders.count)
    }

    /// What ``loadLarge(_:hasher:)`` loaded.
    public struct LargeReport: Sendable {
        /// The event with 200 sessions.
        public let eventID: ObjectId
        public let users: [SampleUser]
        /// False if it existed already.
        public let isNew: Bool
    }

    /// Adds a conference of 200 sessions and 5,000 users, and a trash, to what ``load(_:_:hasher:progress:)`` loaded.
    /// Existing rows stay.
    /// - Throws: ``AuthenticationError``, `PostgresError`.
    public static func loadLarge(
        _ pool: PostgresPool, hasher: PasswordHasher = PasswordHasher()
    ) async throws -> LargeReport {
        let accounts = AccountRegistry(pool: pool, hasher: hasher)
        var ids: [RoleName: ObjectId] = [:]
        for user in SampleUser.all + SampleUser.large {
            let id = try await account(user, accounts)
            if let role = user.role { ids[role] = id }
        }
        let isNew = try await LargeSample.load(trashedBy: ids[.admin] ?? ObjectId(), pool)
        for (role, user) in ids {
            let isPlatformRole = RoleName.platformRoles.contains(role)
            try await RoleAssignments.give(
                role.rawValue, to: user, event: isPlatformRole ? nil : LargeSample.event, pool)
        }
        return LargeReport(eventID: LargeSample.event, users: SampleUser.large, isNew: isNew)
    }

    private static func account(_ user: SampleUser, _ accounts: AccountRegistry) async throws -> ObjectId {
        let id = try await register(user, accounts)
        try await accounts.setVerified(true, email: user.email)
        return id
    }

    private static func register(_ user: SampleUser, _ accounts: AccountRegistry) async throws -> ObjectId {
        do {
            return try await accounts.register(
                email: user.email, password: user.password, displayName: user.displayName)
        } catch AuthenticationError.emailTaken {
            // Setting the password again would log out every demo device.
            if try await accounts.hasPassword(user.password, email: user.email) {
                return try await accounts.user(email: user.email)
            }
            return try await accounts.setPassword(user.password, email: user.email)
        }
    }

    private static func beginning(of export: OpenEventExport) -> Int64? {
        guard let row = export.parts.first(where: { $0.className == "Event" })?.rows.first,
            let column = EventModels.schema["Event"]?.columnIndex("startsAt"), case .date(let time) = row[column]
        else { return nil }
        return time
    }
}
