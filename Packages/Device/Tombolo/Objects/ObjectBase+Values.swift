internal import Foundation
public import TomboloModel

extension ObjectBase {
    /// Reads or sets a property by name. Enumerations are read as raw values and projections as stored values; both
    /// forms can be set. An unknown name stops the program. A value of the wrong type stops the program if the object
    /// is unmanaged, and fails the write transaction if it's managed.
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

    /// Same as the subscript.
    public func value(forKey key: String) -> Any? { self[key] }

    /// Reads a property, possibly through links and lists: `"room.name"`. Lists also support `"dogs.@count"` and
    /// `"dogs.@sum.age"`.
    public func value(forKeyPath keyPath: String) -> Any? {
        let names = keyPath.split(separator: ".", maxSplits: 1).map(String.init)
        guard names.count == 2 else { return self[keyPath] }
        switch self[names[0]] {
        case let object as ObjectBase: return object.value(forKeyPath: names[1])
        case let list as any RealmCollection: return list.value(forKeyPath: names[1])
        case nil: return nil
        case let value?: programError("'\(names[0])' is a \(type(of: value)), so '\(keyPath)' leads nowhere.")
        }
    }

    /// Sets a property, possibly through links: `"room.name"`. Has no effect if a link on the path is nil.
    public func setValue(_ value: Any?, forKeyPath keyPath: String) {
        guard let end = keyPath.lastIndex(of: ".") else { return self[keyPath] = value }
        let holder = self.value(forKeyPath: String(keyPath[..<end])) as? ObjectBase
        holder?[String(keyPath[keyPath.index(after: end)...])] = value
    }

    /// Same as the subscript.
    public func setValue(_ value: Any?, forKey key: String) { self[key] = value }

    /// Creates an unmanaged object from a dictionary by property name, an array in property order, or another object,
    /// which is copied. Stops the program if a value doesn't fit.
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
