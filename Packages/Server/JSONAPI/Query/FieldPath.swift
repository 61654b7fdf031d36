import TomboloHTTP
package import TomboloModel
import TomboloLocalization

/// A field by its name in a parameter, `price`, `address.street` or `id`: one column that conditions can use.
package struct FieldPath {
    package let column: Column
    /// The type of its values; for a link, the type of its target's key.
    package let type: PropertyType
    /// For a relationship, its target.
    package let target: ResourceType?
    package let isEmbedded: Bool
    /// The path to the visible value. If the objects that a link leads to can be in the trash, the path follows the link
    /// to the target's key, which is missing if the target is in the trash.
    let shown: PropertyPath

    /// - Throws: ``RequestFailure`` both for an unknown field and for one that the caller may not see.
    package init(
        _ name: String, of resource: ResourceType, _ view: CallerView, _ parameter: RequestParameters.Parameter
    ) throws {
        if name == "id" {
            column = resource.key
            type = resource.keyType
            target = nil
            isEmbedded = false
            shown = PropertyPath(column.name)
            return
        }
        var fields = view.fields(of: resource)
        let known = fields.map(\.name)
        let names = name.split(separator: ".", omittingEmptySubsequences: false)
        var found: ResourceField?
        for part in names {
            found = fields.first { $0.name == part }
            if case .embedded(_, let inner) = found?.content { fields = inner } else { fields = [] }
        }
        guard let found else {
            throw parameter.failure(
                localized("\(resource.name) have no field '\(name.shortened(toByteCount: 60))'."),
                ResourceQuery.nearest(name, known + ["id"]).localized)
        }
        switch found.content {
        case .value(let index, let type):
            column = resource.item.columns[index]
            self.type = type
            target = nil
            isEmbedded = false
        case .toOne(let index, let target):
            column = resource.item.columns[index]
            type = view.schema.storedType(of: column)
            self.target = view.types[target]
            isEmbedded = false
        case .embedded(let index, _):
            column = resource.item.columns[index]
            type = .bool
            target = nil
            isEmbedded = true
        case .array, .values, .objects, .toMany:
            throw parameter.failure(
                localized("'\(name)' has several values."),
                localized("Use a field with one value. Lists can't be filtered or sorted by."))
        }
        let key = view.schema.trashableTarget(of: column)?.primaryKey
        shown = PropertyPath([column.name] + (key.map { [$0.name] } ?? []))
    }

    package var isSortable: Bool {
        // An order by links would tell where those into the trash lead.
        if column.linkTarget != nil || isEmbedded { return false }
        switch type {
        case .data, .link, .embedded, .array, .list, .linkingObjects: return false
        default: return true
        }
    }

    /// All fields that conditions can use, including those of embedded objects, by their names in parameters.
    package static func all(of resource: ResourceType, _ view: CallerView) -> [(name: String, path: FieldPath)] {
        func names(_ fields: [ResourceField], _ prefix: String) -> [String] {
            fields.flatMap { field -> [String] in
                guard case .embedded(_, let inner) = field.content else { return [prefix + field.name] }
                return [prefix + field.name] + names(inner, "\(prefix)\(field.name).")
            }
        }
        return (["id"] + names(view.fields(of: resource), "")).compactMap { name in
            let parameter = RequestParameters.Parameter(filtering: name, by: "")
            return (try? FieldPath(name, of: resource, view, parameter)).map { (name, $0) }
        }
    }
}
