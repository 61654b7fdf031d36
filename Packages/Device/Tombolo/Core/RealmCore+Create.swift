internal import Foundation
internal import TomboloChangesets
internal import TomboloModel

extension RealmCore {
    /// Creates or updates an object from a dictionary by property name, an array in property order, or another object,
    /// which is copied with everything it links to. Nil if that isn't possible; the transaction then fails.
    func create(_ type: Object.Type, _ value: Any, _ policy: Realm.UpdatePolicy) -> ManagedRow? {
        requireWrite()
        let managed = classes[classIndex(of: type)]
        guard policy == .error || managed.schema.primaryKeyIndex != nil else {
            failUpdate(managed)
            return nil
        }
        var addition = Addition(policy: policy, copies: true)
        let result: ManagedRow?
        if let object = value as? Object, Swift.type(of: object) == type,
            object.accessor == nil || foreignRow(of: object) != nil
        {
            // Queue the object, so that objects it links to can link back to the copy.
            let rowid = reference(to: object, managed.index, &addition).rowid
            addition.waiting.removeAll()
            result = createOne(type, object, rowid: rowid, &addition)
        } else {
            result = createOne(type, value, &addition)
        }
        addWaiting(&addition)
        return result
    }

    /// The row of an object managed by another Realm, or nil.
    func foreignRow(of object: Object) -> ManagedRow? {
        guard let row = object.accessor as? ManagedRow, row.core !== self else { return nil }
        return row
    }

    /// - Returns: false if the object can't be copied. The transaction then fails.
    func copyOne(_ object: Object, _ addition: inout Addition) -> Bool {
        let rowid = addition.reserved[Addition.Source(object)]?.rowid
        return createOne(type(of: object), object, rowid: rowid, &addition) != nil
    }

    private func createOne(
        _ objectType: Object.Type, _ value: Any, rowid: Int64? = nil, _ addition: inout Addition
    ) -> ManagedRow? {
        let type = classes[classIndex(of: objectType)]
        let layout = objectClass(type.index)
        guard let given = given(value, layout) else { return nil }
        let sample = objectType.init()
        var key: Value?
        var existing: ManagedRow?
        if let column = layout.schema.primaryKeyIndex {
            guard let value = self.key(given, column, sample, layout, type.index, &addition) else { return nil }
            key = value
            let reference = ObjectReference(classIndex: type.index, key: value)
            existing = find(reference)
            if existing != nil, addition.policy == .error {
                failDuplicate(reference)
                return nil
            }
        }
        var content = AddedContent()
        guard
            collect(given, sample, layout, type, base: 0, prefix: "", existing: existing, into: &content, &addition)
        else { return nil }
        let row: ManagedRow
        if let existing {
            row = existing
            write(content, in: row, &addition)
        } else if let made = insert(type, key: key, content.fields, rowid: rowid) {
            row = made
            finish(content, in: row, &addition)
        } else if addition.policy != .error, let key, let made = find(type, key: key) {
            // One of the given objects links back to this one and was created first.
            row = made
            write(withoutDefaults(content, given, layout, type), in: row, &addition)
        } else {
            failDuplicate(ObjectReference(classIndex: type.index, key: key ?? .null))
            return nil
        }
        return row
    }

    /// The content of a new object, without the properties that weren't given.
    private func withoutDefaults(
        _ content: AddedContent, _ given: [String: Any], _ layout: ObjectClass, _ type: ManagedClass
    ) -> AddedContent {
        var content = content
        for property in layout.properties where given[property.name] == nil {
            switch property.slot {
            case .column(let column), .array(let column): content.fields.removeAll { $0.column == column }
            case .embedded(let column):
                let columns = column...(column + embeddedLayout(property).schema.columns.count)
                content.fields.removeAll { columns.contains($0.column) }
            case .list, .linkingObjects: break
            }
            let name = "\(type.schema.name).\(property.name)"
            content.lists.removeAll { $0.type.schema.name == name || $0.type.schema.name.hasPrefix("\(name).") }
        }
        return content
    }

    /// Reads the given values as columns starting at `base`. Missing ones get their defaults in a new object and stay
    /// unchanged in an existing one.
    private func collect(
        _ given: [String: Any], _ sample: ObjectBase, _ layout: ObjectClass, _ type: ManagedClass, base: Int,
        prefix: String, existing: ManagedRow?, into content: inout AddedContent, _ addition: inout Addition
    ) -> Bool {
        for property in layout.properties {
            let value = given[property.name]
            switch property.slot {
            case .column(let own):
                let column = base + own
                if column == type.schema.primaryKeyIndex { continue }
                if let value {
                    guard let converted = convert(value, column, layout, own, type, &addition) else {
                        return false
                    }
                    content.fields.append(FieldWrite(column: column, value: converted))
                } else if existing == nil {
                    guard let field = defaultField(property, column, sample, type.index) else { return false }
                    content.fields.append(field)
                }
            case .embedded(let own):
                guard value != nil || existing == nil else { continue }
                let given = value ?? (property.unmanagedValue(of: sample).value._tomboloEmbedded as Any?) ?? NSNull()
                guard
                    collect(
                        embedded: given, property, type, base: base + own + 1, prefix: "\(prefix)\(property.name).",
                        existing: existing, into: &content, &addition)
                else { return false }
            case .array(let own):
                guard value != nil || existing == nil else { continue }
                guard let list = property.unmanagedValue(of: sample).value as? any AnyList else { continue }
                let elements = accepted { () throws(ValueError) in
                    try value.map { value throws(ValueError) in
                        try property.elements(value, layout.schema.name, copies: true)
                    }
                        ?? list.storedElements
                }
                guard let elements else { return false }
                let array = arrayValue(elements, property, layout.schema.columns[own].type)
                content.fields.append(FieldWrite(column: base + own, value: array))
            case .list(let index):
                guard let value = value ?? (existing == nil ? defaultList(property, sample) : nil) else { continue }
                let elementType = elementType(type, prefix, layout.schema.lists[index].name)
                let place = "\(layout.schema.name).\(property.name)"
                guard let items = items(value, property, elementType, place, &addition) else { return false }
                content.lists.append(
                    AddedContent.AddedList(
                        type: elementType, itemLayout: itemLayout(property), items: items, list: nil))
            case .linkingObjects: break
            }
        }
        return true
    }

    /// Reads an embedded object, given as values or as an object. With `.modified`, an existing embedded object is
    /// changed in place.
    private func collect(
        embedded value: Any, _ property: ObjectProperty, _ type: ManagedClass, base: Int, prefix: String,
        existing: ManagedRow?, into content: inout AddedContent, _ addition: inout Addition
    ) -> Bool {
        let layout = embeddedLayout(property)
        var present: EmbeddedPlace?
        if let existing, !existing.value(at: base - 1).isNull {
            present = EmbeddedPlace(host: existing, layout: layout, base: base, prefix: prefix)
        }
        if !Value.isNil(value), let present, addition.policy == .modified {
            guard let given = given(value, layout) else { return false }
            return collect(
                given, layout.type.init(), layout, type, base: base, prefix: prefix, existing: present.host,
                into: &content, &addition)
        }
        present?.remove()
        if Value.isNil(value) {
            return collect(
                part: nil, layout, type, base: base, prefix: prefix, into: &content, &addition)
        }
        guard let object = embedded(value, layout) else { return false }
        return collect(part: object, layout, type, base: base, prefix: prefix, into: &content, &addition)
    }

    /// Creates an unmanaged embedded object from values, or as a copy of an object.
    private func embedded(_ value: Any, _ layout: ObjectClass) -> ObjectBase? {
        let source = (value as? any Persistable)?._tomboloEmbedded ?? value
        if let object = source as? ObjectBase, Swift.type(of: object) != layout.type {
            fail(
                .invalidInput,
                "Expected a \(layout.schema.name), not an object of class \(object.className).")
            return nil
        }
        let object = layout.type.init()
        return accepted { () throws(ValueError) in try object.setAll(source, copies: true) }.map { object }
    }

    /// The result, or nil if a value isn't accepted. The transaction then fails.
    private func accepted<Result>(_ body: () throws(ValueError) -> Result) -> Result? {
        do {
            return try body()
        } catch {
            fail(.invalidInput, error.message)
            return nil
        }
    }

    /// The default elements of a list in a new object.
    private func defaultList(_ property: ObjectProperty, _ sample: ObjectBase) -> (any AnyList)? {
        let list = property.unmanagedValue(of: sample).value as? any AnyList
        return list?.storedElements.isEmpty == false ? list : nil
    }

    private func items(
        _ value: Any, _ property: ObjectProperty, _ elementType: ManagedClass, _ place: String,
        _ addition: inout Addition
    ) -> [ListItem]? {
        guard let given = ObjectProperty.items(value) else {
            failList(value, place)
            return nil
        }
        var items: [ListItem] = []
        for element in given {
            guard let item = item(element, property, elementType, place, &addition) else { return nil }
            items.append(item)
        }
        return items
    }

    private func failList(_ value: Any, _ place: String) {
        fail(.invalidInput, "'\(place)' is a list and cannot hold a \(type(of: value)).")
    }

    private func item(
        _ value: Any, _ property: ObjectProperty, _ elementType: ManagedClass, _ place: String,
        _ addition: inout Addition
    ) -> ListItem? {
        if let target = elementType.linkTargets[ElementColumn.content], elementType.isListOfLinks {
            return convert(object: value, target, place, &addition).map { .link($0, rowid: nil) }
        }
        if elementType.isListOfEmbedded {
            guard let layout = itemLayout(property) else { return nil }
            return embedded(value, layout).map { .embedded($0) }
        }
        let definition = elementType.schema.columns[ElementColumn.content]
        guard let converted = Value(any: value, for: definition.type) else {
            fail(
                .invalidInput,
                "'\(place)' is a list of \(definition.type.name) and cannot hold a \(Swift.type(of: value)).")
            return nil
        }
        return validate(converted, column: ElementColumn.content, of: elementType.index) ? .value(converted) : nil
    }

    /// The given values by property name.
    private func given(_ value: Any, _ layout: ObjectClass) -> [String: Any]? {
        accepted { () throws(ValueError) in
            Dictionary(try layout.given(value).map { ($0.property.name, $0.value) }, uniquingKeysWith: { $1 })
        }
    }

    private func key(
        _ given: [String: Any], _ column: Int, _ sample: Object, _ layout: ObjectClass, _ classIndex: Int,
        _ addition: inout Addition
    ) -> Value? {
        let property = layout.properties[layout.propertyOfColumn[column]]
        guard let value = given[property.name] else {
            let value = property.unmanagedValue(of: sample).value._tomboloValue
            return validate(value, column: column, of: classIndex) ? value : nil
        }
        return convert(value, column, layout, column, classes[classIndex], &addition)
    }

    private func defaultField(
        _ property: ObjectProperty, _ column: Int, _ sample: ObjectBase, _ classIndex: Int
    ) -> FieldWrite? {
        let (held, isDefault) = property.unmanagedValue(of: sample)
        var value = held._tomboloValue
        if let target = linkTarget(of: classIndex, column) {
            value = .null
            if let object = held as? Object {
                guard let row = managed(object, target) else { return nil }
                value = row.key
            }
        }
        guard validate(value, column: column, of: classIndex) else { return nil }
        return FieldWrite(column: column, value: value, isDefault: isDefault)
    }

    /// A column's value, or nil if the given value isn't accepted.
    private func convert(
        _ value: Any, _ column: Int, _ layout: ObjectClass, _ own: Int, _ type: ManagedClass,
        _ addition: inout Addition
    ) -> Value? {
        let definition = layout.schema.columns[own]
        if let target = type.linkTargets[column] {
            if Value.isNil(value) { return .null }
            return convert(object: value, target, "\(layout.schema.name).\(definition.name)", &addition)
        }
        guard let converted = Value(any: value, for: definition.type) else {
            fail(
                .invalidInput,
                "'\(layout.schema.name).\(definition.name)' is of type \(definition.type.name) and cannot hold a "
                    + "\(Swift.type(of: value)).")
            return nil
        }
        if converted.isNull, !definition.isOptional {
            fail(
                .invalidInput,
                "\(layout.schema.name): '\(definition.name)' is required and cannot be nil.")
            return nil
        }
        return validate(converted, column: column, of: type.index) ? converted : nil
    }

    /// The key of a linked object. It's given as a managed object, an object to copy, or the values of an object to
    /// create.
    private func convert(
        object value: Any, _ target: Int, _ place: String, _ addition: inout Addition
    ) -> Value? {
        let targetType = objectClass(target).type
        if let object = value as? Object {
            guard type(of: object) == targetType else {
                fail(.invalidInput, "'\(place)' links to \(targetType) and cannot hold a \(type(of: object)).")
                return nil
            }
            return reference(to: object, target, &addition).key
        }
        guard let targetType = targetType as? Object.Type else { return nil }
        return createOne(targetType, value, &addition)?.key
    }
}
