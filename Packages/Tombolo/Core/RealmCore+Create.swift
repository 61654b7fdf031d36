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
        _ type: Object.Type, _ value: Any, _ policy: Realm.UpdatePolicy, _ copies: inout ForeignCopies
    ) -> ManagedRow? {
        let classIndex = classIndex(of: type)
        let layout = objectClass(classIndex)
        guard let given = given(value, layout) else { return nil }
        let sample = type.init()
        guard let key = key(given, sample, layout, classIndex, &copies) else { return nil }
        let reference = ObjectReference(classIndex: classIndex, key: key)
        let existing = layout.schema.primaryKeyIndex == nil ? nil : find(reference)
        if existing != nil, policy == .error {
            failDuplicate(reference)
            return nil
        }
        var fields: [FieldWrite] = []
        var lists: [(index: Int, targets: [Value])] = []
        for property in layout.properties {
            let value = given[property.name]
            switch property.slot {
            case .column(let column):
                if column == layout.schema.primaryKeyIndex { continue }
                if let value {
                    guard let converted = convert(value, column, layout, classIndex, policy, &copies) else {
                        return nil
                    }
                    fields.append(FieldWrite(column: column, value: converted))
                } else if existing == nil {
                    guard let field = defaultField(property, column, sample, classIndex) else { return nil }
                    fields.append(field)
                }
            case .list(let index):
                guard let value else { continue }
                guard let targets = convert(list: value, property, layout, policy, &copies) else { return nil }
                lists.append((index, targets))
            case .embedded, .array, .linkingObjects: break
            }
        }
        guard let existing else {
            let row = insert(reference, fields)
            for (index, targets) in lists { fill(index, of: reference, with: targets) }
            return row
        }
        update(existing, fields, policy)
        for (index, targets) in lists {
            (existing.listStorage(at: index) as? ManagedList)?.assign(targets, all: policy == .all)
        }
        return existing
    }

    /// By property name.
    private func given(_ value: Any, _ layout: ObjectClass) -> [String: Any]? {
        switch value {
        case let dictionary as [String: Any]:
            let names = layout.properties.map(\.name)
            if let unknown = dictionary.keys.sorted().first(where: { !names.contains($0) }) {
                let hint = unknown.nearest(in: names).map { "; did you mean '\($0)'?" } ?? "."
                fail(.invalidInput, "\(layout.schema.name) has no property '\(unknown)'\(hint)")
                return nil
            }
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
        case let object as Object:
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
        _ given: [String: Any], _ sample: Object, _ layout: ObjectClass, _ classIndex: Int,
        _ copies: inout ForeignCopies
    ) -> Value? {
        guard let column = layout.schema.primaryKeyIndex else { return .int(nextRowID(classIndex)) }
        let property = layout.properties[layout.propertyOfColumn[column]]
        guard let value = given[property.name] else {
            let value = property.unmanagedValue(of: sample).value._value
            return validate(value, column: column, of: classIndex) ? value : nil
        }
        return convert(value, column, layout, classIndex, .error, &copies)
    }

    private func defaultField(
        _ property: ObjectProperty, _ column: Int, _ sample: Object, _ classIndex: Int
    ) -> FieldWrite? {
        let (held, isDefault) = property.unmanagedValue(of: sample)
        var value = held._value
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
        _ value: Any, _ column: Int, _ layout: ObjectClass, _ classIndex: Int, _ policy: Realm.UpdatePolicy,
        _ copies: inout ForeignCopies
    ) -> Value? {
        let definition = layout.schema.columns[column]
        if let target = linkTarget(of: classIndex, column) {
            if Self.isNil(value) { return .null }
            return convert(object: value, target, "\(layout.schema.name).\(definition.name)", policy, &copies)
        }
        guard let converted = Value(any: value, for: definition.type) else {
            fail(
                .invalidInput,
                "'\(layout.schema.name).\(definition.name)' is of type \(definition.type.name) and cannot hold a "
                    + "\(type(of: value)).")
            return nil
        }
        return validate(converted, column: column, of: classIndex) ? converted : nil
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
            return object.accessor == nil ? add(object, policy)?.key : managed(object)?.key
        }
        return (targetType as? Object.Type).flatMap { createOne($0, value, policy, &copies)?.key }
    }

    private func convert(
        list value: Any, _ property: ObjectProperty, _ layout: ObjectClass, _ policy: Realm.UpdatePolicy,
        _ copies: inout ForeignCopies
    ) -> [Value]? {
        let place = "\(layout.schema.name).\(property.name)"
        guard case .list(let index) = property.slot,
            let target = layout.schema.lists[index].target.flatMap({ schema.index(of: $0) })
        else { return nil }
        if Self.isNil(value) { return [] }
        let items: [Any]
        switch value {
        case let list as any AnyList: items = list.objects
        case let array as [Any]: items = array
        default:
            fail(.invalidInput, "'\(place)' is a list and cannot hold a \(type(of: value)).")
            return nil
        }
        var keys: [Value] = []
        for item in items {
            guard let key = convert(object: item, target, place, policy, &copies) else { return nil }
            keys.append(key)
        }
        return keys
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
        guard let persistable = value as? any Persistable else { return nil }
        switch (persistable._value, type) {
        case (.int(let number), .double), (.int(let number), .float): self = .double(Double(number))
        case (.int(let number), .decimal128): self = .decimal(Decimal128(number))
        case (.null, _): self = .null
        case (let stored, _): self = stored
        }
    }
}
