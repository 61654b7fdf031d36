import AdminService
import PostgresClient
import TomboloHTTP
import TomboloLocalization
import TomboloRules
import TomboloServerModel

/// The model and the rules as loaded, and all their versions, for users who may see an app's permission matrix.
struct DocumentPages: PanelSection {
    private static let path = "\(AdminPanel.path)/documents"
    private static let list = PanelTemplate(PackageResources.documents_mustache)
    private static let document = PanelTemplate(PackageResources.document_mustache)
    static var crumb: PanelPage.Crumb { PanelPage.Crumb(title: localized("Model and rules"), path: path) }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let access = RouteAccess.anyMatrix(.read, of: models)
        panel.page(Self.path, entry: PanelEntry("Model and rules", in: .system), access: access) { request, grant in
            .page(try await list(request, grant))
        }
        panel.page("\(Self.path)/{version}", access: access) { request, _ in
            .page(try await document(request))
        }
    }

    private func list(_ request: PanelRequest, _ grant: AnyMatrixGrant) async throws -> PanelPage {
        let page = try request.pageNumber()
        let (newest, history) = try await request.core.pool.withConnection { connection in
            (try await DocumentTable.newest(connection), try await DocumentTable.history(page: page, connection))
        }
        var content = DocumentsContent(grant.model, newest: newest, history: history, page: page, now: request.now)
        content.offerChanges(to: request)
        return PanelPage(localized("Model and rules"), content: Self.list.render(request.values(content)))
    }

    private func document(_ request: PanelRequest) async throws -> PanelPage {
        let wanted = Int64(request.parameter("version"))
        let against = request.query("against")
        let older = against.flatMap { Int64($0) }
        guard let wanted, against == nil || older != nil else { throw Self.unknown }
        let found = try await request.core.pool.withConnection {
            connection -> (document: StoredDocument?, other: StoredDocument?, before: Int64?) in
            let document = try await DocumentTable.document(wanted, connection)
            var other: StoredDocument?
            if let older { other = try await DocumentTable.document(older, connection) }
            var before: Int64?
            if let document { before = try await DocumentTable.before(document, connection) }
            return (document, other, before)
        }
        guard let document = found.document else { throw Self.unknown }
        let content: DocumentContent
        if older != nil {
            guard let other = found.other, other.app == document.app, other.kind == document.kind else {
                throw Self.unknown
            }
            content = DocumentContent(document, against: other)
        } else {
            content = DocumentContent(document, before: found.before)
        }
        return PanelPage(
            content.heading, crumbs: [Self.crumb], content: Self.document.render(request.values(content)))
    }

    private static var unknown: RequestFailure {
        RequestFailure(
            .notFound, "There is no such version, or nothing to compare to.", hint: "The history lists all versions.")
    }
}
