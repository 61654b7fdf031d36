import AdminPanel
public import AdminService
public import Logging
public import TomboloAuthentication
public import TomboloHTTP
import TomboloMigration

/// The part of the process's environment that only an admin server has: its settings, and features that the operator
/// has to enable.
public struct AdminEnvironment: Sendable {
    /// Settings that may change while the server runs.
    public let settings: LiveSettings
    let backups: BackupSettings?
    let restoring: RestoreSettings?
    let sql: SQLConsole?
    let languages: PanelLanguages
    let modelChanges: ModelChanges?
    let requests: RequestRetention
    let thumbnails: ThumbnailSettings?

    /// - Parameter defaults: used where neither a variable nor the panel sets a value.
    /// - Throws: `ConfigurationError`, which never quotes a secret.
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

    /// Sends mails in the languages of the panel, by whoever carries them at the time.
    public func mailRoom(logger: Logger) -> MailRoom {
        MailRoom(carrier: { [settings] in settings.current.mail }, languages: languages.texts, logger: logger)
    }
}
