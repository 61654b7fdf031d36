import AdminService
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloServerModel
import TomboloLocalization

/// Backups of the whole database: those that there are, making one, downloading, deleting and restoring. A backup has
/// everything, so that it's for those alone who may change the permission matrix of every app, as themselves.
struct BackupPages: PanelSection {
    static let path = "\(AdminPanel.path)/backups"
    /// How often a browser without JavaScript loads the page again while a backup is made.
    private static let refreshSeconds = 3
    private static let list = PanelTemplate(PackageResources.backups_mustache)
    private static let confirm = PanelTemplate(PackageResources.backup_delete_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let access = RouteAccess.everyMatrix(of: models)
        panel.page(Self.path, entry: PanelEntry("Backups", in: .system), access: access) { request, _ in
            try Self.checkViewing(request)
            return .page(try await page(request))
        }
        panel.action(Self.path, access: access) { request, _ in
            try await Self.backups(request).ask(by: request.userID, now: request.now)
            return .redirect(to: Self.path, notice: PanelNotice(localized("A backup is being made.")))
        }
        panel.page("\(Self.path)/{name}/delete", access: access) { request, _ in
            try Self.checkViewing(request)
            return .page(try await confirmation(request))
        }
        panel.action("\(Self.path)/{name}/delete", access: access, demands: .recentPassword) { request, _ in
            let backups = try Self.backups(request)
            let name = try await backups.find(request.parameter("name"))
            try await backups.delete(name, by: request.userID)
            return .redirect(to: Self.path, notice: PanelNotice(localized("The backup \(name.text) was deleted.")))
        }
        // A form and not a link: no page of another site begins it, and nobody who views the panel as somebody else.
        panel.action("\(Self.path)/{name}/download", access: access, demands: .recentPassword) { request, _ in
            let backups = try Self.backups(request)
            let name = try await backups.find(request.parameter("name"))
            let reader = try await backups.download(name, by: request.userID)
            return .response(Self.response(reader, named: name))
        }
        RestorePages().add(to: panel, access)
    }

    /// Whom one may view the panel as is decided by what they read, and a backup has more.
    static func checkViewing(_ request: PanelRequest) throws {
        guard let viewing = request.visit.viewing else { return }
        throw RequestFailure(
            .forbidden,
            "You are viewing the panel as \(viewing.title), and backups can only be seen as yourself.",
            hint: "Stop viewing as \(viewing.title) first: the button is at the top of every page.")
    }

    static func backups(_ request: PanelRequest) throws -> Backups {
        guard let backups = request.core.backups else {
            throw RequestFailure(
                .notFound, "Backups are off on this server.",
                hint: "\(BackupSettings.folderVariable) and \(BackupSettings.databaseVariable) turn them on.")
        }
        return backups
    }

    // MARK: Pages

    private func page(_ request: PanelRequest) async throws -> PanelPage {
        let content: BackupsContent
        if let backups = request.core.backups {
            content = BackupsContent(
                try await backups.overview(), try await backups.restoreOverview(), backups.settings, now: request.now)
        } else {
            content = BackupsContent()
        }
        var page = PanelPage(localized("Backups"), content: Self.list.render(request.values(content)))
        if content.isOpen { page.refreshSeconds = Self.refreshSeconds }
        return page
    }

    private func confirmation(_ request: PanelRequest) async throws -> PanelPage {
        let name = try await Self.backups(request).find(request.parameter("name"))
        let path = Self.path
        return PanelPage(
            localized("Delete \(name.text)?"), crumbs: [PanelPage.Crumb(title: localized("Backups"), path: path)],
            content: Self.confirm.render([
                "formToken": request.visit.token.formToken, "name": name.text, "action": "\(path)/\(name.text)/delete",
                "back": path,
            ]))
    }

    // MARK: The file

    /// Part by part, as the client takes it.
    private static func response(_ reader: BackupReader, named name: BackupName) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/octet-stream",
                .contentDisposition: "attachment; filename=\"\(name.text)\"",
                // Of the header alone: a body with a length would be kept in memory.
                .contentLength: "\(reader.byteCount)", .cacheControl: "no-store",
            ],
            body: ResponseBody { writer in
                var offset: Int64 = 0
                while true {
                    // What breaks here breaks the connection: the file is shorter than its length then.
                    let part = try await reader.part(at: offset)
                    if part.isEmpty { break }
                    try await writer.write(ByteBuffer(bytes: part))
                    offset += Int64(part.count)
                }
                try await writer.finish(nil)
            })
    }
}
