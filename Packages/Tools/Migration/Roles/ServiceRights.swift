import TomboloModel

/// The rights that the role of other services should have. They differ between databases, because apps withhold
/// columns from the role, and operators grant it tables of their own.
enum ServiceRights {
    /// - Parameters:
    ///   - present: the role's current rights. If the role may update only some columns of a class's table and
    ///     `fixedProperties` doesn't mention the class, somebody has limited it, and the limit stays. So a run
    ///     without the app's extension doesn't widen what a run with it has narrowed. Tables in `public` that belong
    ///     to no class aren't touched either.
    ///   - fixedProperties: by class, the properties that the role may not update.
    static func wanted(
        _ schema: Schema, _ present: RightsOnObjects, fixedProperties: [String: Set<String>]
    ) -> RightsOnObjects {
        var wanted = RightsOnObjects(.services, schema)
        let update = DatabaseRight.Privilege.Kind.update.rawValue
        for item in schema.classes {
            let key = RightsOnObjects.Key(kind: "TABLE", schema: "public", name: item.table)
            let found = present.items[key, default: []].filter { $0.privilege == update }
            let columns: Set<RightsOnObjects.Item>
            if let fixed = fixedProperties[item.name] {
                columns = Set(
                    item.columns.filter { !fixed.contains($0.name) }.map {
                        .init(privilege: update, column: $0.sqlName)
                    })
            } else if !found.isEmpty, !found.contains(where: { $0.column == nil }) {
                columns = found
            } else {
                continue
            }
            wanted.items[key] = wanted.items[key, default: []].filter { $0.privilege != update }.union(columns)
        }
        for (key, items) in present.items where key.schema == "public" && wanted.items[key] == nil {
            wanted.items[key] = items
        }
        return wanted
    }
}
