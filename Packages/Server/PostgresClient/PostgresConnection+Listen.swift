extension PostgresConnection {
    /// Subscribes to channels. Read notifications with `waitForNotifications`.
    func listen(_ channels: [String]) async throws {
        let sql = channels.map { "LISTEN \(PostgresSQL.quoteIdentifier($0))" }.joined(separator: ";")
        try await interruptible { session in
            session.listens = true
            _ = try await session.execute(.init(sql: sql, file: #fileID, line: #line))
        }
    }

    /// Waits for at least one notification and returns all. `lost` is true if more arrived than are kept.
    func waitForNotifications() async throws -> (notifications: [PostgresNotification], lost: Bool) {
        try await interruptible { session in
            try await session.waitForNotifications(.init(sql: "LISTEN", file: #fileID, line: #line))
            return session.takeNotifications()
        }
    }
}
