import AdminService
import HTTPTypes
import HummingbirdTesting
import NIOCore
import ServiceTestSupport
import Testing
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// Sends questions to the admin server: to its API with an access token, and to the panel with a session.
struct TrashVisitor: Sendable {
    /// The roles of a ``ServiceFixture``, and those for which it has no user; nil for no user.
    static let roles: [String?] = [
        nil, "attendee", "registrar", "moderator", "trackOrganizer", "coorganizer", "organizer", "owner", "stranger",
        "admin", "superAdmin",
    ]

    let role: String?
    private let client: any TestClientProtocol
    private let authorization: String?
    private let browser: PanelBrowser
    private let formToken: String
    /// The classes whose trash the rules let this user list, and those whose audit log.
    private let lists: Set<String>
    private let audits: Set<String>
    /// The classes whose objects this user may restore; administrators, for example, restore an order with its ticket.
    private let restores: Set<String>

    init(_ role: String?, _ fixture: ServiceFixture, _ client: any TestClientProtocol, _ types: ResourceTypes)
        async throws
    {
        self.role = role
        self.client = client
        authorization = try await fixture.authorization(role)
        guard let role else {
            browser = PanelBrowser(client)
            (formToken, lists, audits, restores) = ("none", [], [], [])
            return
        }
        browser = try await PanelBrowser.loggedIn(client, as: role)
        formToken = try await browser.formToken()
        let authenticator = fixture.adminServer.authenticator
        let subject = try await authenticator.subject(of: authenticator.userID(ServiceFixture.email(role)))
        let view = CallerView(subject: subject, rules: fixture.rules, types: types)
        func permitted(_ operation: TomboloRules.Operation) -> Set<String> {
            Set(types.all.filter { view.refusal(operation, $0) == nil }.map(\.item.name))
        }
        (lists, audits, restores) = (permitted(.listTrash), permitted(.audit), permitted(.restore))
    }

    var name: String { role ?? "anonymous" }

    /// Adds users for the two roles that ``ServiceFixture`` has no user for.
    static func addUsers(_ fixture: ServiceFixture) async throws {
        for role in ["trackOrganizer", "moderator"] {
            let user = try await fixture.authenticator.register(
                email: ServiceFixture.email(role), password: ServiceFixture.password, displayName: role)
            try await fixture.rows().insert(
                "RoleAssignment",
                ["user": .objectId(user), "role": .string(role), "event": .objectId(fixture.event)])
        }
    }

    /// Whether an address may reveal a trashed object to this user: one in the trash or the audit log, if the rules let them list
    /// the object there. Accounts belong to no class, and users who manage them see which ones have a trashed user.
    func mayLearn(of object: TrashPlant.Planted, by question: TrashQuestion) -> Bool {
        let className = object.type.item.name
        func isBelow(_ paths: [String]) -> Bool { paths.contains { question.path.hasPrefix($0) } }
        if isBelow(["/admin/trash", "/panel/trash"]) {
            return lists.contains(className) || (question.method != .get && restores.contains(className))
        }
        if isBelow(["/admin/\(object.type.name)/"]) { return lists.contains(className) }
        if isBelow(["/admin/audit", "/panel/audit"]) { return audits.contains(className) }
        let ofAccounts = ["/panel/accounts", "/panel/permissions/role", "/panel/devices", "/panel/view-as"]
        return className == "User" && isBelow(ofAccounts) && lists.contains(className)
    }

    func ask(_ question: TrashQuestion) async throws -> TrashAnswer {
        guard !question.isOfPanel else {
            // The result of the last form would be shown on the next page.
            browser.setCookie("tombolo_notice", nil)
            guard let form = question.form else { return TrashAnswer(try await browser.get(question.path)) }
            return TrashAnswer(
                try await browser.call(
                    .post, question.path, body: TrashQuestion.query(form + [("_token", formToken)]),
                    headers: [.contentType: "application/x-www-form-urlencoded"]))
        }
        var headers: HTTPFields = [:]
        headers[.authorization] = authorization
        if question.body != nil { headers[.contentType] = question.type }
        let response = try await client.execute(
            uri: question.path, method: question.method, headers: headers,
            body: question.body.map { ByteBuffer(string: $0) })
        return TrashAnswer(
            Answer(status: response.status.code, text: String(buffer: response.body), headers: response.headers))
    }
}
