/// Checks how large tables become when embedded objects are included.
extension ModelDocumentCheck {
    /// The size of a class: the columns of its table, the tables of its lists, and the depth of its embedded objects.
    struct Size {
        /// Larger numbers are clamped to this.
        static let most = 1 << 30
        /// The maximum number of columns that an element class has besides those of its embedded class.
        static let elementColumns = 4
        var columns = 0
        var tables = 0
        /// The maximum number of names for one of its columns.
        var names = 1
        /// The columns of all list tables together.
        var listColumns = 0
        var depth = 0

        mutating func add(columns: Int, tables: Int, listColumns: Int) {
            self.columns = min(self.columns + columns, Self.most)
            self.tables = min(self.tables + tables, Self.most)
            self.listColumns = min(self.listColumns + listColumns, Self.most)
        }
    }

    /// Runs before any table is built: a few classes that embed each other several times could produce any number of columns.
    mutating func checkSizes() {
        var tables = 0
        var columns = 0
        for item in classes {
            let size = size(of: item, inside: [])
            if size.columns > ModelDocument.maximumColumnCount {
                let limit = ModelDocument.maximumColumnCount
                report(
                    size.columns == Size.most
                        ? Wording(
                            "The class has too many columns, including those of its embedded objects; the limit is "
                                + "\(limit).")
                        : Wording(
                            "The class has \(size.columns) columns, including those of its embedded objects; the limit "
                                + "is \(limit)."), item)
            }
            if size.names > ModelDocument.maximumAliasCount {
                report(
                    Wording(
                        "A property of an embedded object has more than \(ModelDocument.maximumAliasCount) possible "
                            + "names: remove previous names that no version uses."),
                    item)
            }
            guard !item.isEmbedded else { continue }
            tables = min(tables + 1 + size.tables, Size.most)
            columns = min(columns + size.columns + size.listColumns, Size.most)
        }
        if tables > ModelDocument.maximumTableCount {
            report(
                Wording(
                    "The classes and their lists need more than \(ModelDocument.maximumTableCount) tables: "
                        + "use fewer lists in embedded classes."))
        } else if columns > ModelDocument.maximumTotalColumnCount {
            report(
                Wording(
                    "The tables need more than \(ModelDocument.maximumTotalColumnCount) columns in total: use fewer "
                        + "embedded objects."))
        }
    }

    private mutating func size(of item: ModelClass, inside outer: [String]) -> Size {
        if let known = sizes[item.name] { return known }
        var result = Size()
        let path = outer + [item.name]
        for property in item.properties {
            let isList = if case .list = property.type { true } else { false }
            guard let target = property.target, target.isEmbedded, let embedded = byName[target.name] else {
                let listColumns = isList ? Size.elementColumns : 0
                result.add(columns: isList ? 0 : 1, tables: isList ? 1 : 0, listColumns: listColumns)
                result.names = max(result.names, 1 + property.previousNames.count)
                continue
            }
            if path.contains(target.name) {
                report(
                    Wording(
                        "Cycles containing embedded objects are not supported: '\(item.name).\(property.name)' leads back "
                            + "to \(target.name). Make one of the classes an Object and link to it."), item, property)
                continue
            }
            guard path.count <= ModelDocument.maximumEmbeddingDepth else {
                report(
                    Wording(
                        "Embedded objects are nested more than \(ModelDocument.maximumEmbeddingDepth) levels deep."),
                    item,
                    property)
                continue
            }
            let inner = size(of: embedded, inside: path)
            if isList {
                result.add(
                    columns: 0, tables: 1 + inner.tables,
                    listColumns: Size.elementColumns + inner.columns + inner.listColumns)
            } else {
                result.add(columns: 1 + inner.columns, tables: inner.tables, listColumns: inner.listColumns)
            }
            result.depth = max(result.depth, inner.depth + 1)
            result.names = max(result.names, min(inner.names * (1 + property.previousNames.count), Size.most))
        }
        if result.depth > ModelDocument.maximumEmbeddingDepth, problems.isEmpty {
            report(
                Wording("Embedded objects are nested more than \(ModelDocument.maximumEmbeddingDepth) levels deep."),
                item)
        }
        sizes[item.name] = result
        return result
    }
}
