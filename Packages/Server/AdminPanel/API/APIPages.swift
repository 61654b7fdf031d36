import AdminService
import HTTPTypes
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// API documentation for each class, with requests that can be sent unchanged. It covers only what the caller may read
/// and do, as decided by the API itself.
struct APIPages: PanelSection {
    static let path = "\(AdminPanel.path)/api"
    static var crumb: PanelPage.Crumb { PanelPage.Crumb(title: localized("API"), path: path) }
    private static let template = PanelTemplate(PackageResources.api_mustache)

    static func path(of type: ResourceType) -> String { "\(path)/\(type.name)" }

    func add(to panel: PanelRoutes) {
        panel.page(Self.path, entry: PanelEntry("API", in: .system), access: .own(localized("panel"))) { request, _ in
            .page(try list(request))
        }
        panel.page(
            "\(Self.path)/{collection}",
            access: ClassPages.access(localized("read", context: "may …"), panel.core) { _ in [.read] }
        ) { request, grant in
            let (view, type) = try ClassPages.found(request, grant)
            return .page(try await APIClassPage(request: request, view: view, type: type).page())
        }
    }

    private func list(_ request: PanelRequest) throws -> PanelPage {
        let view = try request.view(under: request.core.rules.current)
        let classes = ClassPages.readable(view).map { type -> [String: Any] in
            [
                "title": ClassTitle.plural(of: type), "link": Self.path(of: type), "path": type.path,
                "operations": Self.operations(on: type, view).joined(separator: ", "),
            ]
        }
        return PanelPage(
            localized("API"),
            content: Self.template.render([
                "classes": classes, "hasClasses": !classes.isEmpty, "login": Self.login(request),
                "apiPath": JSONAPIRoutes.path,
            ]))
    }

    /// The operations that the caller may use on objects of a class that they may read.
    private static func operations(on type: ResourceType, _ view: CallerView) -> [String] {
        let removal = JSONAPIRoutes.removal(of: type.item)
        let writing = [TomboloRules.Operation.create, .update, removal].filter { view.refusal($0, type) == nil }
        return ([.read] + writing).map(word)
    }

    private static func word(_ operation: TomboloRules.Operation) -> String {
        switch operation {
        case .read: localized("read", context: "operation")
        case .create: localized("create", context: "operation")
        case .update: localized("update", context: "operation")
        case .trash: localized("trash", context: "operation")
        case .delete: localized("delete", context: "operation")
        default: "\(operation)"
        }
    }

    // MARK: The server

    /// The start of the addresses in examples: the configured address, or else the request's `Host` header. The sender
    /// chose that header, and nobody else sees the page.
    static func server(_ request: PanelRequest) -> String {
        let scheme = request.context.isSecure ? "https" : "http"
        return request.core.address?.text ?? "\(scheme)://\(request.request.head.authority ?? "localhost")"
    }

    /// The command that stores an access token in the shell variable `TOKEN`.
    static func login(_ request: PanelRequest) -> String {
        let body: JSON = ["email": .string(request.visit.session.email), "password": "PASSWORD"]
        return """
            TOKEN=$(curl -s \(ShellText.quoted("\(server(request))/login")) \\
              -H 'Content-Type: application/json' \\
              -d \(ShellText.quoted(body.indented())) | jq -r .accessToken)
            """
    }
}
