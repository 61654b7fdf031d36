import TomboloJSONAPI
import TomboloModel
import TomboloRules

extension PanelRequest {
    /// The classes of what roles are given in.
    static func scopeTypes(_ view: CallerView) -> [ResourceType] {
        let targets = view.rules.grantColumns.compactMap { columns in
            view.types[columns.classIndex].flatMap { type in
                type.fields.first { $0.column != nil && $0.column == columns.scopeColumn }?.target
            }
        }
        return Set(targets).sorted().compactMap { view.types[$0] }
    }

    /// The titles of what roles are given in, of what the caller may see.
    func scopeTitles(of grants: some Sequence<RoleGrant>, under rules: Rules) async throws -> [Value: String] {
        let ids = Set(grants.compactMap(\.scope)).compactMap { ValueText.text($0) }
        return try await RecordReader(view: view(under: rules), pool: core.pool).scopeTitles(among: ids)
    }
}

extension RecordReader {
    /// The titles of what roles are given in, by its key, of what the caller may see.
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
