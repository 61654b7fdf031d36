internal import TomboloModel

/// Notes changes of list elements as changes of the lists.
struct ListChanges {
    private let connection: SQLiteConnection
    private let layout: FileLayout
    private let recorder: ChangeRecorder
    private let isSynced: Bool
    /// By class position. Nil for classes that aren't element classes.
    private let owners: [Owner?]
    private let isReferenced: [Bool]

    fileprivate struct Owner {
        let classIndex: Int
        let list: Int
        /// Selects the owner's rowid by the element's key.
        let byElement: String
        /// Selects the owner's rowid by the element's rowid.
        let byRowID: String
        /// Selects the owner's rowid by its key.
        let byKey: String
        /// For each link column: selects the rowids of owners and elements by the key of an object that the elements
        /// link to.
        let byTarget: [Int: String]
    }

    init(_ file: StoreFile) {
        connection = file.connection
        layout = file.layout
        recorder = file.recorder
        isSynced = file.isSynced
        let layout = file.layout
        owners = layout.schema.classes.indices.map { index in
            guard let owner = layout.schema[index].owner, let classIndex = layout.schema.index(of: owner.className),
                // Changes of a list inside another list's elements are recorded for the outer list.
                let list = layout.schema[classIndex].lists.firstIndex(where: {
                    owner.property == $0.name || owner.property.hasPrefix($0.name + ".")
                })
            else { return nil }
            let element = layout.tables[index]
            let table = layout.tables[classIndex]
            let join =
                "FROM \(element.table) AS e JOIN \(table.table) AS o "
                + "ON o.\(table.key) = e.\(element.columnNames[ElementColumn.owner])"
            var byTarget: [Int: String] = [:]
            for (column, definition) in element.schema.columns.enumerated()
            where definition.linkTarget != nil && column != ElementColumn.owner && column != element.schema.parentColumn
            {
                byTarget[column] = "SELECT o.rowid, e.rowid \(join) WHERE e.\(element.columnNames[column]) = ?"
            }
            return Owner(
                classIndex: classIndex, list: list, byElement: "SELECT o.rowid \(join) WHERE e.\(element.key) = ?",
                byRowID: "SELECT o.rowid \(join) WHERE e.rowid = ?",
                byKey: "SELECT rowid FROM \(table.table) WHERE \(table.key) = ?", byTarget: byTarget)
        }
        let owners = owners
        isReferenced = layout.links.map { links in
            links.contains { link in
                owners[link.classIndex].map { $0.byTarget[link.column] != nil } ?? file.isSynced
            }
        }
    }

    func isElement(_ classIndex: Int) -> Bool { owners[classIndex] != nil }

    /// Notes that an element was written or is about to be deleted.
    func noteElement(rowid: Int64, _ classIndex: Int) throws {
        guard let owner = owners[classIndex] else { return }
        let select = try connection.statement(owner.byRowID)
        select.bind(rowid, at: 1)
        try note(Element(select: select, owner: owner))
    }

    /// Notes that an element was inserted.
    func noteList(of key: Value, _ classIndex: Int) throws {
        guard let owner = owners[classIndex] else { return }
        let select = try connection.statement(owner.byKey)
        select.bind(key, at: 1)
        try note(Element(select: select, owner: owner))
    }

    /// Whether any links or list elements can refer to objects of a class.
    func isReferenced(_ classIndex: Int) -> Bool { isReferenced[classIndex] }

    /// Finds the owner of an element whose key is bound to `select`.
    struct Element {
        let select: SQLiteStatement
        fileprivate let owner: Owner
    }

    /// Nil if the class isn't an element class.
    func element(of table: TableLayout) throws -> Element? {
        guard let owner = owners[table.classIndex] else { return nil }
        return Element(select: try connection.statement(owner.byElement), owner: owner)
    }

    func note(_ element: Element) throws {
        while try element.select.step() {
            recorder.noteList(element.owner.list, of: element.select.integer(at: 0), element.owner.classIndex)
        }
        element.select.reset()
    }

    /// Notes that an element was written or is about to be deleted. Has no effect on other rows.
    func noteElement(_ key: Value, _ table: TableLayout) throws {
        guard let element = try element(of: table) else { return }
        element.select.bind(key, at: 1)
        try note(element)
    }

    /// Notes the lists that contain an object about to be deleted. In a synced file, links and elements stay; so the
    /// rows with a link to the object are also noted, because they read differently without it.
    func noteReferences(to key: Value, _ table: TableLayout) throws {
        for (classIndex, column) in layout.links[table.classIndex] {
            if let owner = owners[classIndex] {
                guard let byTarget = owner.byTarget[column] else { continue }
                let select = try connection.statement(byTarget)
                defer { select.reset() }
                select.bind(key, at: 1)
                while try select.step() {
                    recorder.noteList(owner.list, of: select.integer(at: 0), owner.classIndex)
                    if isSynced { recorder.noteModified(select.integer(at: 1), classIndex, column: column) }
                }
            } else if isSynced {
                let other = layout.tables[classIndex]
                let select = try connection.statement(
                    "SELECT rowid FROM \(other.table) WHERE \(other.columnNames[column]) = ?")
                defer { select.reset() }
                select.bind(key, at: 1)
                while try select.step() {
                    recorder.noteModified(select.integer(at: 0), classIndex, column: column)
                }
            }
        }
    }
}
