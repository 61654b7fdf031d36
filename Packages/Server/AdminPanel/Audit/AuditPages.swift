import AdminService
import Hummingbird
import TomboloAuthentication
import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The audit log: searching for who changed what, and the history of an object, from which old values can be put back.
struct AuditPages: PanelSection {
    static let path = "\(AdminPanel.path)/audit"

    private static let search = PanelTemplate(PackageResources.audit_mustache)
    private static let history = PanelTemplate(PackageResources.history_mustache)

    /// The address of an object's history.
    /// - Parameter collection: the class's collection name, as in addresses.
    static func path(collection: String, key: String) -> String {
        "\(path)/\(RequestParameters.encode(collection))/\(RequestParameters.encode(key))"
    }

    func add(to panel: PanelRoutes) {
        let log = AuditLog(pool: panel.core.pool, models: panel.core.models)
        let access = AuditLog.access(by: panel.core.rules)
        panel.page(Self.path, entry: PanelEntry("Audit log", in: .work), access: access) { request, grant in
            .page(try await Self.search(request, log, grant))
        }
        panel.page("\(Self.path)/{collection}/{id}", access: access) { request, grant in
            .page(try await Self.history(request, log, grant))
        }
        panel.action(
            "\(Self.path)/{collection}/{id}/put-back", access: access, demands: .recentPasswordSometimes
        ) { request, grant in try await Self.putBack(request, log, grant) }
    }

    // MARK: Search

    private static func search(
        _ request: PanelRequest, _ log: AuditLog, _ grant: ClassesGrant
    ) async throws -> PanelPage {
        var parameters = parameters(request)
        if let place = parameters.firstIndex(where: { $0.name == "user" && $0.value.contains("@") }) {
            do {
                parameters[place].value = try await request.core.authenticator.userID(parameters[place].value)
                    .stringValue
            } catch AuthenticationError.unknownUser {
                // An unknown address stays as it is and finds no changes, just as an unknown id does, so the search
                // doesn't reveal which accounts exist.
            }
        }
        let answer = try await log.page(parameters, grant)
        let schema = grant.rules.schema
        func choices(_ name: String, _ all: [String], _ title: (String) -> String) -> [[String: Any]] {
            let chosen = request.query(name)
            return all.map { ["value": $0, "title": title($0), "isChosen": $0 == chosen] }
        }
        let classes = grant.filters.keys.filter { schema[$0]?.owner == nil }.sorted()
        var values: [String: Any] = [
            "path": path, "classes": choices("class", classes) { $0 },
            "operations": choices("operation", AuditText.operations, AuditText.operationTitle),
            "sources": choices("source", AuditText.sources, AuditText.sourceTitle),
            "entries": entries(answer, schema, isHistory: false, request),
        ]
        for name in ["object", "user", "from", "to", "text"] { values[name] = request.query(name) ?? "" }
        add(answer, to: &values, parameters, path)
        return PanelPage(localized("Audit log"), content: search.render(values))
    }

    // MARK: History

    private static func history(
        _ request: PanelRequest, _ log: AuditLog, _ grant: ClassesGrant
    ) async throws -> PanelPage {
        let item = try AuditLog.item(grant.rules.schema, collection: request.parameter("collection"))
        let key = request.parameter("id")
        let parameters = parameters(request)
        let answer = try await log.page(parameters, object: (item.name, key), grant)
        let own = path(collection: item.collectionName, key: key)
        var values: [String: Any] = [
            "path": own, "formToken": request.visit.token.formToken,
            "record": "\(AdminPanel.path)/data/\(item.collectionName)/\(RequestParameters.encode(key))",
            "entries": entries(answer, grant.rules.schema, isHistory: true, request),
        ]
        add(answer, to: &values, parameters, own)
        var title = "\(ClassTitle.words(item.name)) \(key.shortened(toByteCount: 60))"
        let view = try request.view(under: grant.rules)
        if let index = grant.rules.schema.index(of: item.name), let type = view.types[index],
            let found = try await RecordReader(view: view, pool: request.core.pool).choices(of: type, among: [key])
                .first
        {
            title = found.title
        }
        return PanelPage(
            localized("History of \(title)"),
            crumbs: [PanelPage.Crumb(title: localized("Audit log"), path: path)], content: history.render(values))
    }

    /// The parameters that have a value: forms send empty fields too.
    private static func parameters(_ request: PanelRequest) -> [(name: String, value: String)] {
        request.request.uri.queryParameters.map { (String($0.key), String($0.value)) }.filter { !$0.value.isEmpty }
    }

    private static func add(
        _ answer: JSON, to values: inout [String: Any], _ parameters: [(name: String, value: String)], _ path: String
    ) {
        values["hasEntries"] = answer["items"].map { if case .array(let items) = $0 { !items.isEmpty } else { false } }
        if let upTo = AuditText.text(answer["upTo"]) { values["upTo"] = upTo }
        guard let next = AuditText.text(answer["next"]) else { return }
        let others = parameters.filter { $0.name != "after" } + [("after", next)]
        values["next"] =
            path + "?"
            + others.map { "\(RequestParameters.encode($0.name))=\(RequestParameters.encode($0.value))" }
            .joined(separator: "&")
    }

    private static func entries(
        _ answer: JSON, _ schema: Schema, isHistory: Bool, _ request: PanelRequest
    ) -> [[String: Any]] {
        guard case .array(let items)? = answer["items"] else { return [] }
        return items.map { AuditText.values(of: $0, schema, isHistory: isHistory, for: request.userID.stringValue) }
    }

    // MARK: Putting back

    private static func putBack(
        _ request: PanelRequest, _ log: AuditLog, _ grant: ClassesGrant
    ) async throws -> PanelAnswer {
        let item = try AuditLog.item(grant.rules.schema, collection: request.parameter("collection"))
        let key = request.parameter("id")
        let own = path(collection: item.collectionName, key: key)
        try await request.demandPassword(
            changingClassAt: grant.rules.schema.index(of: item.name), under: grant.rules)
        var wish: [String: JSON] = [:]
        if let values = request.form["values"] {
            wish["values"] = try JSON(parsing: values)
        } else {
            wish["entry"] = .string(request.form["entry"] ?? "")
            let properties = request.form.values("property")
            if !properties.isEmpty { wish["properties"] = .array(properties.map(JSON.string)) }
            if request.form["version"] != nil { wish["version"] = true }
        }
        let result = try await log.putBack(
            AuditPutBack.Wish(.object(wish)), className: item.name, key: key, grant)
        if result.isMade {
            let singular = ClassTitle.inSentence(ClassTitle.words(item.name))
            return .redirect(to: own, notice: PanelNotice(localized("The \(singular) was created again.")))
        }
        guard !result.was.isEmpty else {
            let text = localized("Nothing was changed: it's already like this.")
            return .redirect(to: own, notice: PanelNotice(text))
        }
        let names = result.was.keys.sorted().map(ClassTitle.words).joined(separator: ", ")
        return .redirect(
            to: own,
            notice: PanelNotice(
                localized("Put back: \(names). The history shows it within a second."),
                undo: PanelNotice.Undo(
                    label: localized("Undo"), path: "\(own)/put-back",
                    fields: ["values": JSON.object(result.was).jsonText])))
    }
}
