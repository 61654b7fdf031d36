internal import TomboloChangesets
internal import TomboloModel
internal import TomboloSQLiteStore

extension RealmCore {
    /// The row of an object that a link or list is given: added where it is unmanaged. Nil where it cannot be added;
    /// the transaction fails then.
    func managed(_ object: Object) -> ManagedRow? {
        if let row = ownRow(of: object) { return row }
        return add(object, .error)
    }

    /// The row of a managed object of this Realm; nil for an unmanaged one.
    private func ownRow(of object: Object) -> ManagedRow? {
        guard let accessor = object.accessor else { return nil }
        guard let row = accessor as? ManagedRow else {
            programError("The object of class \(object.className) belongs to something that is no Realm.")
        }
        guard row.core === self else {
            programError(
                "Object is already managed by another Realm. Use create instead to copy it into this Realm.")
        }
        guard row.isValid else {
            programError("Adding a deleted or invalidated object to a Realm is not permitted: \(row.schema.name).")
        }
        return row
    }

    /// Adds an object with everything that its links and lists lead to.
    /// - Returns: its row, or nil where it cannot be added; the transaction fails then.
    @discardableResult
    func add(_ object: Object, _ policy: Realm.UpdatePolicy) -> ManagedRow? {
        requireWrite()
        if let row = ownRow(of: object) { return row }
        var waiting: [Object] = []
        let result = addOne(object, policy, &waiting)
        // Not by recursion: chains of links may be long.
        while let next = waiting.popLast() {
            if next.accessor == nil { addOne(next, policy, &waiting) }
        }
        return result
    }

    /// What an unmanaged object holds, read before its properties become managed.
    private struct Content {
        var fields: [FieldWrite] = []
        var lists: [(index: Int, list: any AnyList)] = []
    }

    @discardableResult
    private func addOne(_ object: Object, _ policy: Realm.UpdatePolicy, _ waiting: inout [Object]) -> ManagedRow? {
        let classIndex = classIndex(of: type(of: object))
        let layout = objectClass(classIndex)
        guard let key = keyOrNew(of: object, layout, classIndex) else { return nil }
        let reference = ObjectReference(classIndex: classIndex, key: key)
        guard let content = content(of: object, layout, classIndex, &waiting) else { return nil }
        let existing = layout.schema.primaryKeyIndex == nil ? nil : find(reference)
        if let existing {
            guard policy != .error else {
                failDuplicate(reference)
                return nil
            }
            update(existing, content.fields, policy)
            existing.attach(object, layout)
            for (index, list) in content.lists {
                let targets = keys(of: list.objects.compactMap { $0 as? Object }, &waiting)
                guard let storage = existing.listStorage(at: index) as? ManagedList else { continue }
                storage.assign(targets, all: policy == .all)
                list.attach(storage)
            }
            return existing
        }
        guard policy == .error || layout.schema.primaryKeyIndex != nil else {
            fail(.invalidInput, "'\(layout.schema.name)' does not have a primary key and cannot be updated.")
            return nil
        }
        let row = insert(reference, content.fields)
        row.attach(object, layout)
        for (index, list) in content.lists {
            fill(index, of: reference, with: keys(of: list.objects.compactMap { $0 as? Object }, &waiting))
            list.attach(row.listStorage(at: index))
        }
        return row
    }

    func failDuplicate(_ reference: ObjectReference) {
        fail(
            .invalidInput,
            "Attempting to create an object of type '\(schema[reference.classIndex].name)' with an existing primary "
                + "key value '\(reference.key)'. Add it with update: .modified to change the existing one.")
    }

    /// Makes the row of an object that does not exist. `fields` has a value for every column but the key.
    func insert(_ reference: ObjectReference, _ fields: [FieldWrite]) -> ManagedRow {
        let row = remember(
            ManagedRow(
                core: self, classIndex: reference.classIndex, key: reference.key, createdIn: transactionNumber))
        record(.create(reference, fields))
        let item = schema[reference.classIndex]
        var values = Array(repeating: Value.null, count: item.columns.count)
        if let key = item.primaryKeyIndex { values[key] = reference.key }
        for field in fields { values[field.column] = field.value }
        row.fill(values)
        return row
    }

    /// The elements of a new object's list.
    func fill(_ list: Int, of owner: ObjectReference, with targets: [Value]) {
        let elementClass = layout.tables[owner.classIndex].listClasses[list]
        guard !targets.isEmpty,
            let ranks = try? FractionalRank.sequence(count: targets.count, between: nil, nil)
        else { return }
        for (rank, target) in zip(ranks, targets) {
            record(
                ManagedList.creation(
                    elementClass, id: .objectId(.generate()), owner: owner.key, rank: rank, target: target))
        }
    }

    /// `.all` writes every field, `.modified` those that differ: on a synced Realm that decides what is sent.
    func update(_ row: ManagedRow, _ fields: [FieldWrite], _ policy: Realm.UpdatePolicy) {
        let changed = fields.filter { policy == .all || row.value(at: $0.column) != $0.value }
        guard !changed.isEmpty else { return }
        row.set(changed.map { FieldWrite(column: $0.column, value: $0.value) })
    }

    /// The key of an object that is added now: its own, or a new rowid for a class without one. Nil where its value
    /// is not accepted.
    private func keyOrNew(of object: Object, _ layout: ObjectClass, _ classIndex: Int) -> Value? {
        guard let column = layout.schema.primaryKeyIndex else { return .int(nextRowID(classIndex)) }
        let key = unmanagedKey(of: object, layout, column)
        return validate(key, column: column, of: classIndex) ? key : nil
    }

    private func unmanagedKey(of object: Object, _ layout: ObjectClass, _ column: Int) -> Value {
        layout.properties[layout.propertyOfColumn[column]].unmanagedValue(of: object).value._value
    }

    /// What a link to an object holds: its key. Unmanaged objects are put in line to be added.
    func key(of object: Object, _ waiting: inout [Object]) -> Value {
        if let row = ownRow(of: object) { return row.key }
        let layout = objectClass(classIndex(of: type(of: object)))
        guard let column = layout.schema.primaryKeyIndex else {
            programError("\(layout.schema.name) has no primary key and cannot be linked to.")
        }
        waiting.append(object)
        return unmanagedKey(of: object, layout, column)
    }

    private func keys(of objects: [Object], _ waiting: inout [Object]) -> [Value] {
        var result: [Value] = []
        for object in objects { result.append(key(of: object, &waiting)) }
        return result
    }

    /// Nil where a value is not accepted; the transaction fails then.
    private func content(
        of object: Object, _ layout: ObjectClass, _ classIndex: Int, _ waiting: inout [Object]
    ) -> Content? {
        var content = Content()
        for property in layout.properties {
            let (held, isDefault) = property.unmanagedValue(of: object)
            switch property.slot {
            case .column(let column):
                if column == layout.schema.primaryKeyIndex { continue }
                var value = held._value
                if linkTarget(of: classIndex, column) != nil {
                    value = (held as? Object).map { key(of: $0, &waiting) } ?? .null
                }
                guard validate(value, column: column, of: classIndex) else { return nil }
                content.fields.append(FieldWrite(column: column, value: value, isDefault: isDefault))
            case .list(let index):
                if let list = held as? any AnyList { content.lists.append((index, list)) }
            case .embedded, .array, .linkingObjects: break
            }
        }
        return content
    }
}
