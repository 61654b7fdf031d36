extension Schema {
    /// The schema of the given model classes and of every class that they link to.
    /// - Throws: ``SchemaError`` listing every problem.
    public static func of(_ types: [Object.Type]) throws(SchemaError) -> Schema {
        try Schema(modelClasses(reachableFrom: types).map { ObjectClass.of($0).schema })
    }

    /// The given classes and all classes that their links, lists and embedded objects lead to, each once, without the
    /// embedded classes themselves.
    package static func modelClasses(reachableFrom types: [Object.Type]) -> [Object.Type] {
        var seen: Set<ObjectIdentifier> = []
        var result: [Object.Type] = []
        var waiting: [ObjectBase.Type] = types
        while let type = waiting.popLast() {
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            if let type = type as? Object.Type { result.append(type) }
            waiting.append(contentsOf: ObjectClass.of(type).targets)
        }
        return result
    }
}

extension Schema {
    /// Why the classes can't be synchronised, as sentences; empty if they can.
    public var synchronizationProblems: [String] {
        var problems = nameProblems
        for item in classes {
            if item.primaryKeyIndex == nil {
                problems.append(
                    "\(item.name) has no primary key. Synced classes need one: declare @Persisted(primaryKey: true) "
                        + "var _id: ObjectId.")
            }
            for column in item.columns {
                if column.isEncrypted {
                    problems.append(
                        "\(item.name).\(column.name) is encrypted, so it can't be synchronised. Keep it in a local "
                            + "Realm.")
                }
            }
        }
        return problems
    }

    /// Tables and columns whose names PostgreSQL would truncate, so that they couldn't be found again.
    var nameProblems: [String] {
        let limit = ModelDocument.maximumNameByteCount
        var problems: [String] = []
        for item in classes {
            if item.table.utf8.count > limit {
                problems.append(
                    "\(item.name) has the table name '\(item.table)', which is longer than PostgreSQL's limit of "
                        + "\(limit) bytes: choose a shorter one in tableName() or propertiesMapping().")
            }
            for column in item.columns where column.sqlName.utf8.count > limit {
                problems.append(
                    "\(item.name).\(column.name) has the column name '\(column.sqlName)', which is longer than "
                        + "PostgreSQL's limit of \(limit) bytes: choose a shorter one in propertiesMapping().")
            }
        }
        return problems
    }
}
