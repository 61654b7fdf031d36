extension ModelDocument {
    /// What a server keeps when an app brings this document and the server has `previous`: this one and, marked as
    /// retired, whatever it lacks, so that older versions of the app find what they know. Previous names add up.
    ///
    /// A class that had a trash keeps it. A link that is retired becomes optional.
    /// - Parameters:
    ///   - previous: what the server has of the same app; nil for an app that is new.
    ///   - retiringMissing: false to add only, and change nothing that the server has: for a device of any version, in
    ///     development. A document that brings nothing new then gives `previous`.
    ///   - kept: what of `previous` isn't retired although this document lacks it.
    /// - Throws: ``ModelDocumentError`` for whatever older versions couldn't live with: another primary key, another
    ///   type, a property that becomes required, an embedded class that gets a table or the reverse, and names that
    ///   mean two things.
    public func merged(
        over previous: ModelDocument?, retiringMissing: Bool = true, keeping kept: ModelAdditions = .empty
    ) throws(ModelDocumentError) -> ModelDocument {
        guard let previous else { return self }
        guard previous.app == app else {
            throw ModelDocumentError("A document of the app '\(app)' can't follow one of '\(previous.app)'.")
        }
        var merge = ModelMerge(new: self, old: previous, isAdditive: !retiringMissing, kept: kept)
        return try merge.run()
    }

    /// The schema of several apps that share a database.
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
                            + "database need different names. Rename one.")
                } else if let other = tables.updateValue((document.app, item.name), forKey: table) {
                    problems.append(
                        "\(item.name) of the app '\(document.app)' and \(other.className) of '\(other.app)' both have "
                            + "the table '\(table)': give one another tableName().")
                }
            }
        }
        guard problems.isEmpty else { throw SchemaError(problems: problems) }
        return try Schema(documents.flatMap { ModelSchemaBuilder($0.classes).modelClasses() })
    }
}
