import AdminPanel
public import AdminService
public import TomboloHTTP
import TomboloMigration

/// What the process's environment says of an admin server alone: its settings, and what it offers if the operator wants it.
public struct AdminEnvironment: Sendable {
    /// What may be changed while the server runs.
    public let settings: LiveSettings
    let backups: BackupSettings?
    let restoring: RestoreSettings?
    let sql: SQLConsole?
    let languages: PanelLanguages
    let modelChanges: ModelChanges?
    let requests: RequestRetention
    let thumbnails: ThumbnailSettings?

    /// - Parameter defaults: count where neither a variable nor the panel says anything.
    /// - Throws: `ConfigurationError`, which quotes no secret.
    public init(defaults: SettingValues = SettingValues()) throws(ConfigurationError) {
        settings = try LiveSettings(defaults: defaults)
        backups = try BackupSettings.ofEnvironment()
        restoring = try RestoreSettings.ofEnvironment { connection in
            try await Migrator.toDocuments([], on: connection).apply()
        }
        sql = try SQLConsole.ofEnvironment()
        languages = try PanelLanguages.ofEnvironment()
        modelChanges = try ModelChanges.ofEnvironment { DatabaseMigrations($0) }
        requests = try RequestRetention.ofEnvironment()
        thumbnails = try ThumbnailSettings.ofEnvironment()
    }
}
