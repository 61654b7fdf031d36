internal import Foundation
public import TomboloModel

extension ObjectBase {
    /// Reads or sets a property by its name. Enumerations are read as their raw values and projections as what is
    /// stored, and set as these or themselves. An unknown name stops the program, as does a value of a wrong type for an
    /// unmanaged object; for a managed one it makes the write transaction fail.
    public subscript(key: String) -> Any? {
        get {
            let property = property(named: key)
            if let accessor, case .embedded(let position) = property.slot {
                return accessor.embeddedObject(at: position)
            }
            return held(property)._namedValue
        }
        set {
            let property = property(named: key)
            do {
                try set(newValue ?? NSNull(), property)
            } catch {
                guard let core else { programError(error.message) }
                core.requireWrite()
                core.fail(.invalidInput, error.message)
            }
        }
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
        do {
            try setAll(value, copies: value is ObjectBase)
        } catch {
            programError(error.message)
        }
    }

    private func property(named name: String) -> ObjectProperty {
        let layout = ObjectClass.of(type(of: self))
        if let property = layout.property(named: name) { return property }
        let hint = name.nearest(in: layout.properties.map(\.name)).map { "; did you mean '\($0)'?" } ?? "."
        programError("\(className) has no property '\(name)'\(hint)")
    }
}
