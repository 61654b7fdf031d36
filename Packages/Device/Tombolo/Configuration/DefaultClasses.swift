internal import TomboloModel

/// The program's model classes, for configurations that don't list any.
enum DefaultClasses {
    /// Found once. Classes of libraries that are loaded later must be listed explicitly.
    private static let found: Result<[Object.Type], Realm.Error> = Result { () throws(Realm.Error) in try find() }

    /// - Throws: ``Realm/Error`` with the code `invalidInput` if the program's classes can't be found, there are none,
    ///   or two have the same name.
    static func types() throws(Realm.Error) -> [Object.Type] { try found.get() }

    private static func find() throws(Realm.Error) -> [Object.Type] {
        guard ClassDiscovery.isAvailable else {
            throw Realm.Error(
                .invalidInput,
                "Tombolo can't find a program's model classes on this platform: list them in objectTypes of the "
                    + "Realm's configuration.")
        }
        let types = ClassDiscovery.subclasses(of: Object.self).compactMap { $0 as? Object.Type }
            .filter { $0.shouldIncludeInDefaultSchema() }
        guard !types.isEmpty else {
            throw Realm.Error(
                .invalidInput,
                "The Realm has no classes: declare a subclass of Object, or list the classes in objectTypes of its "
                    + "configuration.")
        }
        try requireUnique(types)
        return types
    }

    /// Class names must be unique, because a file identifies classes by name only.
    static func requireUnique(_ types: [Object.Type]) throws(Realm.Error) {
        for (name, group) in Dictionary(grouping: types, by: { String(describing: $0) }).sorted(by: { $0.key < $1.key })
        where group.count > 1 {
            let names = group.map { String(reflecting: $0) }.sorted().joined(separator: "' and '")
            throw Realm.Error(
                .invalidInput,
                "'\(names)' are both named '\(name)'. Rename one, have one return false from "
                    + "shouldIncludeInDefaultSchema(), or list the classes in objectTypes of the configuration.")
        }
    }
}

extension Realm.Configuration {
    /// The classes of the Realm, including those they link to.
    func modelClasses() throws -> [Object.Type] {
        let given = try objectTypes?.compactMap { $0 as? Object.Type } ?? DefaultClasses.types()
        return Schema.modelClasses(reachableFrom: given)
    }
}
