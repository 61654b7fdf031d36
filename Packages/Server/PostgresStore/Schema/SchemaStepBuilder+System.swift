internal import TomboloModel

extension SchemaStepBuilder {
    /// Adds everything of ours that doesn't depend on the model.
    mutating func addSystem() {
        let missing = SystemRelation.all.filter { !live.systemRelations.contains($0.name) }
        if !missing.isEmpty {
            add(
                "schema tombolo",
                "CREATE SCHEMA IF NOT EXISTS tombolo;\nREVOKE ALL ON SCHEMA tombolo FROM PUBLIC")
        }
        for relation in missing { add("tombolo.\(relation.name)", relation.sql) }
        addTrashReasons()
        let functions = SystemFunction.all.filter { live.functions[$0.name] != $0.body }
        for function in functions { add("function tombolo.\(function.name)", function.sql) }
    }

    /// Adds a column that databases of earlier versions lack. It comes before the functions that write it, because
    /// they work on the tables of all apps.
    private mutating func addTrashReasons() {
        for (name, number) in live.identifiers.classes.sorted(by: { $0.value < $1.value }) {
            guard live.trashableClasses.contains(number), let table = live.identifiers.tables[name],
                let columns = live.tables[table], columns["trash_group"] != nil, columns["trash_reason"] == nil
            else { continue }
            add(
                "column \(table).trash_reason",
                "ALTER TABLE public.\(quoted(table)) ADD COLUMN IF NOT EXISTS trash_reason text COLLATE \"C\"")
            live.tables[table]?["trash_reason"] = PostgresCatalog.Column(
                type: "text", isRequired: false, hasDefault: false)
        }
    }
}
