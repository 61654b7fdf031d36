public import TomboloModel

/// The name of the property that a key path leads to, with dots between links. For methods that take names.
///
///     people.sorted(byKeyPath: _name(for: \Person.age))
public func _name<Root: ObjectBase>(for keyPath: PartialKeyPath<Root>) -> String {
    PropertyPath(of: keyPath).names.joined(separator: ".")
}
