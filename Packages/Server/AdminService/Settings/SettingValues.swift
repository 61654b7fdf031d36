public import TomboloAuthentication
import TomboloHTTP

/// The values of all settings that can be changed while a server runs.
public struct SettingValues: Sendable {
    /// The mail carrier; nil for none.
    public var mail: MailHook?
    /// The beginning of links in mails; nil if mails can't have links.
    public var address: AdminAddress?
    /// Where invitations lead; nil for the panel's own page.
    public var invitationLink: String?
    public var secondFactor = SecondFactorPolicy.optional
    /// The server of map tiles; nil for no maps.
    public var tiles: MapTiles?
    public var backups = BackupSchedule()

    /// The defaults.
    public init(address: AdminAddress? = nil, tiles: MapTiles? = nil) {
        self.address = address
        self.tiles = tiles
    }

    /// Where the links of invitations lead; nil if there are none.
    var invitationTarget: String? { invitationLink ?? address.map { "\($0.text)\(PeopleOptions.panelPath)" } }

    /// - Parameters:
    ///   - texts: values in the form of variables, none of them empty.
    ///   - mailSecret: sent with each mail that is posted to an address.
    ///   - defaults: apply if there's no text.
    /// - Throws: `ConfigurationError` with every problem at once. It quotes no secret.
    init(
        _ texts: [ChangeableSetting: String], mailSecret: String? = nil, defaults: SettingValues = SettingValues()
    ) throws(ConfigurationError) {
        self = defaults
        var problems: [String] = []
        func read(_ setting: ChangeableSetting, _ body: (String) throws -> Void) {
            guard let text = texts[setting] else { return }
            do {
                try body(text)
            } catch let error as ConfigurationError {
                problems += error.problems
            } catch {
                problems.append("\(error)")
            }
        }
        var values = defaults
        read(.mail) { values.mail = try MailHook($0, secret: mailSecret) }
        read(.address) { values.address = try AdminAddress($0) }
        read(.invitationLink) {
            try PeopleOptions.checkLink($0)
            values.invitationLink = $0
        }
        read(.secondFactor) { values.secondFactor = try ServerConfiguration.secondFactor($0) }
        read(.mapTiles) { values.tiles = try MapTiles($0, attribution: texts[.mapAttribution]) }
        read(.backupInterval) { values.backups.interval = try BackupSchedule.interval($0) }
        read(.keptBackups) { values.backups.keptCount = try BackupSchedule.keptCount($0) }
        guard problems.isEmpty else { throw ConfigurationError(problems: problems) }
        self = values
    }
}
