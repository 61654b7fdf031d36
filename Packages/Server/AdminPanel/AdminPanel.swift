public import AdminService
public import PostgresClient
public import TomboloAuthentication
public import TomboloHTTP
public import TomboloRules
public import TomboloServerModel

/// The admin panel: server-rendered pages below `/panel`. Pass ``add(to:)`` to `buildAdminApplication`.
///
/// # Adding pages
///
/// A part of the panel is a ``PanelSection``. The panel's own sections each have their own folder and a line in
/// ``sections``. An app's sections come with ``PanelAdditions``; `docs/panel-pages.md` is the guide to them. A section
/// registers pages and actions, which declare who may use them, as every route does:
///
///     struct TrashPages: PanelSection {
///         static let list = PanelTemplate(PackageResources.trash_mustache)
///
///         func add(to panel: PanelRoutes) {
///             let access = RouteAccess.objects(.listTrash, ofAny: …, by: panel.rules)
///             panel.page("/panel/trash", entry: .init("Trash", in: .work), access: access) { request, grant in
///                 .page(PanelPage("Trash", content: Self.list.render(["rows": rows])))
///             }
///             panel.action("/panel/trash/empty", access: access, demands: .recentPassword) { request, grant in
///                 try await empty(request.form["class"])
///                 return .redirect(to: "/panel/trash", notice: PanelNotice("The trash is empty."))
///             }
///         }
///     }
///
/// - A page is a GET and changes nothing. Its `entry` appears in the navigation of users whom its access might let
///   through.
/// - An action is a POST. Its form needs `{{> form-token}}`: without this session's token the action doesn't run.
/// - `demands: .recentPassword` asks for the password again if it was last given more than ten minutes ago, and then
///   continues with the request. A page may demand it too.
/// - Templates are files in `Templates`. `{{name}}` is escaped. `{{{nameHTML}}}` shows only a ``PanelHTML``, which only
///   a template or the Markdown renderer can make. Values are dictionaries: leave out missing ones.
/// - A thrown `RequestFailure` becomes a page with its message and hint. `Assets/panel.css` has the styles for layouts,
///   tables, buttons and notices; `docs/adr/0040-…` explains the design.
public struct AdminPanel: Sendable {
    /// The panel's root path.
    public static let path = "/panel"

    let core: PanelCore

    /// - Parameters:
    ///   - rules: decide what each user sees and changes.
    ///   - models: the apps whose permission matrices and documents are shown; nil for none.
    ///   - address: the start of links in mails; nil if mails can't contain links.
    ///   - settings: the settings that the server was started with.
    ///   - backups: this server's backups; nil for none.
    ///   - sql: runs the statements of the SQL page; nil if there is no such page.
    ///   - tiles: the tile server for maps of places; nil for no maps.
    ///   - live: settings that may be changed while the server runs; nil to use the address and the tiles given here.
    ///   - languages: the languages that pages can be in.
    ///   - modelChanges: applies changes of models and rules; nil if they can't be changed here.
    ///   - thumbnails: makes thumbnails of images; nil to show original images, in lists only small ones.
    ///   - additions: pages and fields of an app's own.
    public init(
        rules: LiveRules, pool: PostgresPool, authenticator: Authenticator, models: ServerModels? = nil,
        address: AdminAddress? = nil, settings: ServerSettings = ServerSettings(), backups: Backups? = nil,
        sql: SQLConsole? = nil, tiles: MapTiles? = nil, live: LiveSettings? = nil, languages: PanelLanguages = .builtIn,
        modelChanges: ModelChanges? = nil, thumbnails: Thumbnails? = nil,
        additions: PanelAdditions = PanelAdditions()
    ) {
        core = PanelCore(
            rules: rules, pool: pool, authenticator: authenticator, models: models, settings: settings,
            live: live ?? LiveSettings(SettingValues(address: address, tiles: tiles)), backups: backups,
            sql: sql, languages: languages, additions: additions, modelChanges: modelChanges,
            thumbnails: thumbnails)
    }

    /// The panel's own sections, in the order of the navigation.
    static var sections: [any PanelSection] {
        [
            LoginPages(), CodePages(), SecondFactorPages(), PasswordPages(), ForgottenPages(),
            OverviewPages(),
            ClassPages(),
            BytesPages(),
            MarkdownPages(),
            MapPages(),
            AuditPages(),
            LivePages(),
            SavedViews(),
            BulkPages(),
            ExportPages(),
            ImportPages(),
            JobPages(),
            TrashPages(),
            EmptyingPages(),
            PurgePages(),
            PeoplePages(),
            InvitationPages(),
            AccountPages(), NewAccountPages(), PasswordLinkPages(),
            PermissionPages(), RolePages(), VerificationPages(),
            WhyPages(),
            ViewAsPages(),
            DocumentPages(), ModelChangePages(),
            DevicePages(),
            RequestPages(),
            SchedulePages(),
            SettingsPages(), SettingPages(),
            SQLPages(),
            BackupPages(),
            APIPages(),
            HelpPages(),
            ThemePages(),
        ]
    }

    /// Adds all pages, and redirects browsers that ask for `/` to the panel. The server doesn't start if a page of an
    /// app has an invalid path.
    /// - Parameter parts: the services behind the server's JSON routes.
    public func add(to routes: Routes, with parts: AdminParts) {
        let panel = PanelRoutes(core: core, parts: parts, routes: routes.identifying(by: core.identity))
        routes.reportFailures(below: Self.path, as: PanelFailures(core: core).format)
        routes.translate(below: Self.path) { [languages = core.languages] in languages.catalogue(for: $0, $1) }
        for section in Self.sections { section.add(to: panel) }
        var custom = panel
        custom.custom = CustomPaths(beside: routes.registered)
        for section in core.additions.pages { section.add(to: custom) }
    }
}
