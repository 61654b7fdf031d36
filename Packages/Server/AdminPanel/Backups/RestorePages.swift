import AdminService
import TomboloAuthentication
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloServerModel

/// Restoring a backup, bringing back a database that a restore put aside, and deleting such a database. Each page first
/// shows the consequences and asks for the password.
struct RestorePages {
    private static let restore = PanelTemplate(PackageResources.restore_mustache)
    private static let delete = PanelTemplate(PackageResources.kept_delete_mustache)
    private static let keptPath = "\(BackupPages.path)/kept"

    func add(to panel: PanelRoutes, _ access: RouteAccess<ServerModel>) {
        let backup = "\(BackupPages.path)/{name}/restore"
        panel.page(backup, access: access) { request, _ in
            try BackupPages.checkViewing(request)
            let name = try await Self.backups(request).find(request.parameter("name"))
            return .page(try await confirmation(request, .backup(name), since: name.time))
        }
        panel.action(backup, access: access, demands: .recentPassword) { request, _ in
            let backups = try Self.backups(request)
            return try await restore(request, .backup(try await backups.find(request.parameter("name"))))
        }
        let kept = "\(Self.keptPath)/{database}"
        panel.page("\(kept)/restore", access: access) { request, _ in
            try BackupPages.checkViewing(request)
            let found = try await Self.backups(request).findKept(request.parameter("database"))
            return .page(try await confirmation(request, .kept(found.name), since: found.time))
        }
        panel.action("\(kept)/restore", access: access, demands: .recentPassword) { request, _ in
            let found = try await Self.backups(request).findKept(request.parameter("database"))
            return try await restore(request, .kept(found.name))
        }
        panel.page("\(kept)/delete", access: access) { request, _ in
            try BackupPages.checkViewing(request)
            return .page(try await deletion(request))
        }
        panel.action("\(kept)/delete", access: access, demands: .recentPassword) { request, _ in
            let backups = try Self.backups(request)
            let found = try await backups.findKept(request.parameter("database"))
            try await backups.delete(found, by: request.userID)
            return .redirect(
                to: BackupPages.path, notice: PanelNotice(localized("The database \(found.name) was deleted.")))
        }
    }

    /// The address of the pages of a database that was put aside.
    static func path(of kept: KeptDatabase) -> String { "\(keptPath)/\(kept.name)" }

    private static func backups(_ request: PanelRequest) throws -> Backups {
        let backups = try BackupPages.backups(request)
        guard backups.canRestore else {
            throw RequestFailure(
                .notFound, localized("This server can't restore backups."),
                hint: localized("Set \(RestoreSettings.databaseVariable) to turn it on: see docs/backups.md."))
        }
        return backups
    }

    private func restore(_ request: PanelRequest, _ source: RestoreSource) async throws -> PanelAnswer {
        try await Self.backups(request).ask(toRestore: source, by: request.userID)
        return .redirect(
            to: BackupPages.path, notice: PanelNotice(localized("\(source.text) is being restored.")))
    }

    // MARK: Pages

    private func confirmation(
        _ request: PanelRequest, _ source: RestoreSource, since time: Int64
    ) async throws -> PanelPage {
        let backups = try Self.backups(request)
        let path: String
        let isBackup: Bool
        switch source {
        case .backup(let name): (path, isBackup) = ("\(BackupPages.path)/\(name.text)/restore", true)
        case .kept(let name): (path, isBackup) = ("\(Self.keptPath)/\(name)/restore", false)
        }
        let problem = try await backups.restoreProblem()
        let count = problem == nil ? try await backups.changeCount(since: time) : 0
        let content = Confirmation(
            formToken: request.visit.token.formToken, name: source.text, isBackup: isBackup,
            made: Moment(time, now: request.now), changes: Self.changes(count, request), problem: problem, action: path,
            back: BackupPages.path)
        return PanelPage(
            localized("Restore \(source.text)?"),
            crumbs: [PanelPage.Crumb(title: localized("Backups"), path: BackupPages.path)],
            content: Self.restore.render(request.values(content)))
    }

    private static func changes(_ count: Int, _ request: PanelRequest) -> String {
        if count == 0 { return localized("According to the audit log, nothing has changed since then.") }
        if count > Backups.maximumChangeCount {
            return localized("More than \(Backups.maximumChangeCount) changes have been made since then.")
        }
        return localized(
            count, one: "\(count) change has been made since then.",
            other: "\(count) changes have been made since then.")
    }

    struct Confirmation: Sendable {
        let formToken: String
        let name: String
        /// Whether the source is a backup, as opposed to a database that was put aside.
        let isBackup: Bool
        let made: Moment
        /// How many changes were made since then, in words.
        let changes: String
        let problem: String?
        let action: String
        let back: String
    }

    private func deletion(_ request: PanelRequest) async throws -> PanelPage {
        let found = try await Self.backups(request).findKept(request.parameter("database"))
        return PanelPage(
            localized("Delete \(found.name)?"),
            crumbs: [PanelPage.Crumb(title: localized("Backups"), path: BackupPages.path)],
            content: Self.delete.render([
                "formToken": request.visit.token.formToken, "name": found.name,
                "action": "\(Self.path(of: found))/delete", "back": BackupPages.path,
            ]))
    }
}
