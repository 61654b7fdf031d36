internal import TomboloModel

extension SchemaStepBuilder {
    /// Everything of ours that does not depend on the model.
    mutating func addSystem() {
        let missing = SystemRelation.all.filter { !live.systemRelations.contains($0.name) }
        if !missing.isEmpty {
            add(
                "schema tombolo",
                "CREATE SCHEMA IF NOT EXISTS tombolo;\nREVOKE ALL ON SCHEMA tombolo FROM PUBLIC")
        }
        for relation in missing { add("tombolo.\(relation.name)", relation.sql) }
        let functions = SystemFunction.all.filter { live.functions[$0.name] != $0.body }
        for function in functions { add("function tombolo.\(function.name)", function.sql) }
    }
}
