import AdminPanel
public import AdminService
public import TomboloHTTP
import TomboloMigration

/// What the process's environment says of an admin server alone: its address, and what it offers if the operator wants it.
public struct AdminEnvironment: Sendable {
    /// What the links of mails begin with; nil where mails can't have any.
    public var address: AdminAddress?
    let backups: BackupSettings?
    let sql: SQLConsole?
    let tiles: MapTiles?
    let languages: PanelLanguages
    let modelChanges: ModelChanges?
    let requests: RequestRetention

    /// - Throws: `ConfigurationError`, which quotes no secret.
    public init() throws(ConfigurationError) {
        address = try AdminAddress.ofEnvironment()
        backups = try BackupSettings.ofEnvironment()
        sql = try SQLConsole.ofEnvironment()
        tiles = try MapTiles.ofEnvironment()
        languages = try PanelLanguages.ofEnvironment()
        modelChanges = try ModelChanges.ofEnvironment { DatabaseMigrations($0) }
        requests = try RequestRetention.ofEnvironment()
    }
}
