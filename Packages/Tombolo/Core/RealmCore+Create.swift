internal import Foundation
internal import TomboloChangesets
internal import TomboloModel

extension RealmCore {
    /// Makes or updates an object from a dictionary by property names, an array in the order of properties, or
    /// another object, which is copied with everything that its links and lists lead to. Nil where that fails; the
    /// transaction fails then.
    func create(_ type: Object.Type, _ value: Any, _ policy: Realm.UpdatePolicy) -> ManagedRow? {
        requireWrite()
        var copies = ForeignCopies()
        if let object = value as? Object, Swift.type(of: object) == type, let row = foreignRow(of: object) {
            _ = copies.note(row)
        }
        let result = createOne(type, value, policy, &copies)
        // Not by recursion: chains of links may be long, and may lead in circles.
        while let next = copies.waiting.popLast() {
            guard createOne(Swift.type(of: next), next, policy, &copies) != nil else { return nil }
        }
        return result
    }

    /// The row of an object of another Realm; nil for others.
    private func foreignRow(of object: Object) -> ManagedRow? {
        guard let row = object.accessor as? ManagedRow, row.core !== self else { return nil }
        return row
    }

    private func createOne(
        _ objectType: Object.Type, _ value: Any, _ policy: Realm.UpdatePolicy, _ copies: inout ForeignCopies
    ) -> ManagedRow? {
        let type = classes[classIndex(of: objectType)]
        let layout = objectClass(type.index)
        guard let given = given(value, layout) else { return nil }
        let sample = objectType.init()
        var key: Value?
        var existing: ManagedRow?
        if let column = layout.schema.primaryKeyIndex {
            guard let value = self.key(given, column, sample, layout, type.index, &copies) else { return nil }
            key = value
            let reference = ObjectReference(classIndex: type.index, key: value)
            existing = find(reference)
            if existing != nil, policy == .error {
                failDuplicate(reference)
                return nil
            }
        }
        var addition = Addition(policy: policy)
        var content = AddedContent()
        guard
            collect(
                given, sample, layout, type, base: 0, prefix: "", existing: existing, into: &content, &addition, &copies
            )
        else { return nil }
        let row: ManagedRow
        if let existing {
            row = existing
            write(content, in: row, &addition)
        } else if let made = insert(type, key: key, content.fields) {
            row = made
            finish(content, in: row, &addition)
        } else {
            failDuplicate(ObjectReference(classIndex: type.index, key: key ?? .null))
            return nil
        }
        addWaiting(&addition)
        return row
    }

    /// Reads what is given, as columns from `base` on: what is missing gets its default in a new object, and stays as it
    /// is in an existing one.
    private func collect(
        _ given: [String: Any], _ sample: ObjectBase, _ layout: ObjectClass, _ type: ManagedClass, base: Int,
        prefix: String, existing: ManagedRow?, into content: inout AddedContent, _ addition: inout Addition,
        _ copies: inout ForeignCopies
    ) -> Bool {
        for property in layout.properties {
            let value = given[property.name]
            switch property.slot {
            case .column(let own):
                let column = base + own
                if column == type.schema.primaryKeyIndex { continue }
                if let value {
                    guard let converted = convert(value, column, layout, own, type, addition.policy, &copies) else {
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
                        existing: existing, into: &content, &addition, &copies)
                else { return false }
            case .array(let own):
                guard value != nil || existing == nil else { continue }
                guard let list = property.unmanagedValue(of: sample).value as? any AnyList else { continue }
                let elements = value.map { stored($0, property) } ?? list.storedElements
                guard let elements else {
                    failList(value, "\(layout.schema.name).\(property.name)")
                    return false
                }
                let array = arrayValue(elements, property, layout.schema.columns[own].type)
                content.fields.append(FieldWrite(column: base + own, value: array))
            case .list(let index):
                guard let value else { continue }
                let elementType = elementType(type, prefix, layout.schema.lists[index].name)
                let place = "\(layout.schema.name).\(property.name)"
                guard let items = items(value, property, elementType, place, &addition, &copies) else { return false }
                content.lists.append(
                    AddedContent.AddedList(
                        type: elementType, itemLayout: itemLayout(property), items: items, list: nil))
            case .linkingObjects: break
            }
        }
        return true
    }

    /// An embedded object given as values or as an object. With `.modified` one that is there is changed in place.
    private func collect(
        embedded value: Any, _ property: ObjectProperty, _ type: ManagedClass, base: Int, prefix: String,
        existing: ManagedRow?, into content: inout AddedContent, _ addition: inout Addition,
        _ copies: inout ForeignCopies
    ) -> Bool {
        let layout = embeddedLayout(property)
        var present: EmbeddedPlace?
        if let existing, !existing.value(at: base - 1).isNull {
            present = EmbeddedPlace(host: existing, layout: layout, base: base, prefix: prefix)
        }
        if !Self.isNil(value), let present, addition.policy == .modified {
            guard let given = given(value, layout) else { return false }
            return collect(
                given, layout.type.init(), layout, type, base: base, prefix: prefix, existing: present.host,
                into: &content, &addition, &copies)
        }
        present?.remove()
        if Self.isNil(value) {
            return collect(
                part: nil, layout, type, base: base, prefix: prefix, into: &content, &addition)
        }
        guard let object = embedded(value, layout) else { return false }
        return collect(part: object, layout, type, base: base, prefix: prefix, into: &content, &addition)
    }

    /// An unmanaged embedded object from an object, which is copied where it is managed, or from values.
    private func embedded(_ value: Any, _ layout: ObjectClass) -> ObjectBase? {
        if let object = value as? ObjectBase {
            guard Swift.type(of: object) == layout.type else {
                fail(
                    .invalidInput,
                    "An object of class \(object.className) was given in place of a \(layout.schema.name).")
                return nil
            }
            if object.accessor == nil { return object }
        } else if let projection = (value as? any Persistable)?._tomboloEmbedded {
            return projection
        }
        guard given(value, layout) != nil else { return nil }
        let object = layout.type.init()
        object.setAll(value)
        return object
    }

    /// The elements of a list in a column; nil for what is no list of them.
    private func stored(_ value: Any, _ property: ObjectProperty) -> [Stored]? {
        if Self.isNil(value) { return [] }
        if let list = value as? any AnyList { return list.storedElements }
        guard let array = value as? [Any] else { return nil }
        var elements: [Stored] = []
        for item in array {
            guard let persistable = item as? any Persistable else { return nil }
            elements.append(persistable._tomboloStored)
        }
        return elements
    }

    private func items(
        _ value: Any, _ property: ObjectProperty, _ elementType: ManagedClass, _ place: String,
        _ addition: inout Addition, _ copies: inout ForeignCopies
    ) -> [ListItem]? {
        if Self.isNil(value) { return [] }
        let given: [Any]
        switch value {
        case let list as any AnyList:
            given = list.storedElements.map {
                switch $0 {
                case .value(let value): value
                case .object(let object): object
                }
            }
        case let array as [Any]: given = array
        case let collection as any RealmCollection: given = collection.map { $0 as Any }
        default:
            failList(value, place)
            return nil
        }
        var items: [ListItem] = []
        for element in given {
            guard let item = item(element, property, elementType, place, &addition, &copies) else { return nil }
            items.append(item)
        }
        return items
    }

    private func failList(_ value: Any?, _ place: String) {
        fail(.invalidInput, "'\(place)' is a list and cannot hold a \(value.map { "\(type(of: $0))" } ?? "nil").")
    }

    private func item(
        _ value: Any, _ property: ObjectProperty, _ elementType: ManagedClass, _ place: String,
        _ addition: inout Addition, _ copies: inout ForeignCopies
    ) -> ListItem? {
        if let target = elementType.linkTargets[ElementColumn.content], elementType.isListOfLinks {
            return convert(object: value, target, place, addition.policy, &copies).map { .link($0, rowid: nil) }
        }
        if elementType.isListOfEmbedded {
            guard let layout = itemLayout(property) else { return nil }
            return embedded(value, layout).map { .embedded($0) }
        }
        let definition = elementType.schema.columns[ElementColumn.content]
        guard let converted = (value as? Value) ?? Value(any: value, for: definition.type) else {
            fail(
                .invalidInput,
                "'\(place)' is a list of \(definition.type.name) and cannot hold a \(Swift.type(of: value)).")
            return nil
        }
        return validate(converted, column: ElementColumn.content, of: elementType.index) ? .value(converted) : nil
    }

    /// By property name.
    private func given(_ value: Any, _ layout: ObjectClass) -> [String: Any]? {
        switch value {
        case let dictionary as [String: Any]:
            // What the class does not have is left out, as in Realm: JSON may say more.
            return dictionary
        case let array as [Any]:
            guard array.count <= layout.properties.count else {
                fail(
                    .invalidInput,
                    "\(layout.schema.name) has \(layout.properties.count) properties; \(array.count) values were given."
                )
                return nil
            }
            return Dictionary(
                zip(layout.properties.map(\.name), array), uniquingKeysWith: { first, _ in first })
        case let object as ObjectBase:
            let other = ObjectClass.of(type(of: object))
            var result: [String: Any] = [:]
            for property in other.properties where layout.properties.contains(where: { $0.name == property.name }) {
                result[property.name] = object.dynamicValue(property)
            }
            return result
        default:
            fail(
                .invalidInput,
                "\(layout.schema.name) is created from a dictionary, an array or an object, not from a "
                    + "\(type(of: value)).")
            return nil
        }
    }

    private func key(
        _ given: [String: Any], _ column: Int, _ sample: Object, _ layout: ObjectClass, _ classIndex: Int,
        _ copies: inout ForeignCopies
    ) -> Value? {
        let property = layout.properties[layout.propertyOfColumn[column]]
        guard let value = given[property.name] else {
            let value = property.unmanagedValue(of: sample).value._tomboloValue
            return validate(value, column: column, of: classIndex) ? value : nil
        }
        return convert(value, column, layout, column, classes[classIndex], .error, &copies)
    }

    private func defaultField(
        _ property: ObjectProperty, _ column: Int, _ sample: ObjectBase, _ classIndex: Int
    ) -> FieldWrite? {
        let (held, isDefault) = property.unmanagedValue(of: sample)
        var value = held._tomboloValue
        if linkTarget(of: classIndex, column) != nil {
            value = .null
            if let object = held as? Object {
                guard let row = managed(object) else { return nil }
                value = row.key
            }
        }
        guard validate(value, column: column, of: classIndex) else { return nil }
        return FieldWrite(column: column, value: value, isDefault: isDefault)
    }

    /// A value of a column; nil where it is not accepted.
    private func convert(
        _ value: Any, _ column: Int, _ layout: ObjectClass, _ own: Int, _ type: ManagedClass,
        _ policy: Realm.UpdatePolicy, _ copies: inout ForeignCopies
    ) -> Value? {
        let definition = layout.schema.columns[own]
        if let target = type.linkTargets[column] {
            if Self.isNil(value) { return .null }
            return convert(object: value, target, "\(layout.schema.name).\(definition.name)", policy, &copies)
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

    /// The key of a linked object: a managed or unmanaged one, or the values of one to create.
    private func convert(
        object value: Any, _ target: Int, _ place: String, _ policy: Realm.UpdatePolicy,
        _ copies: inout ForeignCopies
    ) -> Value? {
        let targetType = objectClass(target).type
        if let object = value as? Object {
            guard type(of: object) == targetType else {
                fail(.invalidInput, "'\(place)' links to \(targetType) and cannot hold a \(type(of: object)).")
                return nil
            }
            // An object of another Realm is copied, under its key and once.
            if let row = foreignRow(of: object) {
                if copies.note(row) { copies.waiting.append(object) }
                return row.key
            }
            guard object.accessor == nil else { return managed(object)?.key }
            // Without a key there is nothing to update.
            return add(object, classes[target].schema.primaryKey == nil ? .error : policy)?.key
        }
        guard let targetType = targetType as? Object.Type else { return nil }
        return createOne(targetType, value, policy, &copies)?.key
    }

    private static func isNil(_ value: Any) -> Bool {
        // A nil inside `Any` still knows that it is an Optional; casting to its wrapped type unwraps it.
        value is NSNull || (value as? any OptionalNil)?.isNone == true
    }
}

/// Optionals of any type.
private protocol OptionalNil {
    var isNone: Bool { get }
}

extension Optional: OptionalNil {
    fileprivate var isNone: Bool { if case .none = self { true } else { false } }
}

extension Value {
    /// A value given without its static type; nil where it does not fit.
    init?(any value: Any, for type: PropertyType) {
        if value is NSNull {
            self = .null
            return
        }
        guard let persistable = value as? any Persistable else {
            // As JSONSerialization makes them.
            guard let number = value as? NSNumber, let given = Value(number, for: type) else { return nil }
            self = given
            return
        }
        switch (persistable._tomboloValue, type) {
        case (.int(let number), .bool) where number == 0 || number == 1: self = .bool(number == 1)
        case (.int(let number), .double), (.int(let number), .float): self = .double(Double(number))
        case (.int(let number), .decimal128): self = .decimal(Decimal128(number))
        case (.null, _): self = .null
        case (let stored, _): self = stored
        }
    }

    /// Nil where the number does not fit exactly.
    private init?(_ number: NSNumber, for type: PropertyType) {
        switch type {
        case .bool:
            guard number.doubleValue == 0 || number.doubleValue == 1 else { return nil }
            self = .bool(number.boolValue)
        case .int:
            guard let integer = Int64(exactly: number) else { return nil }
            self = .int(integer)
        case .float, .double: self = .double(number.doubleValue)
        case .decimal128: self = .decimal(Decimal128(number: number))
        default: return nil
        }
    }
}
