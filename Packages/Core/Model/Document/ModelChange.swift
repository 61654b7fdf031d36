/// One difference between a document and its predecessor, described for people.
public struct ModelChange: Hashable, Sendable, CustomStringConvertible {
    /// The class's current name.
    public let className: String
    /// The property's current name; nil if the class itself changed.
    public let property: String?
    /// What changes, phrased to follow the name: `is added: string?`.
    public let text: String
    public let kind: Kind

    public enum Kind: Hashable, Sendable {
        case retired
        /// A table or column gets another name.
        case renamedInSQL
        /// Values that objects may already have can no longer be saved.
        case narrowed
        case other
    }

    init(_ className: String, _ property: String? = nil, _ text: String, kind: Kind = .other) {
        self.className = className
        self.property = property
        self.text = text
        self.kind = kind
    }

    /// Whether something disappears that others may use. No values are lost.
    public var isLoss: Bool { kind != .other }

    /// The changed class or property: `Listing.notes`.
    public var place: String { property.map { "\(className).\($0)" } ?? className }

    public var description: String { "\(place) \(text)." }
}

extension ModelDocument {
    /// The differences from the previous document. Omits what was retired before and still is.
    /// - Parameter older: a document of the same app, over which this one was merged.
    public func changes(since older: ModelDocument) -> [ModelChange] {
        let index = ModelNameIndex(older.classes)
        return classes.flatMap { item -> [ModelChange] in
            guard let place = index.place(of: item) else {
                guard !item.isRetired else { return [] }
                let count = item.properties.count
                let kind = item.isEmbedded ? "is added, an embedded class" : "is added"
                return [ModelChange(item.name, nil, "\(kind) with \(count) propert\(count == 1 ? "y" : "ies")")]
            }
            return item.changes(since: older.classes[place])
        }
    }
}

extension ModelClass {
    fileprivate func changes(since old: ModelClass) -> [ModelChange] {
        if isRetired {
            return old.isRetired
                ? []
                : [
                    ModelChange(
                        name, nil, "is retired: the panel and JSON:API no longer show it, and its table is kept",
                        kind: .retired)
                ]
        }
        var changes: [ModelChange] = []
        func add(_ condition: Bool, _ text: @autoclosure () -> String, kind: ModelChange.Kind = .other) {
            if condition { changes.append(ModelChange(name, nil, text(), kind: kind)) }
        }
        add(old.isRetired, "comes back: it was retired")
        add(old.name != name, "was called \(old.name)")
        if let before = old.table, let table {
            add(before != table, "has the table \(table), formerly \(before)", kind: .renamedInSQL)
        }
        add(isTrashable && !old.isTrashable, "gets a trash")
        add(
            uniqueProperties != old.uniqueProperties,
            uniqueProperties.isEmpty
                ? "no longer has unique properties"
                : "has the unique properties \(uniqueProperties.map { $0.joined(separator: " with ") }.joined(separator: ", "))"
        )
        let index = ModelNameIndex(old.properties)
        for property in properties {
            guard let place = index.place(of: property) else {
                guard !property.isRetired else { continue }
                let more = property.isIndexed ? ", with an index" : ""
                changes.append(ModelChange(name, property.name, "is added: \(property.typeText)\(more)"))
                continue
            }
            changes += property.changes(since: old.properties[place], of: name)
        }
        return changes
    }
}

extension ModelProperty {
    fileprivate func changes(since old: ModelProperty, of className: String) -> [ModelChange] {
        if isRetired {
            return old.isRetired
                ? []
                : [
                    ModelChange(
                        className, name,
                        "is retired: the panel and JSON:API no longer show it, and its values are kept",
                        kind: .retired)
                ]
        }
        var changes: [ModelChange] = []
        func add(_ condition: Bool, _ text: @autoclosure () -> String, kind: ModelChange.Kind = .other) {
            if condition { changes.append(ModelChange(className, name, text(), kind: kind)) }
        }
        add(old.isRetired, "comes back: it was retired")
        add(old.name != name, "was called \(old.name)")
        add(old.column != column, "is \(column) in SQL, formerly \(old.column)", kind: .renamedInSQL)
        // The type isn't compared: a merge only changes the names of renamed classes in it.
        add(old.isOptional != isOptional, isOptional ? "may be nil" : "is required")
        if case .list(_, let isOptional) = type, case .list(_, false) = old.type {
            add(isOptional, "may contain nil")
        }
        add(isIndexed && !old.isIndexed, "gets an index")
        add(old.isIndexed && !isIndexed, "no longer needs its index, which is kept")
        if let allowedValues {
            let isNarrowed = old.allowedValues.map { !Set($0.values).isSubset(of: allowedValues.values) } ?? true
            add(
                old.allowedValues != allowedValues,
                isNarrowed
                    ? "has different \"values\": objects keep those left out, but they can no longer be entered"
                    : "has additional \"values\"", kind: isNarrowed ? .narrowed : .other)
        } else {
            add(old.allowedValues != nil, "may have any value")
        }
        add(old.hint != hint, hint == nil ? "no longer has a hint" : "has a new hint")
        add(old.isMarkdown != isMarkdown, isMarkdown ? "is Markdown" : "is no longer Markdown")
        add(
            old.coordinate != coordinate,
            coordinate.map { "is the \($0.rawValue) of a place" } ?? "is no longer part of a place")
        add(
            old.deleteRule != deleteRule,
            deleteRule == .cascade
                ? "deletes its object when the link's target is deleted"
                : "becomes nil when the link's target is deleted")
        return changes
    }
}
