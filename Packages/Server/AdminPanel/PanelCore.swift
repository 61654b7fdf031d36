import AdminService
import PostgresClient
import Synchronization
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The services and state that all pages of a panel share.
final class PanelCore: Sendable {
    let rules: LiveRules
    let pool: PostgresPool
    let authenticator: Authenticator
    let models: ServerModels?
    let settings: ServerSettings
    /// Settings that may be changed while the server runs.
    let live: LiveSettings
    /// Nil if this server makes no backups.
    let backups: Backups?
    let sql: SQLConsole?
    let languages: PanelLanguages
    let additions: PanelAdditions
    let fieldStyles: PanelFieldStyles
    /// Nil if models and rules can't be changed in the panel.
    let modelChanges: ModelChanges?
    /// Nil if images are shown at their original size.
    let thumbnails: Thumbnails?
    let assets = PanelAssets()
    let bell = TickBell()
    private let types = SchemaCache { ResourceTypes($0) }
    /// Filled while the server is being built.
    private let entries = Mutex<[PanelEntry.Registered]>([])
    private let registeredActions = Mutex<[PanelRoutes.Action]>([])

    init(
        rules: LiveRules, pool: PostgresPool, authenticator: Authenticator, models: ServerModels?,
        settings: ServerSettings, live: LiveSettings, backups: Backups?, sql: SQLConsole?, languages: PanelLanguages,
        additions: PanelAdditions, modelChanges: ModelChanges?, thumbnails: Thumbnails?
    ) {
        self.rules = rules
        self.pool = pool
        self.authenticator = authenticator
        self.models = models
        self.settings = settings
        self.live = live
        self.backups = backups
        self.sql = sql
        self.languages = languages
        self.additions = additions
        fieldStyles = PanelFieldStyles(additions.fields)
        self.modelChanges = modelChanges
        self.thumbnails = thumbnails
    }

    /// The start of links in mails.
    var address: AdminAddress? { live.current.address }

    /// The tile server for maps; nil for none.
    var tiles: MapTiles? { live.current.tiles }

    var makesThumbnails: Bool { thumbnails?.areMade == true }

    /// What a user may see of the classes, by default under the current rules.
    func view(of subject: Subject, under rules: Rules? = nil) throws -> CallerView {
        let rules = rules ?? self.rules.current
        return CallerView(subject: subject, rules: rules, types: try types.value(for: rules.schema))
    }

    func types(of schema: Schema) throws -> ResourceTypes { try types.value(for: schema) }

    func add(_ entry: PanelEntry.Registered) { entries.withLock { $0.append(entry) } }

    func add(_ action: PanelRoutes.Action) { registeredActions.withLock { $0.append(action) } }

    /// Every address that forms are sent to, except those that work without a session.
    var actions: [PanelRoutes.Action] { registeredActions.withLock { $0 } }

    /// The navigation's pages to which a matrix box with these purposes gives access.
    func entries(openedBy purposes: Set<BoxPurpose>) -> [PanelEntry.Registered] {
        entries.withLock { $0 }.filter { !$0.purposes.isDisjoint(with: purposes) }
    }

    /// The entries that the navigation offers a user.
    func entries(for subject: Subject) -> [PanelEntry.Registered] {
        entries.withLock { $0 }.filter { $0.isShown(subject) }
    }
}
