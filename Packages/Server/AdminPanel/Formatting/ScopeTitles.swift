import TomboloJSONAPI
import TomboloModel
import TomboloRules

extension PanelRequest {
    /// The classes whose objects roles can be scoped to.
    static func scopeTypes(_ view: CallerView) -> [ResourceType] {
        let targets = view.rules.grantColumns.compactMap { columns in
            view.types[columns.classIndex].flatMap { type in
                type.fields.first { $0.column != nil && $0.column == columns.scopeColumn }?.target
            }
        }
        return Set(targets).sorted().compactMap { view.types[$0] }
    }

    /// The titles of the scopes of role grants, as far as the caller may see them.
    func scopeTitles(of grants: some Sequence<RoleGrant>, under rules: Rules) async throws -> [Value: String] {
        let ids = Set(grants.compactMap(\.scope)).compactMap { ValueText.text($0) }
        return try await RecordReader(view: view(under: rules), pool: core.pool).scopeTitles(among: ids)
    }
}

extension RecordReader {
    /// The titles of scopes by key, as far as the caller may see them.
    func scopeTitles(among ids: [String]) async throws -> [Value: String] {
        guard !ids.isEmpty else { return [:] }
        var titles: [Value: String] = [:]
        for type in PanelRequest.scopeTypes(view) {
            for choice in try await choices(of: type, among: ids) {
                if let key = type.keyValue(choice.id) { titles[key] = choice.title }
            }
        }
        return titles
    }
}
