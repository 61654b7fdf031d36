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
        guard !ids.isEmpty else { return [:] }
        let view = try view(under: rules)
        let reader = RecordReader(view: view, pool: core.pool)
        var titles: [Value: String] = [:]
        for type in Self.scopeTypes(view) {
            for choice in try await reader.choices(of: type, among: ids) {
                if let key = type.keyValue(choice.id) { titles[key] = choice.title }
            }
        }
        return titles
    }
}
