internal import Foundation
internal import PostgresClient

/// The providers as one server knows them, read again every few seconds.
actor ProviderDirectory {
    /// How long the settings are used without reading them again, in seconds.
    static let lifetimeSeconds: Double = 2

    private let pool: PostgresPool
    private let now: @Sendable () -> Double
    private var settings: [String: String] = [:]
    private var readAt = -Double.infinity

    /// - Parameter now: seconds of a steady clock.
    init(pool: PostgresPool, now: @escaping @Sendable () -> Double) {
        self.pool = pool
        self.now = now
    }

    /// The settings of an enabled provider.
    /// - Throws: ``AuthenticationError/noSuchProvider`` if it is off or unknown; the database's error.
    func settings<Settings: ProviderSettings>(of name: String, as type: Settings.Type) async throws -> Settings {
        if now() - readAt >= Self.lifetimeSeconds {
            let asked = now()
            let rows = try await pool.query(
                "SELECT name, settings::text FROM tombolo.provider WHERE enabled LIMIT 1000")
            settings = try Dictionary(rows.map { (try $0[0].string, try $0[1].string) }) { $1 }
            readAt = asked
        }
        guard let json = settings[name] else { throw AuthenticationError.noSuchProvider }
        return try Settings(json: json)
    }

    /// Makes the next look-up ask the database.
    func forget() { readAt = -.infinity }
}
