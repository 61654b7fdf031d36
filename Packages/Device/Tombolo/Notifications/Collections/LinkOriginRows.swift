internal import TomboloModel
internal import TomboloSQLiteStore

/// The rows that contain the links behind a LinkingObjects property.
struct LinkOriginRows {
    /// The class whose objects link.
    let source: TableLayout
    /// The class whose rows contain the links: the source class itself, or its list's element class.
    let holder: TableLayout
    /// The link among the holder's columns.
    let column: Int

    var isList: Bool { holder.classIndex != source.classIndex }

    /// - Returns: nil if the property isn't a link or a list of links to the class.
    init?(_ origin: LinkOrigin, to target: Int, _ layout: FileLayout) {
        let schema = layout.schema
        guard let index = schema.index(of: origin.className) else { return nil }
        source = layout.tables[index]
        let name = schema[target].name
        if let column = schema[index].columnIndex(origin.property), schema[index].columns[column].linkTarget == name {
            holder = source
            self.column = column
        } else if let list = schema.index(of: "\(origin.className).\(origin.property)"),
            case .link(name)? = schema[list].owner?.element
        {
            holder = layout.tables[list]
            column = ElementColumn.target
        } else {
            return nil
        }
    }
}
