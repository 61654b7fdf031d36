import AdminService
import HTTPTypes
import Hummingbird
import NIOCore
import TomboloAuthentication
import TomboloHTTP
import TomboloModel
import TomboloServerModel
import TomboloLocalization

/// Backups of the whole database: listing, making, downloading, deleting and restoring them. A backup contains
/// everything, so the pages are only for users who may change the permission matrix of every app, and only as
/// themselves.
struct BackupPages: PanelSection {
    static let path = "\(AdminPanel.path)/backups"
    /// How often a browser without JavaScript reloads the page while a backup is being made, in seconds.
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
        // A form rather than a link, so that neither another site's page nor somebody viewing the panel as another user
        // can start a download.
        panel.action("\(Self.path)/{name}/download", access: access, demands: .recentPassword) { request, _ in
            let backups = try Self.backups(request)
            let name = try await backups.find(request.parameter("name"))
            let reader = try await backups.download(name, by: request.userID)
            return .response(Self.response(reader, named: name))
        }
        RestorePages().add(to: panel, access)
    }

    /// Refuses while the caller views the panel as somebody else. Who may view as whom depends on what they may read,
    /// and a backup contains more.
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
                hint: "To turn them on, set \(BackupSettings.folderVariable) and \(BackupSettings.databaseVariable).")
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

    /// Streams the file part by part, at the speed of the client.
    private static func response(_ reader: BackupReader, named name: BackupName) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/octet-stream",
                .contentDisposition: "attachment; filename=\"\(name.text)\"",
                // Only in the header: a body with a length would be kept in memory.
                .contentLength: "\(reader.byteCount)", .cacheControl: "no-store",
            ],
            body: ResponseBody { writer in
                var offset: Int64 = 0
                while true {
                    // An error here breaks the connection, leaving the client with a file shorter than the announced
                    // length.
                    let part = try await reader.part(at: offset)
                    if part.isEmpty { break }
                    try await writer.write(ByteBuffer(bytes: part))
                    offset += Int64(part.count)
                }
                try await writer.finish(nil)
            })
    }
}
