import TomboloModel

/// What the role of other services is to have, which differs from database to database: apps keep columns from it, and
/// operators give it tables of their own.
enum ServiceRights {
    /// - Parameters:
    ///   - present: what the role has. Where it may update only some columns of a class's table and nothing here says
    ///     which, somebody limited it: that stays, so that a run without the app's extension doesn't widen what a run
    ///     with it narrowed. Tables in `public` that belong to no class aren't touched either.
    ///   - fixedProperties: what the role may not update, by class.
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
