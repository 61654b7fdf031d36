import AdminService
import HTTPTypes
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// The devices that sync: who is connected to which gateway, every device that the database knows, and why a device has
/// or lacks an object. The pages are for users whom the rules permit to `inspect`. The gateways that answer decide what
/// they reveal about classes and objects.
struct DevicePages: PanelSection {
    static let path = "\(AdminPanel.path)/devices"
    static let knownPath = "\(path)/known"
    static let whyPath = "\(path)/why"

    private static let connected = PanelTemplate(PackageResources.devices_mustache)
    private static let known = PanelTemplate(PackageResources.devices_known_mustache)
    private static let session = PanelTemplate(PackageResources.device_session_mustache)
    private static let why = PanelTemplate(PackageResources.devices_why_mustache)
    private static var crumbs: [PanelPage.Crumb] { [PanelPage.Crumb(title: localized("Sync devices"), path: path)] }

    /// The address of the page that explains why a device has or lacks an object.
    static func whyPath(className: String, id: String) -> String {
        "\(whyPath)?class=\(RequestParameters.encode(className))&object=\(RequestParameters.encode(id))"
    }

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        let access = RouteAccess.inspecting(models)
        panel.page(Self.path, entry: PanelEntry("Sync devices", in: .system), access: access) { request, _ in
            .page(try await connected(request))
        }
        panel.page(Self.knownPath, access: access) { request, _ in
            let page = try request.pageNumber()
            let found = try await SyncDevices(request.core.pool).page(page)
            let content = KnownDevicesContent(found, page: page, now: request.now)
            return .page(
                PanelPage(
                    localized("All devices"), crumbs: Self.crumbs,
                    content: Self.known.render(request.values(content))))
        }
        panel.page(Self.whyPath, access: access) { request, model in .page(try await why(request, model)) }
        panel.page("\(Self.path)/{gateway}/{number}", access: access) { request, _ in
            .page(try await session(request))
        }
    }

    // MARK: Who is connected

    private func connected(_ request: PanelRequest) async throws -> PanelPage {
        let page = try request.pageNumber()
        var content = DevicesContent(
            user: request.query("user") ?? "", client: request.query("client") ?? "", state: request.query("state"))
        var parameters = [("page", String(page)), ("subscriptions", String(DevicesContent.subscriptionCount))]
        do {
            if let text = request.query("user") { parameters.append(("user", try await userID(text, request))) }
            for name in ["client", "state"] {
                if let value = request.query(name) { parameters.append((name, value)) }
            }
            let answers = try await ask("/inspector/sessions", parameters, request)
            let users = answers.flatMap { $0.json?["sessions"]?.items ?? [] }.compactMap { $0["user"]?.text }
            content.show(
                answers, names: try await SyncDevices(request.core.pool).names(of: Set(users)), page: page,
                now: request.now)
        } catch let failure as RequestFailure where failure.code.status.kind == .clientError {
            content.problem = DeviceProblem(failure)
        }
        return PanelPage(localized("Sync devices"), content: Self.connected.render(request.values(content)))
    }

    private func session(_ request: PanelRequest) async throws -> PanelPage {
        let number = RequestParameters.encode(request.parameter("number"))
        let answers = try await ask("/inspector/sessions/\(number)", [], of: request.parameter("gateway"), request)
        guard let answer = answers.first else {
            throw RequestFailure(
                .notFound, "This gateway is no longer running.", hint: "Its devices have moved to another gateway.")
        }
        switch answer.outcome {
        case .answered(let json):
            let user = json["session"]?["user"]?.text
            let names = try await SyncDevices(request.core.pool).names(of: Set([user].compactMap { $0 }))
            let content = DeviceSessionContent(json["session"] ?? .null, gateway: answer.gateway.name, names: names)
            return PanelPage(
                localized("A connected device"), crumbs: Self.crumbs,
                content: Self.session.render(request.values(content)))
        case .refused(let status, let message, let hint):
            throw RequestFailure(
                status == 404 ? .notFound : status == 403 ? .forbidden : .badRequest, message, hint: hint)
        case .silent, .gone:
            throw RequestFailure(
                .unavailable, "The gateway \(answer.gateway.name) doesn't answer.",
                hint: "Try again, or check whether it's running.")
        }
    }

    // MARK: Why?

    private func why(_ request: PanelRequest, _ model: ServerModel) async throws -> PanelPage {
        let grant = try? ClassesGrant(
            request.subject, .inspect, ofAny: localized("objects"),
            { schema in schema.classes.filter { $0.owner == nil && !$0.isEmbedded }.map(\.name) }, by: model.rules)
        let chosen = request.query("class")
        var content = DeviceWhyContent(
            user: request.query("user") ?? "", client: request.query("client") ?? "",
            object: request.query("object") ?? "", property: request.query("property") ?? "",
            classes: (grant?.filters.keys.sorted() ?? []).map { .init(value: $0, label: $0, isChosen: $0 == chosen) })
        if let chosen, !content.object.isEmpty {
            var parameters = [("class", chosen), ("id", content.object)]
            do {
                if !content.user.isEmpty { parameters.append(("user", try await userID(content.user, request))) }
                if !content.client.isEmpty { parameters.append(("client", content.client)) }
                if !content.property.isEmpty { parameters.append(("property", content.property)) }
                guard !content.user.isEmpty || !content.client.isEmpty else {
                    throw RequestFailure(.unprocessable, "Enter a user or a device.")
                }
                let answers = try await ask("/inspector/why", parameters, request)
                let merged = DeviceAnswers(answers)
                let users = Set(merged.devices.compactMap(\.user))
                content.show(merged, names: try await SyncDevices(request.core.pool).names(of: users))
            } catch let failure as RequestFailure where failure.code.status.kind == .clientError {
                content.problem = DeviceProblem(failure)
            }
        }
        return PanelPage(
            localized("Why is an object missing?"), crumbs: Self.crumbs,
            content: Self.why.render(request.values(content)))
    }

    // MARK: Asking

    private func ask(
        _ path: String, _ parameters: [(String, String)], of gateway: String? = nil, _ request: PanelRequest
    ) async throws -> [GatewayInquiry.Answer] {
        if let viewing = request.visit.viewing {
            throw RequestFailure(
                .forbidden, "Gateways answer only you, not the person you're viewing the panel as.",
                hint: "Stop viewing as \(viewing.title) to ask them.")
        }
        let query = parameters.map { "\($0.0)=\(RequestParameters.encode($0.1))" }.joined(separator: "&")
        return try await GatewayInquiry(request.core.pool).ask(
            query.isEmpty ? path : "\(path)?\(query)", by: request.userID, in: request.visit.session.id, of: gateway)
    }

    /// The id of the user identified by an e-mail address or an id.
    private func userID(_ text: String, _ request: PanelRequest) async throws -> String {
        do {
            return try await request.core.authenticator.userID(text).stringValue
        } catch AuthenticationError.unknownUser {
            throw RequestFailure(
                .unprocessable, "No account has this address or id.", hint: "The list of accounts has both.")
        }
    }
}
