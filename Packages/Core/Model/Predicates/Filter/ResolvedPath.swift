/// The links, lists and property that a path of names leads to in a schema. Names are resolved to properties only here.
package struct ResolvedPath: Sendable {
    package enum Step: Sendable {
        /// Follows a link to a single object.
        case link(Column, to: ClassSchema)
        /// Goes to the elements of a list and, if they're links, on to their targets.
        case list(ClassSchema, to: ClassSchema?)
        /// Goes to the objects of a class whose link points here.
        case origins(ClassSchema, Column)
        /// Goes to the objects of a class whose list has an element that points here.
        case listOrigins(ClassSchema, elements: ClassSchema)
        /// Goes to all links that point here from any object through these columns. They can only be counted.
        case links([(ClassSchema, Column)])

        var isToMany: Bool { if case .link = self { false } else { true } }
    }

    package fileprivate(set) var steps: [Step] = []
    /// The class of the objects or elements at the end of the path, or of ``column``.
    package fileprivate(set) var item: ClassSchema
    /// The column at the end of the path, or nil if it ends at the objects or elements of a list.
    package fileprivate(set) var column: Column?
    /// The number of names up to the elements of the last list; 0 if there is no list.
    package fileprivate(set) var collectionNameCount = 0

    package var isToMany: Bool { collectionNameCount > 0 }
}

extension PropertyPath {
    /// The maximum number of names in a path.
    public static let maximumNameCount = 64
    /// Precedes the class and property of links that point here, `@links.Person.dogs`; on its own it means all of them.
    static let links = "@links"
}

extension Schema {
    /// Follows a path from the rows of a class. As many names as possible that together name a column or list
    /// (`address.street`) are taken together.
    /// - Throws: ``ValueError``, which names the class, the property and the nearest name.
    package func resolve(_ path: PropertyPath, from start: ClassSchema) throws(ValueError) -> ResolvedPath {
        let names = path.names
        guard !names.isEmpty else { throw ValueError("The query on \(start.name) has an empty property path.") }
        guard names.count <= PropertyPath.maximumNameCount else {
            throw ValueError(
                "The query on \(start.name) has a path of \(names.count) names; the limit is "
                    + "\(PropertyPath.maximumNameCount).")
        }
        var result = ResolvedPath(item: start)
        var position = 0
        while position < names.count {
            if let column = result.column {
                guard let target = column.linkTarget, let next = self[target] else {
                    throw ValueError(
                        "\(result.item.name).\(column.name) is \(column.article), so '\(path)' leads nowhere.")
                }
                result.steps.append(.link(column, to: next))
                result.item = next
                result.column = nil
            }
            position += try follow(names[position...], path, &result)
            if result.steps.last?.isToMany == true, result.column == nil { result.collectionNameCount = position }
        }
        return result
    }

    /// - Returns: the number of names consumed.
    private func follow(
        _ names: ArraySlice<String>, _ path: PropertyPath, _ result: inout ResolvedPath
    ) throws(ValueError) -> Int {
        let item = result.item
        if names.first == PropertyPath.links { return try followLinks(Array(names.dropFirst()), path, &result) }
        for count in stride(from: names.count, to: 0, by: -1) {
            let name = count == 1 ? names[names.startIndex] : names.prefix(count).joined(separator: ".")
            // Servers query element classes directly and may use all their columns.
            if let index = item.columnIndex(name), result.steps.isEmpty || !item.isSystemColumn(index) {
                try item.columns[index].requireComparable(in: item.name)
                result.column = item.columns[index]
                return count
            }
            if item.lists.contains(where: { $0.name == name }), let elements = self["\(item.name).\(name)"] {
                let target = elements.owner?.linkTarget.flatMap { self[$0] }
                result.steps.append(.list(elements, to: target))
                result.item = target ?? elements
                return count
            }
            if let origin = item.linkingObjects[name], let step = step(to: origin) {
                result.steps.append(step)
                result.item = self[origin.className] ?? item
                return count
            }
        }
        let name = names.first ?? ""
        let known =
            item.columns.indices.filter { !item.isSystemColumn($0) }.map { item.columns[$0].name }
            + item.lists.map(\.name) + item.linkingObjects.keys.sorted()
        guard !known.isEmpty, item.owner?.isScalar != true else {
            throw ValueError("The elements of \(item.name) are not objects, so '\(path)' leads nowhere.")
        }
        let hint = name.nearest(in: known).map { "; did you mean '\($0)'?" } ?? "."
        let shown = name.shortened(toByteCount: String.nearestLengthLimit)
        throw ValueError("\(item.name) has no property '\(shown)'\(hint)")
    }

    /// Resolves the names after `@links`.
    private func followLinks(
        _ names: [String], _ path: PropertyPath, _ result: inout ResolvedPath
    ) throws(ValueError) -> Int {
        let target = result.item.name
        guard let className = names.first else {
            result.steps.append(.links(links(to: target)))
            result.item = ClassSchema(name: PropertyPath.links, columns: [])
            return 1
        }
        guard let origin = self[className], origin.owner == nil else {
            let hint = className.nearest(in: classes.filter { $0.owner == nil }.map(\.name)).map {
                "; did you mean '\($0)'?"
            }
            throw ValueError("There is no class '\(className)' in '\(path)'\(hint ?? ".")")
        }
        for count in stride(from: names.count - 1, to: 0, by: -1) {
            let name = names[1...count].joined(separator: ".")
            let list = self["\(className).\(name)"]?.columns[ElementColumn.target]
            guard
                origin.columnIndex(name).map({ origin.columns[$0] })?.linkTarget == target
                    || list?.linkTarget == target,
                let step = step(to: LinkOrigin(className: className, property: name))
            else { continue }
            result.steps.append(step)
            result.item = origin
            return 2 + count
        }
        let known = links(to: target).compactMap { item, column in
            item.name == className ? column.name : item.owner?.className == className ? item.owner?.property : nil
        }
        throw ValueError(
            "No property '\(names.dropFirst().first ?? "")' of \(className) links to \(target)"
                + (known.isEmpty ? "." : "; available: \(known.joined(separator: ", "))."))
    }

    private func links(to target: String) -> [(ClassSchema, Column)] {
        classes.flatMap { item in
            item.columns.indices
                .filter { item.columns[$0].linkTarget == target && (item.owner == nil || $0 == ElementColumn.target) }
                .map { (item, item.columns[$0]) }
        }
    }

    private func step(to origin: LinkOrigin) -> ResolvedPath.Step? {
        guard let item = self[origin.className] else { return nil }
        if let index = item.columnIndex(origin.property) { return .origins(item, item.columns[index]) }
        return self["\(item.name).\(origin.property)"].map { .listOrigins(item, elements: $0) }
    }

    /// Splits a path after the elements of its last list.
    package func split(
        _ path: PropertyPath, from item: ClassSchema
    ) throws(ValueError) -> (collection: PropertyPath, rest: FilterOperand)? {
        let resolved = try resolve(path, from: item)
        guard resolved.isToMany else { return nil }
        let rest = Array(path.names.dropFirst(resolved.collectionNameCount))
        return (
            PropertyPath(Array(path.names.prefix(resolved.collectionNameCount))),
            rest.isEmpty ? .element : .property(PropertyPath(rest))
        )
    }
}

extension ClassSchema {
    /// Whether a column of an element class is internal to the store. The value of a scalar element is named `SELF`.
    fileprivate func isSystemColumn(_ index: Int) -> Bool {
        guard let owner else { return false }
        if case .embedded = owner.element { return index < ElementColumn.content || index == parentColumn }
        return true
    }

    /// The column that holds the value of a scalar element.
    package var scalarElement: Column? { owner?.isScalar == true ? columns[ElementColumn.content] : nil }
}

extension ElementOwner {
    fileprivate var isScalar: Bool { if case .scalar = element { true } else { false } }
    fileprivate var linkTarget: String? { if case .link(let target) = element { target } else { nil } }
}

extension Column {
    /// For messages of the form "is …, so 'a.b' leads nowhere".
    fileprivate var article: String {
        switch type {
        case .embedded(let name): "an embedded \(name) without such a property"
        case .array: "a list inside an embedded object, stored in one column"
        default: "not a link"
        }
    }
}
