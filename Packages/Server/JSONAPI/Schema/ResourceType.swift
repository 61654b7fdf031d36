import Foundation
import Hummingbird
import TomboloHTTP
package import TomboloModel

/// A class as the API shows it: the `type` of its resource objects, and their fields.
package struct ResourceType: Sendable {
    /// The name in addresses and in `type`: `role_assignments`.
    package let name: String
    package let classIndex: Int
    package let item: ClassSchema
    package let keyIndex: Int
    /// The type of the primary key, which is a resource's `id`.
    package let keyType: PropertyType
    package let fields: [ResourceField]

    package var key: Column { item.columns[keyIndex] }
    package var path: String { "\(JSONAPIRoutes.path)/\(name)" }

    /// - Parameter isServed: whether a class, given by its name, has resources.
    /// - Returns: nil for a class without objects of its own.
    package init?(_ schema: Schema, classIndex: Int, isServed: (String) -> Bool) {
        let item = schema[classIndex]
        guard Self.isServed(item), let keyIndex = item.primaryKeyIndex else { return nil }
        self.classIndex = classIndex
        self.item = item
        self.keyIndex = keyIndex
        keyType = schema.storedType(of: item.columns[keyIndex])
        name = Self.reserved.contains(item.collectionName) ? "\(item.collectionName)_" : item.collectionName
        var used: Set<String> = ["id", "type"]
        fields = Self.fields(of: item, schema, prefix: "", isServed: isServed).map { field in
            field.named(Self.memberName(field.name, &used))
        }
    }

    /// Paths below `/api` that aren't collections.
    private static let reserved: Set<String> = ["operations"]

    package static func isServed(_ item: ClassSchema) -> Bool {
        item.owner == nil && !item.isEmbedded && !item.isRetired && item.primaryKeyIndex != nil
    }

    /// JSON:API demands names that begin and end with a letter or digit, and reserves `id` and `type`.
    private static func memberName(_ property: String, _ used: inout Set<String>) -> String {
        let isMark = { (character: Character) in character == "_" || character == "-" }
        var name = String(property.drop(while: isMark))
        while let last = name.last, isMark(last) { name.removeLast() }
        if name.isEmpty { name = "value" }
        while !used.insert(name).inserted { name += "Value" }
        return name
    }

    /// The properties of a class, or of an embedded object in it.
    /// - Parameter prefix: the name of the embedded object, with a dot.
    private static func fields(
        of item: ClassSchema, _ schema: Schema, prefix: String, isServed: (String) -> Bool
    ) -> [ResourceField] {
        func ownName(_ name: String) -> String? {
            guard name.hasPrefix(prefix) else { return nil }
            let rest = name.dropFirst(prefix.count)
            return rest.contains(".") ? nil : String(rest)
        }
        var fields: [ResourceField] = []
        // The columns that say where an element is belong to the list.
        let own =
            item.owner == nil ? item.columns.indices : ElementColumn.content..<(item.parentColumn ?? item.columns.count)
        for index in own where !item.columns[index].isPrimaryKey && !item.columns[index].isRetired {
            let column = item.columns[index]
            guard let name = ownName(column.name) else { continue }
            let content: ResourceField.Content =
                switch column.type {
                case .embedded:
                    .embedded(
                        column: index,
                        fields: Self.fields(of: item, schema, prefix: "\(column.name).", isServed: isServed))
                case .array(let types): .array(column: index, types: types)
                case .link(let target) where prefix.isEmpty && item.owner == nil && isServed(target):
                    schema.index(of: target).map { .toOne(column: index, target: $0) }
                        ?? .value(column: index, type: schema.storedType(of: column))
                case .int, .bool, .float, .double, .string, .data, .date, .objectId, .uuid, .decimal128:
                    .value(column: index, type: column.type)
                case .link, .list, .linkingObjects: .value(column: index, type: schema.storedType(of: column))
                }
            let isOptional = column.isOptional && !column.isRequiredWhenPresent
            fields.append(
                ResourceField(
                    name: name, property: column.name, content: content, isOptional: isOptional,
                    allowedValues: column.allowedValues, hint: column.hint, isMarkdown: column.isMarkdown,
                    coordinate: column.coordinate))
        }
        for list in item.lists where !list.isRetired {
            guard let name = ownName(list.name), let elements = schema.index(of: "\(item.name).\(list.name)") else {
                continue
            }
            let content: ResourceField.Content
            switch list.element {
            case .scalar(let type, _): content = .values(elements: elements, type: type)
            case .link(let target):
                guard let index = schema.index(of: target) else { continue }
                if prefix.isEmpty, item.owner == nil, isServed(target) {
                    content = .toMany(elements: elements, target: index)
                } else {
                    content = .values(
                        elements: elements, type: schema.storedType(of: schema[elements].columns[ElementColumn.target]))
                }
            case .embedded:
                var used: Set<String> = [ResourceField.elementID]
                content = .objects(
                    elements: elements,
                    fields: Self.fields(of: schema[elements], schema, prefix: "", isServed: isServed)
                        .map { $0.named(memberName($0.name, &used)) })
            }
            fields.append(
                ResourceField(
                    name: name, property: list.name, content: content, isOptional: false,
                    allowedValues: list.allowedValues, hint: list.hint))
        }
        return fields
    }

    package func field(_ name: String) -> ResourceField? { fields.first { $0.name == name } }

    /// The key of a resource from its `id`.
    /// - Returns: nil for text that isn't a key of the class.
    package func keyValue(_ id: String) -> Value? {
        guard !id.utf8.contains(0), id.utf8.count <= RequestParameters.maximumValueByteCount else { return nil }
        return keyType.keyValue(id)
    }
}
