extension ModelDocument {
    /// The document that a server keeps when an app brings this one and the server has `previous`. It has everything in
    /// this document. What only `previous` has is kept and marked as retired, so that older versions of the app find
    /// what they know. Previous names accumulate.
    ///
    /// A class that had a trash keeps it. A retired link becomes optional.
    /// - Parameters:
    ///   - previous: the server's document for the same app, or nil if the app is new.
    ///   - retiringMissing: false only adds, and changes nothing that the server has. This is for development, where
    ///     devices of any version may bring their document. If the document has nothing new, the result is `previous`.
    ///   - kept: the parts of `previous` that aren't retired although this document lacks them.
    /// - Throws: ``ModelDocumentError`` for changes that would break older versions: another primary key, another type,
    ///   a property that becomes required, an embedded class that gets a table or the reverse, and ambiguous names.
    public func merged(
        over previous: ModelDocument?, retiringMissing: Bool = true, keeping kept: ModelAdditions = .empty
    ) throws(ModelDocumentError) -> ModelDocument {
        guard let previous else { return self }
        guard previous.app == app else {
            throw ModelDocumentError("A document of the app '\(app)' can't replace one of the app '\(previous.app)'.")
        }
        var merge = ModelMerge(new: self, old: previous, isAdditive: !retiringMissing, kept: kept)
        return try merge.run()
    }

    /// The schema of several apps that share one database.
    /// - Throws: ``SchemaError`` if two apps have a class or a table with the same name.
    public static func schema(of documents: [ModelDocument]) throws(SchemaError) -> Schema {
        var problems: [String] = []
        var classes: [String: String] = [:]
        var tables: [String: (app: String, className: String)] = [:]
        for document in documents {
            for item in document.classes {
                guard let table = item.table else { continue }
                if let other = classes.updateValue(document.app, forKey: item.name) {
                    problems.append(
                        "The apps '\(other)' and '\(document.app)' both have a class \(item.name): apps that share a "
                            + "database need different class names. Rename one.")
                } else if let other = tables.updateValue((document.app, item.name), forKey: table) {
                    problems.append(
                        "\(item.name) of the app '\(document.app)' and \(other.className) of '\(other.app)' both use "
                            + "the table '\(table)': give one of them a different tableName().")
                }
            }
        }
        guard problems.isEmpty else { throw SchemaError(problems: problems) }
        return try Schema(documents.flatMap { ModelSchemaBuilder($0.classes).modelClasses() })
    }
}
