import AdminService
import HTTPTypes
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules
import TomboloServerModel

/// "Why may X do Y to Z?", answered by the deciding rules, for users who may see an app's permission matrix.
struct WhyPages: PanelSection {
    private static let template = PanelTemplate(PackageResources.why_mustache)

    func add(to panel: PanelRoutes) {
        guard let models = panel.core.models else { return }
        panel.page("\(PermissionPages.path)/why", access: .anyMatrix(.read, of: models)) { request, grant in
            .page(try await page(request, grant))
        }
    }

    private func page(_ request: PanelRequest, _ grant: AnyMatrixGrant) async throws -> PanelPage {
        let rules = grant.model.rules
        let names = rules.schema.classes.filter { $0.owner == nil && !$0.isEmbedded }.map(\.name).sorted()
        let apps = grant.model.matrices.keys.sorted()
        let (user, role) = (request.query("user") ?? "", request.query("role") ?? "")
        let roles = apps.flatMap { app -> [WhyContent.Option] in
            guard let matrix = grant.model.matrices[app] else { return [] }
            return (matrix.roles + matrix.everywhereRoles).map { name in
                let title = localizedName(name)
                return WhyContent.Option(
                    value: "\(app)/\(name)", label: apps.count > 1 ? "\(title) (\(app))" : title,
                    isChosen: "\(app)/\(name)" == role)
            }
        }
        let chosenClass = request.query("class")
        var content = WhyContent(
            user: user, object: request.query("object") ?? "",
            roles: [WhyContent.Option(value: "", label: localized("Not logged in"), isChosen: role.isEmpty)]
                + roles,
            classes: names.map { WhyContent.Option(value: $0, label: $0, isChosen: $0 == chosenClass) },
            gridLink: grant.app.map { PermissionLinks($0).grid },
            routesLink: grant.app.map { PermissionLinks($0).routes })
        var status = HTTPResponse.Status.ok
        if let chosenClass {
            do {
                content.answer = try await answer(request, grant, className: chosenClass)
            } catch let failure as RequestFailure {
                content.problem = TrashGroupContent.Problem(
                    message: failure.message, hint: failure.shownHint, parentLink: nil)
                status = failure.code.status
            }
        }
        return PanelPage(
            localized("Check permissions"),
            crumbs: [PanelPage.Crumb(title: localized("Permissions"), path: PermissionPages.path)],
            content: Self.template.render(request.values(content)), status: status)
    }

    // MARK: The answer

    private func answer(
        _ request: PanelRequest, _ grant: AnyMatrixGrant, className: String
    ) async throws -> WhyContent.Answer {
        let rules = grant.model.rules
        guard let index = rules.schema.index(of: className) else {
            throw RequestFailure(.unprocessable, "There is no class \(className.shortened(toByteCount: 100)).")
        }
        let (subject, whose) = try await whom(request, grant)
        var row: Row?
        if let text = request.query("object") {
            let found = try await object(text, index, request, rules)
            // The answer reveals the values that the rules check, so the caller must be allowed to read all of the
            // object.
            if rules.hiddenColumns(request.subject)[index] == nil { row = found }
        }
        guard let explanation = rules.explain(subject, className: className, row: row) else {
            throw RequestFailure(.unprocessable, "\(className) can't be explained.")
        }
        // A role, as opposed to a user, isn't scoped to a particular object.
        let boxes = WhyBoxes(
            grant: grant, subject: subject, className: className, row: request.query("user") == nil ? nil : row)
        var answer = WhyContent.Answer(
            explanation, ConditionWords(rules.schema[index], for: subject, under: rules), whose: whose,
            object: row == nil ? nil : request.query("object"), row: row, boxes: boxes.deciding)
        answer.userPermissions = UserPermissionText.lines(of: subject, grant.model)
        return answer
    }

    private func whom(_ request: PanelRequest, _ grant: AnyMatrixGrant) async throws -> (Subject, String) {
        if let text = request.query("user") {
            let authenticator = request.core.authenticator
            do {
                let id = try await authenticator.userID(text)
                let details = try await authenticator.details(of: id)
                return (try await authenticator.subject(of: id), details.email ?? details.name)
            } catch AuthenticationError.unknownUser {
                throw RequestFailure(
                    .unprocessable, "No account that may log in has this address or id.",
                    hint: "Somebody whose account is disabled may do nothing.")
            }
        }
        guard let role = request.query("role") else { return (.anonymous, localized("somebody who isn't logged in")) }
        let parts = role.split(separator: "/", maxSplits: 1).map(String.init)
        guard parts.count == 2, let matrix = grant.model.matrices[parts[0]],
            (matrix.roles + matrix.everywhereRoles).contains(parts[1])
        else { throw RequestFailure(.unprocessable, "There is no such role.") }
        return (
            grant.model.example(of: parts[1], inMatrixOf: parts[0]),
            localized("somebody with the role \(localizedName(parts[1]))")
        )
    }

    /// The object, if the caller may read it.
    private func object(
        _ text: String, _ index: Int, _ request: PanelRequest, _ rules: Rules
    ) async throws -> Row {
        let item = rules.schema[index]
        let type = item.primaryKey?.type ?? .objectId
        guard !text.utf8.contains(0), let key = type.keyValue(text) else {
            throw RequestFailure(.unprocessable, "The id isn't \(ValueText.expected(type)).")
        }
        return try await RowReader(schema: rules.schema, pool: request.core.pool).readable(
            item.name, key: key, by: request.subject, under: rules)
    }
}
