import AdminService
import Foundation
import Hummingbird
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The lists and records of every class that the caller may read, at `/panel/data/CLASSES` and
/// `/panel/data/CLASSES/ID`.
struct ClassPages: PanelSection {
    /// All classes' addresses are below this path, since a class may have the same name as another page of the panel.
    static let path = "\(AdminPanel.path)/data"

    static func path(of type: ResourceType) -> String { "\(path)/\(type.name)" }

    static func path(of type: ResourceType, id: String) -> String {
        "\(path)/\(type.name)/\(RequestParameters.encode(id))"
    }

    /// The classes of which the caller may read some objects, sorted by title.
    static func readable(_ view: CallerView) -> [ResourceType] {
        view.types.all.filter { view.refusal(.read, $0) == nil }
            .sorted { ClassTitle.plural(of: $0) < ClassTitle.plural(of: $1) }
    }

    /// Access for users whom the rules permit at least one of the operations on some objects of the class named by the
    /// address.
    static func access(
        _ summary: @autoclosure @escaping @Sendable () -> String, _ core: PanelCore,
        _ operations: @escaping @Sendable (ClassSchema) -> [TomboloRules.Operation]
    ) -> RouteAccess<ClassGrant> {
        .someObjects(summary(), ofAny: localized("objects of a class"), operations, by: core.rules) { schema, context in
            let name = context.parameters.get("collection")?.removingPercentEncoding ?? ""
            let types = try core.types(of: schema)
            guard let type = types[name] else {
                let shown = name.shortened(toByteCount: 60)
                let nearest = name.nearest(in: types.all.map(\.name)).map { localized("Did you mean '\($0)'?") }
                let overview = localized("The overview lists the classes.")
                throw RequestFailure(
                    .notFound, localized("There is no class '\(shown)'."),
                    hint: nearest.map { "\($0) \(overview)" } ?? overview)
            }
            return type.classIndex
        }
    }

    /// The class named by the address, and what the caller may see.
    static func found(_ request: PanelRequest, _ grant: ClassGrant) throws -> (view: CallerView, type: ResourceType) {
        let view = try request.view(under: grant.rules)
        guard let type = view.types[grant.classIndex] else {
            throw RequestFailure(.internalError, "There is no class at this address.")
        }
        return (view, type)
    }

    func add(to panel: PanelRoutes) {
        let reading = Self.access(localized("read", context: "may …"), panel.core) { _ in [.read] }
        let answers = panel.parts.api.answers
        panel.page("\(Self.path)/{collection}", access: reading) { request, grant in
            let (view, type) = try Self.found(request, grant)
            return try await ListPage(request: request, view: view, type: type, answers: answers).answer()
        }
        panel.page("\(Self.path)/{collection}/{id}", access: reading) { request, grant in
            let (view, type) = try Self.found(request, grant)
            return try await RecordPage(request: request, view: view, type: type).answer()
        }
        addEditing(to: panel)
        addRemoving(to: panel)
    }

    private func addEditing(to panel: PanelRoutes) {
        @Sendable func form(_ request: PanelRequest, _ grant: ClassGrant) throws -> EditPage {
            let (view, type) = try Self.found(request, grant)
            return EditPage(request: request, view: view, type: type)
        }
        let updating = Self.access(localized("update", context: "may …"), panel.core) { _ in [.update] }
        panel.page("\(Self.path)/{collection}/{id}/edit", access: updating) { try await form($0, $1).edit() }
        panel.action(
            "\(Self.path)/{collection}/{id}", access: updating, demands: .recentPasswordSometimes,
            bodyBytes: EditPage.maximumFormByteCount
        ) { try await form($0, $1).save() }
        @Sendable func rows(_ request: PanelRequest, _ grant: ClassGrant) throws -> RowsPage {
            let (view, type) = try Self.found(request, grant)
            return RowsPage(request: request, view: view, type: type)
        }
        panel.page("\(AdminPanel.path)/rows/{collection}", access: updating) { try await rows($0, $1).answer() }
        panel.action(
            "\(AdminPanel.path)/rows/{collection}", access: updating, demands: .recentPasswordSometimes,
            bodyBytes: PanelForm.maximumTextByteCount
        ) { try await rows($0, $1).save() }
        let creating = Self.access(localized("create", context: "may …"), panel.core) { _ in [.create] }
        panel.page("\(AdminPanel.path)/new/{collection}", access: creating) { try await form($0, $1).create() }
        panel.action(
            "\(AdminPanel.path)/new/{collection}", access: creating, demands: .recentPasswordSometimes,
            bodyBytes: EditPage.maximumFormByteCount
        ) { try await form($0, $1).make() }
    }

    private func addRemoving(to panel: PanelRoutes) {
        @Sendable func removal(_ request: PanelRequest, _ grant: ClassGrant) throws -> RemovalPage {
            let (view, type) = try Self.found(request, grant)
            return RemovalPage(request: request, view: view, type: type)
        }
        let removing = Self.access(localized("delete or trash", context: "may …"), panel.core) {
            [JSONAPIRoutes.removal(of: $0)]
        }
        panel.page("\(Self.path)/{collection}/{id}/delete", access: removing) { try await removal($0, $1).answer() }
        panel.action(
            "\(Self.path)/{collection}/{id}/delete", access: removing, demands: .recentPasswordSometimes
        ) { try await removal($0, $1).remove() }
        panel.action(
            "\(AdminPanel.path)/restore", access: Trash.restoring(by: panel.core.rules),
            demands: .recentPasswordSometimes
        ) { try await RemovalPage.restore($0, $1) }
    }
}
