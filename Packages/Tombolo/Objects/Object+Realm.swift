public import TomboloModel

extension Object {
    private var row: ManagedRow? { accessor as? ManagedRow }

    /// The Realm that manages the object; nil while it is unmanaged.
    public var realm: Realm? { row.map { Realm(core: $0.core) } }

    /// Whether the object was deleted, or its Realm invalidated. Reading a property of it stops the program.
    public var isInvalidated: Bool { row.map { !$0.isValid } ?? false }

    /// Whether two objects are the same object of one Realm.
    public func isSameObject(as other: Object?) -> Bool {
        guard let other, accessor != nil else { return false }
        return self == other
    }

    /// Reads or sets a property by its name. An unknown name stops the program; a value of a wrong type makes the
    /// write transaction fail.
    public subscript(key: String) -> Any? {
        get {
            let held = dynamicValue(property(named: key))
            if held is any AnyList || held as? Object != nil { return held }
            return held._value.isNull ? nil : held
        }
        set { set(newValue ?? Int?.none as Any, property(named: key)) }
    }

    /// An unmanaged object from a dictionary by property names, an array in the order of properties, or another
    /// object. A name or value that does not fit stops the program.
    public convenience init(value: Any) {
        self.init()
        setAll(value)
    }

    private func setAll(_ value: Any) {
        let layout = ObjectClass.of(type(of: self))
        switch value {
        case let dictionary as [String: Any]:
            for (name, item) in dictionary { set(item, property(named: name)) }
        case let array as [Any]:
            if array.count > layout.properties.count {
                programError(
                    "\(className) has \(layout.properties.count) properties; \(array.count) values were given.")
            }
            for (property, item) in zip(layout.properties, array) { set(item, property) }
        case let object as Object:
            for property in ObjectClass.of(type(of: object)).properties {
                guard let own = layout.properties.first(where: { $0.name == property.name }) else { continue }
                set(object.dynamicValue(property), own)
            }
        default:
            programError("\(className) is made from a dictionary, an array or an object, not from \(type(of: value)).")
        }
    }

    private func property(named name: String) -> ObjectProperty {
        let layout = ObjectClass.of(type(of: self))
        if let property = layout.properties.first(where: { $0.name == name }) { return property }
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
            let definition = layout.schema.columns[column]
            if let target = property.valueType._targetClass as? Object.Type {
                let linked = linkedObject(value, target)
                if let row {
                    row.setLinkedObject(linked, at: column)
                } else {
                    _ = property.setUnmanaged(linked.map { .object($0) } ?? .value(.null), of: self)
                }
                return
            }
            guard let stored = Value(any: value, for: definition.type) else {
                programError("'\(className).\(property.name)' cannot hold a \(type(of: value)).")
            }
            if let row {
                row.setValue(stored, at: column)
            } else {
                do {
                    try definition.validate(stored)
                } catch {
                    programError("\(className): \(error.message)")
                }
                _ = property.setUnmanaged(.value(stored), of: self)
            }
        case .list:
            guard let list = dynamicValue(property) as? any AnyList,
                let target = property.valueType._targetClass as? Object.Type
            else { return }
            let items = (value as? any AnyList)?.objects ?? (value as? [Any]) ?? []
            list.replace(with: items.compactMap { linkedObject($0, target).map { .object($0) } })
        case .embedded, .array, .linkingObjects: break
        }
    }

    private func linkedObject(_ value: Any, _ target: Object.Type) -> Object? {
        if let object = value as? Object { return object }
        guard value is [String: Any] || value is [Any] else { return nil }
        let object = target.init()
        object.setAll(value)
        return object
    }
}

/// Lets ``KeyPathIncrementable/increment(_:by:)`` name the class of the object.
public protocol KeyPathIncrementable: Object {}

extension Object: KeyPathIncrementable {}

extension KeyPathIncrementable {
    /// Adds to an integer property. Unlike `x.count += 1`, which is a set, additions made on several devices at the
    /// same time all count.
    public func increment<Number: PersistableInteger>(
        _ keyPath: ReferenceWritableKeyPath<Self, Number>, by amount: Number = 1
    ) {
        guard let row = accessor as? ManagedRow else {
            self[keyPath: keyPath] += amount
            return
        }
        let names = PropertyPath(of: keyPath).names
        guard names.count == 1, let column = row.schema.columnIndex(names[0]) else {
            programError("increment needs a property of \(className) itself, not one behind a link.")
        }
        row.add(Int64(amount), at: column)
    }
}
