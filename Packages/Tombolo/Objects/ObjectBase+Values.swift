public import TomboloModel

extension ObjectBase {
    /// Reads or sets a property by its name. An unknown name stops the program; a value of a wrong type makes the
    /// write transaction fail.
    public subscript(key: String) -> Any? {
        get {
            let held = dynamicValue(property(named: key))
            if case .value(let stored) = held._tomboloStored, stored.isNull, !(held is any AnyList) { return nil }
            return (held as? any OptionalValue)?.unwrapped ?? held
        }
        set { set(newValue ?? Int?.none as Any, property(named: key)) }
    }

    /// The same as the subscript by name.
    public func value(forKey key: String) -> Any? { self[key] }

    /// A property, or one behind links and lists: `"room.name"`; of a list also `"dogs.@count"`, `"dogs.@sum.age"`.
    public func value(forKeyPath keyPath: String) -> Any? {
        let names = keyPath.split(separator: ".", maxSplits: 1).map(String.init)
        guard names.count == 2 else { return self[keyPath] }
        switch self[names[0]] {
        case let object as ObjectBase: return object.value(forKeyPath: names[1])
        case let list as any RealmCollection: return list.value(forKeyPath: names[1])
        case nil: return nil
        case let value?: programError("'\(names[0])' is a \(type(of: value)), so that '\(keyPath)' leads nowhere.")
        }
    }

    /// Sets a property, or one behind links: `"room.name"`. No effect where a link on the way is nil.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let end = keyPath.lastIndex(of: ".") else { return self[keyPath] = value }
        let holder = self.value(forKeyPath: String(keyPath[..<end])) as? ObjectBase
        holder?[String(keyPath[keyPath.index(after: end)...])] = value
    }

    /// The same as the subscript by name.
    public func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    /// An unmanaged object from a dictionary by property names, an array in the order of properties, or another
    /// object. A name or value that does not fit stops the program.
    public convenience init(value: Any) {
        self.init()
        setAll(value)
    }

    /// An unmanaged object of the same class and with the same values.
    private func copied() -> ObjectBase {
        let copy = type(of: self).init()
        copy.setAll(self)
        return copy
    }

    func setAll(_ value: Any) {
        let layout = ObjectClass.of(type(of: self))
        switch value {
        case let dictionary as [String: Any]:
            // What the class does not have is left out, as in Realm: JSON may say more.
            for (name, item) in dictionary { if let property = layout.property(named: name) { set(item, property) } }
        case let array as [Any]:
            if array.count > layout.properties.count {
                programError(
                    "\(className) has \(layout.properties.count) properties; \(array.count) values were given.")
            }
            for (property, item) in zip(layout.properties, array) { set(item, property) }
        case let object as ObjectBase:
            for property in ObjectClass.of(type(of: object)).properties {
                if let own = layout.property(named: property.name) { set(object.dynamicValue(property), own) }
            }
        default:
            programError("\(className) is made from a dictionary, an array or an object, not from \(type(of: value)).")
        }
    }

    private func property(named name: String) -> ObjectProperty {
        let layout = ObjectClass.of(type(of: self))
        if let property = layout.property(named: name) { return property }
        let hint = name.nearest(in: layout.properties.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
        programError("\(className) has no property '\(name)'\(hint)")
    }

    func dynamicValue(_ property: ObjectProperty) -> any Persistable {
        guard let accessor else { return property.unmanagedValue(of: self).value }
        switch property.slot {
        case .column(let position), .embedded(let position): return property.valueType._read(accessor, position)
        case .list, .array, .linkingObjects:
            let position = ObjectClass.of(type(of: self)).position(ofProperty: property.name) ?? 0
            return property.valueType._read(accessor, position)
        }
    }

    private func set(_ value: Any, _ property: ObjectProperty) {
        let layout = ObjectClass.of(type(of: self))
        switch property.slot {
        case .column(let column):
            guard let target = property.valueType._targetClass else {
                set(scalar: value, property, layout.schema.columns[column], column)
                return
            }
            let linked = object(value, target, property)
            if let accessor {
                accessor.setLinkedObject(linked as? Object, at: column)
            } else {
                setUnmanaged(linked.map { .object($0) } ?? .value(.null), value, property)
            }
        case .embedded(let column):
            let target = property.valueType._targetClass
            var part = (value as? any Persistable)?._tomboloEmbedded ?? target.flatMap { object(value, $0, property) }
            if let managed = part, managed.accessor != nil, accessor == nil { part = managed.copied() }
            if let accessor {
                accessor.setEmbeddedObject(part as? EmbeddedObject, at: column)
            } else {
                setUnmanaged(part.map { .object($0) } ?? .value(.null), value, property)
            }
        case .list, .array:
            guard let list = dynamicValue(property) as? any AnyList else { return }
            list.replace(with: elements(value, property))
        case .linkingObjects: break
        }
    }

    private func set(scalar value: Any, _ property: ObjectProperty, _ definition: Column, _ column: Int) {
        guard let stored = Value(any: value, for: definition.type) else {
            programError("'\(className).\(property.name)' cannot hold a \(type(of: value)).")
        }
        if let accessor {
            accessor.setValue(stored, at: column)
            return
        }
        do {
            try definition.validate(stored)
        } catch {
            programError("\(className): \(error.message)")
        }
        setUnmanaged(.value(stored), value, property)
    }

    private func setUnmanaged(_ stored: Stored, _ value: Any, _ property: ObjectProperty) {
        if !property.setUnmanaged(stored, of: self) {
            programError("'\(className).\(property.name)' cannot hold a \(type(of: value)).")
        }
    }

    /// A linked or embedded object, or one made of the given values.
    private func object(_ value: Any, _ target: ObjectBase.Type, _ property: ObjectProperty) -> ObjectBase? {
        if let object = value as? ObjectBase { return object }
        guard value is [String: Any] || value is [Any] else {
            if Value(any: value, for: .bool)?.isNull == true
                || (value as? any Persistable)?._tomboloValue.isNull == true
            {
                return nil
            }
            programError("'\(className).\(property.name)' holds a \(target) and cannot hold a \(type(of: value)).")
        }
        let object = target.init()
        object.setAll(value)
        return object
    }

    private func elements(_ value: Any, _ property: ObjectProperty) -> [Stored] {
        if let list = value as? any AnyList {
            // Embedded objects have one parent: those of another one are copied.
            return list.storedElements.map {
                if case .object(let object as EmbeddedObject) = $0, object.accessor != nil {
                    return .object(object.copied())
                }
                return $0
            }
        }
        var given = value as? [Any]
        if let collection = value as? any RealmCollection { given = collection.map { $0 as Any } }
        guard let array = given else {
            if Value(any: value, for: .bool)?.isNull == true { return [] }
            programError("'\(className).\(property.name)' is a list and cannot hold a \(type(of: value)).")
        }
        return array.map { item in
            if item is [String: Any] || item is [Any], let target = property.valueType._targetClass,
                let object = object(item, target, property)
            {
                return .object(object)
            }
            guard let persistable = item as? any Persistable else {
                programError("'\(className).\(property.name)' cannot hold a \(type(of: item)).")
            }
            return persistable._tomboloStored
        }
    }
}

/// Optionals of any type.
protocol OptionalValue {
    var unwrapped: Any? { get }
}

extension Optional: OptionalValue {
    var unwrapped: Any? { self }
}
