import TomboloModel

/// Writes a document's classes as Swift source. Only supports what tables produce: values and links, none of them
/// encrypted.
struct ReverseSource {
    let document: ModelDocument
    /// Swift literals by class and property.
    let defaults: [String: [String: String]]

    var text: String {
        let head = [
            "// Written by migration-tool from the database's tables. It's yours from now on: change it as you like,",
            "// and export the document from it.", "import RealmSwift", "",
        ]
        return (head + document.classes.map(text(of:))).joined(separator: "\n")
    }

    private func text(of item: ModelClass) -> String {
        var lines: [String] = []
        if let table = item.table { lines.append("/// The table `\(table)`.") }
        lines.append("class \(item.name): Object {")
        lines += item.properties.map { "    \(declaration(of: $0, in: item))" }
        var functions: [String] = []
        if let table = item.table, table != Column.sqlName(for: item.name) {
            functions.append("override class func tableName() -> String? { \(literal(table)) }")
        }
        let mapping = item.properties.filter { $0.column != Column.sqlName(for: $0.name) }
        if !mapping.isEmpty {
            functions += dictionary(
                "override class func propertiesMapping() -> [String: String]",
                mapping.map { "\(literal($0.name)): \(literal($0.column))" })
        }
        if !item.uniqueProperties.isEmpty {
            functions += dictionary(
                "override class func uniqueProperties() -> [[String]]",
                item.uniqueProperties.map { "[\($0.map(literal).joined(separator: ", "))]" })
        }
        if item.isTrashable { functions.append("override class func isTrashable() -> Bool { true }") }
        if !functions.isEmpty { lines += [""] + functions.map { "    \($0)" } }
        return (lines + ["}", ""]).joined(separator: "\n")
    }

    /// On a single line, or with one element per line.
    private func dictionary(_ head: String, _ elements: [String]) -> [String] {
        let line = "\(head) { [\(elements.joined(separator: ", "))] }"
        guard line.count > Self.maximumLineLength else { return [line] }
        return ["\(head) {", "    ["] + elements.map { "        \($0)," } + ["    ]", "}"]
    }

    /// Four columns of indentation come before it.
    private static let maximumLineLength = 116

    private func declaration(of property: ModelProperty, in item: ModelClass) -> String {
        var options = property.isIndexed ? "(indexed: true)" : ""
        if property.isPrimaryKey { options = "(primaryKey: true)" }
        if property.deleteRule == .cascade { options = "(onDelete: .cascade)" }
        let name = ReverseName.quoted(property.name)
        let type = swiftType(property.type) + (property.isOptional ? "?" : "")
        let initial = defaults[item.name]?[property.name].map { " = \($0)" } ?? ""
        return "@Persisted\(options) var \(name): \(type)\(initial)"
    }

    private func swiftType(_ type: PropertyType) -> String {
        switch type {
        case .bool: "Bool"
        case .int(let bits): bits == 64 ? "Int" : "Int\(bits)"
        case .float: "Float"
        case .double: "Double"
        case .string: "String"
        case .data: "Data"
        case .date: "Date"
        case .objectId: "ObjectId"
        case .uuid: "UUID"
        case .decimal128: "Decimal128"
        case .link(let target): target
        // A table's columns never become any of these.
        case .embedded, .list, .array, .linkingObjects: type.name
        }
    }

    private func literal(_ text: String) -> String { "\"\(text)\"" }
}
