public import AdminService
public import PostgresClient
public import TomboloAuthentication
public import TomboloHTTP
public import TomboloRules
public import TomboloServerModel

/// The admin panel: pages for people, made on the server, below `/panel`. Give ``add(to:)`` to `buildAdminApplication`.
///
/// # Adding pages
///
/// A part of the panel is a ``PanelSection``: one of its own in a folder of its own, which ``sections`` names in one line, or one
/// of an app, which ``PanelAdditions`` brings; `docs/panel-pages.md` is the guide to these. It registers pages and actions, which
/// say who may use them as every route does:
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
/// - A page is a GET. It changes nothing. Its `entry` is in the navigation of those whom its access may let through.
/// - An action is a POST. Its form needs `{{> form-token}}`; without this session's token nothing runs.
/// - `demands: .recentPassword` asks for the password again if it was given more than ten minutes ago, and goes on with
///   what was asked for. A page may demand it too.
/// - Templates are files in `Templates`. What stands in `{{name}}` is escaped. `{{{nameHTML}}}` shows a ``PanelHTML``
///   alone, which only a template can make, and the renderer of Markdown. Values are dictionaries: leave out what isn't there.
/// - A `RequestFailure` that is thrown becomes a page with its message and hint. Shapes of things, tables, buttons and
///   notices are in `Assets/panel.css`, and `docs/adr/0040-…` says why it is all like this.
public struct AdminPanel: Sendable {
    /// Where it is.
    public static let path = "/panel"

    let core: PanelCore

    /// - Parameters:
    ///   - rules: decide what each user sees and changes.
    ///   - models: whose permission matrices and documents are shown; nil for none.
    ///   - address: what the links of mails begin with; nil where mails can't have any.
    ///   - settings: what the server was started with.
    ///   - backups: those of this server; nil for none.
    ///   - sql: runs statements of the SQL page; nil for no such page.
    ///   - tiles: what maps of places are made of; nil for no maps.
    ///   - live: settings that may be changed while the server runs; nil for the address and the tiles that are given here.
    ///   - languages: what pages can be in.
    ///   - modelChanges: applies changes of models and rules; nil for none.
    ///   - thumbnails: makes them of images; nil to show images as they are, small ones alone in lists.
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

    /// The panel's own parts, in the order of the navigation.
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

    /// Adds all pages, and sends browsers that ask for `/` to them. A page of an app whose path can't be keeps the server from
    /// starting.
    /// - Parameter parts: what the server's JSON routes work with.
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
