/// Merges a document over the one that a server has.
struct ModelMerge {
    private let new: ModelDocument
    private let old: ModelDocument
    private let isAdditive: Bool
    /// By the names in the old document.
    private let kept: ModelAdditions
    private var problems: [ModelDocumentError.Problem] = []
    /// The name of each class in the result, by its name in the new and in the old document.
    private var newNames: [String: String] = [:]
    private var oldNames: [String: String] = [:]
    /// The name of each property in the result, by old class and old property.
    private var oldProperties: [String: [String: String]] = [:]

    init(new: ModelDocument, old: ModelDocument, isAdditive: Bool, kept: ModelAdditions) {
        self.new = new
        self.old = old
        self.isAdditive = isAdditive
        self.kept = kept
    }

    mutating func run() throws(ModelDocumentError) -> ModelDocument {
        let pairs = match(new.classes.map(Name.init), old.classes.map(Name.init), place: nil)
        let classNames = pairs.map { name($0, new.classes.map(Name.init), old.classes.map(Name.init)) }
        for (pair, name) in zip(pairs, classNames) {
            if let new = pair.new { newNames[self.new.classes[new].name] = name }
            if let old = pair.old { oldNames[self.old.classes[old].name] = name }
        }
        var classes: [ModelClass] = []
        for (pair, name) in zip(pairs, classNames) {
            classes.append(
                merge(name, pair.new.map { new.classes[$0] }, pair.old.map { old.classes[$0] }))
        }
        if isAdditive { classes = classes.map(renamingUnique) }
        guard problems.isEmpty else { throw ModelDocumentError(problems: problems) }
        return try ModelDocument(app: new.app, classes: classes)
    }

    private mutating func report(_ message: String, _ className: String?, _ property: String? = nil) {
        problems.append(ModelDocumentError.Problem(className: className, property: property, message: message))
    }

    // MARK: Matching

    /// The names by which a class or property is known.
    private struct Name {
        let name: String
        let previous: [String]

        init(_ item: ModelClass) { (name, previous) = (item.name, item.previousNames) }
        init(_ property: ModelProperty) { (name, previous) = (property.name, property.previousNames) }
    }

    /// The positions of a class or property in both documents, or in the only one that has it.
    private struct Pair {
        var new: Int?
        var old: Int?
    }

    /// Pairs what is the same in both documents. Renames are declared, never guessed.
    /// - Parameter place: the class whose properties are matched; nil for classes.
    private mutating func match(_ new: [Name], _ old: [Name], place: String?) -> [Pair] {
        var positions: [String: Int] = [:]
        var former: [String: Int] = [:]
        for (index, item) in old.enumerated() {
            positions[item.name] = index
            for name in item.previous { former[name] = index }
        }
        var owner: [Int: Int] = [:]
        var pairs: [Pair] = []
        func path(_ name: String) -> String { place.map { "\($0).\(name)" } ?? name }
        for (index, item) in new.enumerated() {
            let declared = [positions[item.name]] + item.previous.map { positions[$0] ?? former[$0] }
            var candidates = Set(declared.compactMap { $0 })
            if candidates.isEmpty, let renamed = former[item.name] {
                if isAdditive {
                    candidates = [renamed]
                } else {
                    report(
                        "'\(item.name)' is a previous name of '\(old[renamed].name)'. To reuse it, declare "
                            + "'\(old[renamed].name)' as its previous name.", place ?? item.name,
                        place == nil ? nil : item.name)
                }
            }
            guard candidates.count <= 1 else {
                let names = candidates.map { "'\(old[$0].name)'" }.sorted().joined(separator: " and ")
                report(
                    "It can't replace both \(names). Remove one from its previous names.",
                    place ?? item.name, place == nil ? nil : item.name)
                continue
            }
            guard let match = candidates.first else {
                pairs.append(Pair(new: index, old: nil))
                continue
            }
            if let other = owner.updateValue(index, forKey: match) {
                report(
                    "Both \(path(new[other].name)) and \(path(item.name)) replace '\(old[match].name)'. Remove it from "
                        + "the previous names of one.", place ?? item.name,
                    place == nil ? nil : item.name)
                continue
            }
            pairs.append(Pair(new: index, old: match))
        }
        let missing = old.indices.filter { owner[$0] == nil }.map { Pair(new: nil, old: $0) }
        guard isAdditive else { return pairs + missing }
        // Classes and properties that the server has keep their order.
        return (pairs.filter { $0.old != nil } + missing).sorted { ($0.old ?? 0) < ($1.old ?? 0) }
            + pairs.filter { $0.old == nil }
    }

    private func name(_ pair: Pair, _ new: [Name], _ old: [Name]) -> String {
        guard let newIndex = pair.new else { return pair.old.map { old[$0].name } ?? "" }
        let item = new[newIndex]
        guard isAdditive, let oldIndex = pair.old else { return item.name }
        // The device may be older or newer than the server's document.
        let isNewer = item.previous.contains(old[oldIndex].name) && !old[oldIndex].previous.contains(item.name)
        return isNewer ? item.name : old[oldIndex].name
    }

    /// The names before `name`, newest first.
    private func previousNames(of name: String, _ new: Name, _ old: Name) -> [String] {
        let names =
            isAdditive && name == old.name
            ? old.previous + [new.name] + new.previous : new.previous + [new.name, old.name] + old.previous
        var result: [String] = []
        for previous in names where previous != name && !result.contains(previous) { result.append(previous) }
        return result
    }

    // MARK: Classes

    private mutating func merge(_ name: String, _ new: ModelClass?, _ old: ModelClass?) -> ModelClass {
        let newProperties = new?.properties ?? []
        let oldProperties = old?.properties ?? []
        guard let old else { return renamed(new ?? ModelClass(name: name, table: name, properties: [])) }
        if let new {
            if old.isEmbedded != new.isEmbedded {
                report(
                    old.isEmbedded
                        ? "It was an embedded class. A class with a table needs a different name."
                        : "It had a table. An embedded class needs a different name.", name)
            }
            if let key = new.properties.first(where: \.isPrimaryKey), !old.properties.contains(where: \.isPrimaryKey) {
                report("It had no primary key. A class with one needs a different name.", name, key.name)
            }
        }
        var properties: [ModelProperty] = []
        if new == nil {
            // Newer versions no longer write this class, so its properties stay as they are.
            properties = oldProperties.map { ModelProperty($0, type: renamed($0.type, oldNames)) }
        } else {
            let (newKnown, oldKnown) = (newProperties.map(Name.init), oldProperties.map(Name.init))
            for pair in match(newKnown, oldKnown, place: name) {
                let propertyName = self.name(pair, newKnown, oldKnown)
                let before = pair.old.map { oldProperties[$0] }
                let now = pair.new.map { newProperties[$0] }
                if let before, before.isPrimaryKey, now?.isPrimaryKey != true {
                    report(
                        "The primary key was '\(before.name)' and can't change, because it identifies the objects. Add "
                            + "a class, copy the objects, and stop using this one.", name)
                }
                if let before { self.oldProperties[old.name, default: [:]][before.name] = propertyName }
                let isKept = before.map { kept.properties[old.name]?.contains($0.name) == true } ?? false
                properties.append(merge(propertyName, now, before, of: name, isKept: isKept))
            }
        }
        let base = isAdditive ? old : new ?? old
        let table = isAdditive && name != old.name ? new?.table : base.table
        return ModelClass(
            name: name, table: table, properties: properties,
            uniqueProperties: base.uniqueProperties, isTrashable: old.isTrashable || new?.isTrashable == true,
            previousNames: new.map { previousNames(of: name, Name($0), Name(old)) } ?? old.previousNames,
            isRetired: isAdditive ? old.isRetired : new?.isRetired ?? !kept.classes.contains(old.name))
    }

    // MARK: Properties

    private mutating func merge(
        _ name: String, _ new: ModelProperty?, _ old: ModelProperty?, of className: String, isKept: Bool
    ) -> ModelProperty {
        guard let old else {
            // In an additive merge the class keeps the place of the server's document, and this property may not be
            // part of it.
            return new.map { ModelProperty($0, type: renamed($0.type, newNames), isOfPlace: !isAdditive) }
                ?? ModelProperty(name: name, type: .bool)
        }
        let oldType = renamed(old.type, oldNames)
        guard let new else {
            guard !isAdditive else { return ModelProperty(old, type: oldType) }
            let isLink = if case .link = oldType { true } else { false }
            return ModelProperty(
                old, type: oldType, isOptional: old.isOptional || isLink, isOfPlace: isKept, isRetired: !isKept)
        }
        var type = renamed(new.type, newNames)
        if let reason = typeProblem(type, oldType) {
            report("\(reason) Add a property with another name and copy the values.", className, name)
        }
        if old.isOptional, !new.isOptional, !isAdditive {
            report(
                "It was optional and can't become required: older versions write nil. "
                    + "Keep it optional, or add a property with another name.", className, name)
        }
        if isAdditive, case .list(_, isOptional: false) = type { type = oldType }
        let names = previousNames(of: name, Name(new), Name(old))
        let base = isAdditive ? old : new
        return ModelProperty(
            name: name, column: isAdditive && name == old.name ? old.column : new.column, type: type,
            isOptional: isAdditive ? old.isOptional || new.isOptional : new.isOptional, isPrimaryKey: old.isPrimaryKey,
            isIndexed: base.isIndexed || isAdditive && new.isIndexed, isEncrypted: base.isEncrypted,
            deleteRule: base.deleteRule, allowedValues: base.allowedValues, hint: base.hint,
            isMarkdown: base.isMarkdown, coordinate: base.coordinate, previousNames: names, isRetired: base.isRetired)
    }

    private func typeProblem(_ new: PropertyType, _ old: PropertyType) -> String? {
        guard new != old else { return nil }
        if case .list(let newElement, let newOptional) = new, case .list(let oldElement, let oldOptional) = old,
            newElement == oldElement
        {
            if isAdditive || newOptional && !oldOptional { return nil }
            return "Its elements could be nil and can't become required."
        }
        return "Its type was '\(old.name)' and can't become '\(new.name)'."
    }

    // MARK: Names of classes in types and in unique groups

    private func renamed(_ type: PropertyType, _ names: [String: String]) -> PropertyType {
        type.mapClassNames { names[$0] ?? $0 }
    }

    private func renamed(_ item: ModelClass) -> ModelClass {
        ModelClass(
            name: item.name, table: item.table,
            properties: item.properties.map { ModelProperty($0, type: renamed($0.type, newNames)) },
            uniqueProperties: item.uniqueProperties, isTrashable: item.isTrashable, previousNames: item.previousNames,
            isRetired: item.isRetired)
    }

    /// In an additive merge the unique groups stay the server's, but their properties may have new names.
    private func renamingUnique(_ item: ModelClass) -> ModelClass {
        guard let before = old.classes.first(where: { oldNames[$0.name] == item.name }) else { return item }
        let groups = before.uniqueProperties.map { group in
            group.map { path in
                var current: ModelClass? = before
                let parts = path.split(separator: ".").map { part -> String in
                    guard let owner = current, let property = owner[String(part)] else { return String(part) }
                    current = property.target.flatMap { old[$0.name] }
                    return oldProperties[owner.name]?[property.name] ?? property.name
                }
                return parts.joined(separator: ".")
            }
        }
        return ModelClass(
            name: item.name, table: item.table, properties: item.properties, uniqueProperties: groups,
            isTrashable: item.isTrashable, previousNames: item.previousNames, isRetired: item.isRetired)
    }
}
