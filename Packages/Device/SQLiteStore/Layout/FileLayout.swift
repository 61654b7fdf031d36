package import TomboloModel

/// The tables of a schema, and which link columns point to each class.
package struct FileLayout: Sendable {
    package let schema: Schema
    /// By class position.
    package let tables: [TableLayout]
    /// For each class position, the columns of links and list elements that point to it.
    package let links: [[(classIndex: Int, column: Int)]]

    package init(_ schema: Schema) {
        self.schema = schema
        tables = schema.classes.indices.map { TableLayout(schema: schema, classIndex: $0) }
        var links: [[(classIndex: Int, column: Int)]] = Array(repeating: [], count: schema.classes.count)
        for (classIndex, item) in schema.classes.enumerated() {
            for (column, definition) in item.columns.enumerated() {
                guard let target = definition.linkTarget.flatMap({ schema.index(of: $0) }) else { continue }
                guard item.owner == nil || column != ElementColumn.owner else { continue }
                links[target].append((classIndex, column))
            }
        }
        self.links = links
    }
}
