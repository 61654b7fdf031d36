internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

extension RealmCore {
    /// The row of an object assigned to a link. Adds the object to the Realm if it's unmanaged. Nil if it can't be
    /// added; the transaction then fails.
    func managed(_ object: Object, _ target: Int) -> ManagedRow? {
        checkClass(of: object, target)
        return ownRow(of: object) ?? add(object, .error)
    }

    /// A link leads to the table of its class. Swift also allows objects of a subclass, but those are in another table.
    private func checkClass(of object: Object, _ target: Int) {
        let (found, expected) = (type(of: object), objectClass(target).type)
        if found != expected {
            programError(
                "Object of type '\(found)' does not match the type '\(expected)' of the link or list: links can't hold "
                    + "objects of subclasses. Declare a link of type '\(found)', or link to an object that both refer to."
            )
        }
    }

    /// The row of an object managed by this Realm, or nil for an unmanaged one.
    func ownRow(of object: Object) -> ManagedRow? {
        guard let accessor = object.accessor else { return nil }
        guard let row = accessor as? ManagedRow else {
            programError("The object of class \(object.className) doesn't belong to a Realm.")
        }
        guard row.core === self else {
            programError("Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        }
        guard row.isValid else {
            programError("Adding a deleted or invalidated object to a Realm is not permitted: \(row.schema.name).")
        }
        return row
    }

    /// Adds an object and everything it links to.
    /// - Returns: its row, or nil if it can't be added. The transaction then fails.
    @discardableResult
    func add(_ object: Object, _ policy: Realm.UpdatePolicy) -> ManagedRow? {
        requireWrite()
        if let row = ownRow(of: object) { return row }
        let type = managedClass(ofNew: object)
        guard policy == .error || type.schema.primaryKeyIndex != nil else {
            failUpdate(type)
            return nil
        }
        var addition = Addition(policy: policy)
        let row = addOne(object, type, &addition)
        addWaiting(&addition)
        return row
    }

    private func managedClass(ofNew object: Object) -> ManagedClass {
        let objectType = Swift.type(of: object)
        if let recent = recentlyAdded, recent.objectClass?.type == objectType { return recent }
        let type = classes[classIndex(of: objectType)]
        recentlyAdded = type
        return type
    }

    /// Adds the waiting objects and everything they link to.
    func addWaiting(_ addition: inout Addition) {
        while let next = addition.waiting.popLast() {
            if addition.copies {
                guard copyOne(next, &addition) else { return }
            } else if next.accessor == nil {
                addOne(next, classes[classIndex(of: type(of: next))], &addition)
            }
        }
    }

    @discardableResult
    private func addOne(_ object: Object, _ type: ManagedClass, _ addition: inout Addition) -> ManagedRow? {
        let layout = objectClass(type.index)
        if addition.policy == .error, let scalars = type.scalars {
            let row = insert(
                object, type, scalars, reserved: addition.reserved[.object(ObjectIdentifier(object))]?.rowid)
            if let row { object.attach(row, layout) }
            return row
        }
        var key: Value?
        if let column = type.schema.primaryKeyIndex {
            let value = unmanagedKey(of: object, layout, column)
            guard validate(value, column: column, of: type.index) else { return nil }
            key = value
            if addition.policy != .error, let existing = find(ObjectReference(classIndex: type.index, key: value)) {
                let place = EmbeddedPlace(host: existing, layout: layout, base: 0, prefix: "")
                guard update(place, with: object, &addition) else { return nil }
                object.attach(existing, layout)
                return existing
            }
        }
        var content = AddedContent()
        content.fields.reserveCapacity(type.schema.columns.count)
        guard collect(object, layout, type, base: 0, prefix: "", into: &content, &addition) else { return nil }
        let reserved = addition.reserved.isEmpty ? nil : addition.reserved[Addition.Source(object)]?.rowid
        guard let row = insert(type, key: key, content.fields, rowid: reserved) else {
            failDuplicate(ObjectReference(classIndex: type.index, key: key ?? .null))
            return nil
        }
        object.attach(row, layout)
        finish(content, in: row, &addition)
        return row
    }

    /// Inserts the row of an object with only scalars. Binds each value directly from its property.
    private func insert(
        _ object: Object, _ type: ManagedClass, _ scalars: [PropertyPlace], reserved: Int64?
    ) -> ManagedRow? {
        guard transaction?.isBroken == false else { return insertNothing(object, type, scalars) }
        let keyColumn = type.schema.primaryKeyIndex
        let isSynced = file.isSynced
        var key: Value?
        var fields: [FieldWrite] = []
        var isNew = false
        var rowid: Int64 = 0
        let columns = scalars.indices
        if isSynced { fields.reserveCapacity(columns.count) }
        perform {
            let insertion = try writer.insertion(type.index)
            for column in columns {
                let (value, isDefault) = object.scalar(at: scalars[column])
                do throws(ValueError) {
                    try type.validate(value, column)
                } catch {
                    fail(.invalidInput, "\(type.schema.name): \(error.message)")
                    return
                }
                insertion.bind(value, at: column)
                if column == keyColumn {
                    key = value
                } else if isSynced {
                    fields.append(FieldWrite(column: column, value: value, isDefault: isDefault))
                }
            }
            if type.table.isKeyRowID, case .int(let number)? = key {
                rowid = number
            } else {
                rowid = reserved ?? nextRowID(type.index)
            }
            isNew = try writer.insert(insertion, rowid: rowid)
            if !isNew { failDuplicate(ObjectReference(classIndex: type.index, key: key ?? .null)) }
        }
        guard isNew else { return nil }
        noteCreation()
        log(.create(ObjectReference(classIndex: type.index, key: key ?? .int(rowid)), fields))
        return ManagedRow(core: self, type: type, rowid: rowid, createdIn: transactionNumber, madeKey: key)
    }

    /// In a transaction that can't be committed, sets the object's values without writing anything.
    private func insertNothing(_ object: Object, _ type: ManagedClass, _ scalars: [PropertyPlace]) -> ManagedRow {
        let values = scalars.map { object.scalar(at: $0).value }
        let row = ManagedRow(core: self, type: type, rowid: nextRowID(type.index), createdIn: transactionNumber)
        row.fill(values)
        return row
    }

    func failUpdate(_ type: ManagedClass) {
        fail(.invalidInput, "'\(type.schema.name)' does not have a primary key and cannot be updated.")
    }

    func failDuplicate(_ reference: ObjectReference) {
        fail(
            .invalidInput,
            "Attempting to create an object of type '\(schema[reference.classIndex].name)' with an existing primary "
                + "key value '\(reference.key)'. Add it with update: .modified to change the existing one.")
    }

    func unmanagedKey(of object: ObjectBase, _ layout: ObjectClass, _ column: Int) -> Value {
        object.scalar(at: layout.places[layout.propertyOfColumn[column]]).value
    }

    /// The key for a link to an object, and the object's rowid. An object that isn't in the Realm yet is queued to be
    /// added or copied.
    func reference(to object: Object, _ target: Int, _ addition: inout Addition) -> (key: Value, rowid: Int64) {
        checkClass(of: object, target)
        let foreign = addition.copies ? foreignRow(of: object) : nil
        if foreign == nil, let row = ownRow(of: object) { return (row.key, row.rowid) }
        let source = Addition.Source(object)
        if let known = addition.reserved[source] { return (known.key, known.rowid) }
        addition.waiting.append(object)
        let type = classes[target]
        var key: Value?
        if let column = type.schema.primaryKeyIndex {
            key = foreign?.key ?? unmanagedKey(of: object, objectClass(type.index), column)
        }
        let rowid: Int64
        if type.table.isKeyRowID, case .int(let number) = key {
            rowid = number
        } else if addition.policy != .error, let key, let page = page(type, key: key) {
            rowid = page.rowids[0]
        } else {
            rowid = nextRowID(type.index)
        }
        addition.reserved[source] = Addition.Reservation(object: object, key: key ?? .int(rowid), rowid: rowid)
        return (key ?? .int(rowid), rowid)
    }

    // MARK: Content

    /// Reads an unmanaged object's values as the columns of a row of `type`, starting at `base`.
    /// - Returns: false if a value isn't accepted. The transaction then fails.
    func collect(
        _ object: ObjectBase, _ layout: ObjectClass, _ type: ManagedClass, base: Int, prefix: String,
        into content: inout AddedContent, _ addition: inout Addition
    ) -> Bool {
        for property in layout.properties {
            switch property.slot {
            case .column(let own):
                let column = base + own
                if column == type.schema.primaryKeyIndex { continue }
                var (value, isDefault) = object.scalar(at: property.place)
                if let target = type.linkTargets[column] {
                    let held = property.unmanagedValue(of: object).value as? Object
                    value = held.map { reference(to: $0, target, &addition).key } ?? .null
                }
                guard isAccepted(value, own, layout, column, type) else { return false }
                content.fields.append(FieldWrite(column: column, value: value, isDefault: isDefault))
            case .embedded(let own):
                let held = property.unmanagedValue(of: object).value._tomboloEmbedded
                let inner = held.map { ObjectClass.of(Swift.type(of: $0)) }
                guard
                    collect(
                        part: held, inner ?? embeddedLayout(property), type, base: base + own + 1,
                        prefix: "\(prefix)\(property.name).", into: &content, &addition)
                else { return false }
            case .array(let own):
                guard let list = property.unmanagedValue(of: object).value as? any AnyList else { continue }
                let value = arrayValue(list.storedElements, property, layout.schema.columns[own].type)
                content.fields.append(FieldWrite(column: base + own, value: value))
                let part = AddedContent.Part(object: object, layout: layout, base: base, prefix: prefix)
                content.arrays.append((list, part, own, property))
            case .list(let index):
                guard let list = property.unmanagedValue(of: object).value as? any AnyList else { continue }
                let elementType = elementType(type, prefix, layout.schema.lists[index].name)
                var items: [ListItem] = []
                for element in list.storedElements {
                    guard let item = item(element, elementType, &addition) else { return false }
                    items.append(item)
                }
                content.lists.append(
                    AddedContent.AddedList(
                        type: elementType, itemLayout: itemLayout(property), items: items, list: list))
            case .linkingObjects: break
            }
        }
        return true
    }

    /// Reads an embedded object, or nil, into its presence column and the columns after it.
    func collect(
        part object: ObjectBase?, _ layout: ObjectClass, _ type: ManagedClass, base: Int, prefix: String,
        into content: inout AddedContent, _ addition: inout Addition
    ) -> Bool {
        guard let object else {
            for column in (base - 1)..<(base + layout.schema.columns.count) {
                content.fields.append(FieldWrite(column: column, value: .null))
            }
            return true
        }
        if object.accessor != nil { EmbeddedPlace.refuseManaged(object) }
        content.fields.append(FieldWrite(column: base - 1, value: .bool(true)))
        content.parts.append(AddedContent.Part(object: object, layout: layout, base: base, prefix: prefix))
        return collect(object, layout, type, base: base, prefix: prefix, into: &content, &addition)
    }

    private func isAccepted(
        _ value: Value, _ own: Int, _ layout: ObjectClass, _ column: Int, _ type: ManagedClass
    ) -> Bool {
        if value.isNull, !layout.schema.columns[own].isOptional {
            fail(
                .invalidInput,
                "\(layout.schema.name): '\(layout.schema.columns[own].name)' is required and cannot be nil.")
            return false
        }
        return validate(value, column: column, of: type.index)
    }

    /// The content of a list element, or nil if it isn't accepted.
    func item(_ element: Stored, _ elementType: ManagedClass, _ addition: inout Addition) -> ListItem? {
        switch element {
        case .value(let value):
            return validate(value, column: ElementColumn.content, of: elementType.index) ? .value(value) : nil
        case .object(let object as Object):
            guard let target = elementType.linkTargets[ElementColumn.target] else { return nil }
            let (key, rowid) = reference(to: object, target, &addition)
            return .link(key, rowid: rowid)
        case .object(let object):
            if object.accessor != nil { EmbeddedPlace.refuseManaged(object) }
            return .embedded(object)
        }
    }

    func arrayValue(_ elements: [Stored], _ property: ObjectProperty, _ type: PropertyType) -> Value {
        guard case .array(let types) = type else { return .null }
        let layout = itemLayout(property)
        return .data(ArrayCoding.encode(elements.map { ArrayList.values($0, layout) }, types))
    }

    func itemLayout(_ property: ObjectProperty) -> ObjectClass? {
        property.valueType._targetClass.map { ObjectClass.of($0) }
    }

    func embeddedLayout(_ property: ObjectProperty) -> ObjectClass {
        guard let layout = itemLayout(property) else { programError("'\(property.name)' isn't an embedded object.") }
        return layout
    }

    /// The element class of a list property.
    func elementType(_ type: ManagedClass, _ prefix: String, _ name: String) -> ManagedClass {
        let name = "\(type.schema.name).\(prefix)\(name)"
        guard let index = schema.index(of: name) else { programError("There is no class \(name).") }
        return classes[index]
    }

    /// Completes an object whose row exists: fills its lists and makes the embedded objects and lists managed.
    func finish(_ content: AddedContent, in host: ManagedRow, _ addition: inout Addition) {
        attachParts(content, host)
        for added in content.lists {
            fill(added, host, &addition)
            added.list?.attach(ManagedList(host: host, elementType: added.type, itemLayout: added.itemLayout))
        }
    }

    private func attachParts(_ content: AddedContent, _ host: ManagedRow) {
        func place(_ part: AddedContent.Part) -> EmbeddedPlace {
            EmbeddedPlace(host: host, layout: part.layout, base: part.base, prefix: part.prefix)
        }
        for part in content.parts { part.object.attach(EmbeddedAccessor(place(part)), part.layout) }
        for array in content.arrays {
            array.list.attach(ArrayList(place: place(array.part), column: array.column, property: array.property))
        }
    }

    /// Fills a new object's list.
    private func fill(_ list: AddedContent.AddedList, _ host: ManagedRow, _ addition: inout Addition) {
        guard !list.items.isEmpty,
            let ranks = try? FractionalRank.sequence(count: list.items.count, between: nil, nil)
        else { return }
        let (owner, parent) = (host.rootKey, host.elementID)
        for (item, rank) in zip(list.items, ranks) {
            _ = insert(item, list.type, owner: owner, parent: parent, rank: rank, &addition)
        }
    }

    /// Inserts a list element.
    func insert(
        _ item: ListItem, _ type: ManagedClass, owner: Value, parent: Value?, rank: String, _ addition: inout Addition
    ) -> ManagedRow? {
        var content = AddedContent()
        content.fields = [
            FieldWrite(column: ElementColumn.owner, value: owner),
            FieldWrite(column: ElementColumn.rank, value: .string(rank)),
        ]
        switch item {
        case .value(let value), .link(let value, _):
            content.fields.append(FieldWrite(column: ElementColumn.content, value: value))
        case .embedded(let object):
            let layout = ObjectClass.of(Swift.type(of: object))
            let part = AddedContent.Part(object: object, layout: layout, base: ElementColumn.content, prefix: "")
            content.parts.append(part)
            guard
                collect(object, layout, type, base: ElementColumn.content, prefix: "", into: &content, &addition)
            else { return nil }
        }
        if let column = type.schema.parentColumn, let parent {
            content.fields.append(FieldWrite(column: column, value: parent))
        }
        guard let row = insert(type, key: .objectId(.generate()), content.fields) else { return nil }
        finish(content, in: row, &addition)
        return row
    }

    // MARK: Updating

    /// Sets a managed object's properties to the values of an unmanaged one. `.all` writes every field and replaces
    /// embedded objects; `.modified` writes only differences. In a synced Realm, the same fields are sent.
    func update(_ place: EmbeddedPlace, with object: ObjectBase, _ addition: inout Addition) -> Bool {
        var content = AddedContent()
        guard
            collect(
                object, place.layout, place.host.type, base: place.base, prefix: place.prefix, into: &content, &addition
            )
        else { return false }
        removeParts(of: place, missingIn: object, addition.policy)
        write(content, in: place.host, &addition)
        return true
    }

    /// Removes embedded objects that the unmanaged object doesn't have or that are to be replaced.
    private func removeParts(of place: EmbeddedPlace, missingIn object: ObjectBase, _ policy: Realm.UpdatePolicy) {
        for property in place.layout.properties {
            guard case .embedded(let column) = property.slot else { continue }
            guard !place.host.value(at: place.base + column).isNull else { continue }
            let inner = place.inner(column)
            if let new = property.unmanagedValue(of: object).value._tomboloEmbedded {
                if policy == .all { noteReplaced(inner) }
                removeParts(of: inner, missingIn: new, policy)
            } else {
                inner.remove()
            }
        }
    }

    /// Writes content into an existing row.
    func write(_ content: AddedContent, in row: ManagedRow, _ addition: inout Addition) {
        let isAll = addition.policy == .all
        let changed = content.fields.filter { isAll || row.value(at: $0.column) != $0.value }
        // Values in an update never count as defaults, wherever they came from.
        row.set(changed.map { FieldWrite(column: $0.column, value: $0.value) })
        attachParts(content, row)
        for added in content.lists {
            let list = ManagedList(host: row, elementType: added.type, itemLayout: added.itemLayout)
            list.assign(added.items, all: isAll, &addition)
            added.list?.attach(list)
        }
    }
}
