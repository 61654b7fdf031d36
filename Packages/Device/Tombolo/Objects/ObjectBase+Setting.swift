internal import Foundation
internal import TomboloModel

/// Sets properties to values without static types: by name, or from a dictionary, array or object.
extension ObjectBase {
    /// - Parameter copies: whether to copy given embedded objects instead of making them part of this object.
    /// - Throws: ``ValueError`` for a value that doesn't fit. The values before it stay set.
    func setAll(_ value: Any, copies: Bool) throws(ValueError) {
        for (property, item) in try ObjectClass.of(type(of: self)).given(value) {
            try set(item, property, copies: copies)
        }
    }

    func set(_ value: Any, _ property: ObjectProperty, copies: Bool = false) throws(ValueError) {
        switch property.slot {
        case .column(let column):
            let definition = ObjectClass.of(type(of: self)).schema.columns[column]
            guard property.valueType._targetClass != nil else {
                return try set(scalar: value, property, definition, column)
            }
            let linked = try property.object(value, className, copies: copies)
            if let accessor {
                accessor.setLinkedObject(linked as? Object, at: column)
            } else {
                try setUnmanaged(linked.map { .object($0) } ?? .value(.null), value, property)
            }
        case .embedded(let column):
            let part = try property.object(value, className, copies: copies)
            if let accessor {
                accessor.setEmbeddedObject(part as? EmbeddedObject, at: column)
            } else {
                try setUnmanaged(part.map { .object($0) } ?? .value(.null), value, property)
            }
        case .list, .array:
            guard let list = held(property) as? any AnyList else { return }
            list.replace(with: try property.elements(value, className, copies: copies))
        case .linkingObjects:
            throw ValueError(
                "'\(className).\(property.name)' is computed from the objects that link here and can't be set.")
        }
    }

    private func set(
        scalar value: Any, _ property: ObjectProperty, _ definition: Column, _ column: Int
    ) throws(ValueError) {
        guard let stored = Value(any: value, for: definition.type) else {
            throw ValueError("'\(className).\(property.name)' cannot hold a \(type(of: value)).")
        }
        if let accessor {
            accessor.setValue(stored, at: column)
            return
        }
        do {
            try definition.validate(stored)
        } catch {
            throw ValueError("\(className): \(error.message)")
        }
        try setUnmanaged(.value(stored), value, property)
    }

    private func setUnmanaged(_ stored: Stored, _ value: Any, _ property: ObjectProperty) throws(ValueError) {
        if !property.setUnmanaged(stored, of: self) {
            throw ValueError("'\(className).\(property.name)' cannot hold a \(type(of: value)).")
        }
    }

    /// An unmanaged object of the same class with the same values.
    fileprivate func copied() throws(ValueError) -> ObjectBase {
        let copy = type(of: self).init()
        try copy.setAll(self, copies: true)
        return copy
    }
}

extension ObjectClass {
    /// The given values by property. The source is a dictionary by name, an array in property order, or another object,
    /// whose properties with matching names are used.
    func given(_ value: Any) throws(ValueError) -> [(property: ObjectProperty, value: Any)] {
        switch value {
        case let dictionary as [String: Any]:
            // As in Realm, unknown names are ignored, since JSON may contain more.
            return properties.compactMap { property in dictionary[property.name].map { (property, $0) } }
        case let object as ObjectBase:
            return ObjectClass.of(Swift.type(of: object)).properties.compactMap { other in
                guard !other.isComputed, let property = property(named: other.name) else { return nil }
                return (property, object.held(other))
            }
        case let array as [Any]:
            let stored = properties.filter { !$0.isComputed }
            guard array.count <= stored.count else {
                throw ValueError("\(schema.name) has \(stored.count) properties; \(array.count) values were given.")
            }
            return Array(zip(stored, array))
        default:
            throw ValueError(
                "Expected a dictionary, an array or an object for \(schema.name), not a \(Swift.type(of: value)).")
        }
    }
}

extension ObjectProperty {
    /// A linked or embedded object, either the given one or a new one made from the given values; nil for nil. A
    /// managed embedded object already has a parent, so it's always copied.
    func object(_ value: Any, _ className: String, copies: Bool) throws(ValueError) -> ObjectBase? {
        if Value.isNil(value) { return nil }
        guard let target = valueType._targetClass else { return nil }
        if let object = value as? ObjectBase ?? (value as? any Persistable)?._tomboloEmbedded {
            guard Swift.type(of: object) == target else {
                throw ValueError("'\(className).\(name)' holds a \(target) and cannot hold a \(object.className).")
            }
            return object is EmbeddedObject && (copies || object.accessor != nil) ? try object.copied() : object
        }
        guard value is [String: Any] || value is [Any] else {
            throw ValueError(
                "'\(className).\(name)' holds a \(target) and cannot hold a \(Swift.type(of: value)).")
        }
        let object = target.init()
        try object.setAll(value, copies: copies)
        return object
    }

    /// The elements given for a list.
    func elements(_ value: Any, _ className: String, copies: Bool) throws(ValueError) -> [Stored] {
        guard let items = Self.items(value) else {
            throw ValueError("'\(className).\(name)' is a list and cannot hold a \(type(of: value)).")
        }
        var elements: [Stored] = []
        for item in items { elements.append(try element(item, className, copies: copies)) }
        return elements
    }

    private func element(_ item: Any, _ className: String, copies: Bool) throws(ValueError) -> Stored {
        guard valueType._targetClass == nil else {
            if let object = try object(item, className, copies: copies) { return .object(object) }
            throw ValueError("'\(className).\(name)' is a list of objects and cannot hold nil.")
        }
        guard case .list(let type, let isOptional) = valueType._propertyType, let value = Value(any: item, for: type)
        else { throw ValueError("'\(className).\(name)' cannot hold a \(Swift.type(of: item)).") }
        try Column(name: "\(className).\(name)", type: type, isOptional: isOptional).validate(value)
        return .value(value)
    }

    /// The items given for a list: an empty array for nil, or nil if the value isn't a list.
    static func items(_ value: Any) -> [Any]? {
        if Value.isNil(value) { return [] }
        return switch value {
        case let array as [Any]: array
        // These are sequences too, but not lists.
        case is String, is Data, is [String: Any]: nil
        case let sequence as any Sequence: sequence.map { $0 as Any }
        default: nil
        }
    }
}
