import TomboloHTTP
import TomboloLocalization
package import TomboloModel
import TomboloRules

/// A field of a class as a caller may use it, for a page about the API.
package struct DescribedField: Sendable {
    package enum Creation: String, Sendable {
        case required, optional
        /// Required if the embedded object that contains it is sent.
        case requiredInside = "required in its object"
        /// The caller can't set it.
        case no = "no"
    }

    /// `title`, `address.street`, `holds[].label`
    package let name: String
    /// The type by its schema: `string (date-time) or null`.
    package let type: String
    /// The expected form of a value, in words; nil if the type says it all.
    package let expected: String?
    /// What people should know before they enter a value; nil for nothing.
    package let hint: String?
    /// The only values that the field can have; nil for all of its type.
    package let allowed: AllowedValues?
    package let creation: Creation
    package let isWritable: Bool
    /// The target of a relationship.
    package let target: ResourceType?

    /// The fields that a caller may read, including those of embedded objects and lists, after the id.
    package static func all(of type: ResourceType, for view: CallerView) -> [DescribedField] {
        let makes = view.refusal(.create, type) == nil
        let changes = view.refusal(.update, type) == nil
        let fixed = view.fixedColumns(of: type)
        let schemas = OpenAPISchemas(schema: view.schema)
        let makesKey =
            switch type.keyType {
            case .objectId, .uuid: Creation.optional
            default: Creation.required
            }
        let id = DescribedField(
            name: "id", type: schemas.words(.object(["type": "string"])),
            expected: ValueText.expected(type.keyType).localized,
            hint: nil, allowed: nil, creation: makes ? makesKey : .no, isWritable: false, target: nil)
        func described(_ field: ResourceField, _ prefix: String, isInside: Bool, isFixed: Bool) -> [DescribedField] {
            // The columns of elements belong to another class.
            let isFixed = isFixed || (field.column.map { !prefix.contains("[") && fixed.contains($0) } ?? false)
            let creation: Creation =
                if !makes || isFixed {
                    .no
                } else if isInside {
                    field.column != nil && !field.isOptional ? .requiredInside : .optional
                } else {
                    field.isRequiredOnCreation ? .required : .optional
                }
            let own = DescribedField(
                name: prefix + field.name, type: schemas.words(field), expected: expected(field),
                hint: field.hint, allowed: field.allowedValues, creation: creation,
                isWritable: (makes || changes) && !isFixed,
                target: field.target.flatMap { view.types[$0] })
            let (inner, mark): ([ResourceField], String) =
                switch field.content {
                case .embedded(_, let fields): (fields, ".")
                case .objects(_, let fields): (fields, "[].")
                case .value, .array, .values, .toOne, .toMany: ([], "")
                }
            return [own]
                + inner.flatMap { described($0, prefix + field.name + mark, isInside: true, isFixed: isFixed) }
        }
        return [id] + view.fields(of: type).flatMap { described($0, "", isInside: false, isFixed: false) }
    }

    private static func expected(_ field: ResourceField) -> String? {
        guard field.allowedValues == nil else { return nil }
        switch field.content {
        case .value(_, let type), .values(_, let type):
            // JSON's own types need no more explanation.
            switch type {
            case .bool, .string, .float, .double: return nil
            default: return ValueText.expected(type).localized
            }
        case .array, .embedded, .objects, .toOne, .toMany: return nil
        }
    }
}

extension OpenAPISchemas {
    /// A field's type in a few words: `string (date-time) or null`, `array of integer (int64)`.
    func words(_ field: ResourceField) -> String {
        if let schema = attribute(field) { return words(schema) }
        return field.column == nil ? "array of resource identifiers" : "resource identifier or null"
    }

    func words(_ schema: JSON) -> String {
        let names: [String] =
            switch schema["type"] {
            case .string(let name)?: [name]
            case .array(let names)?: names.compactMap { if case .string(let name) = $0 { name } else { nil } }
            default: []
            }
        let words = names.map { name -> String in
            let form = schema["format"] ?? schema["contentEncoding"] ?? schema["contentMediaType"]
            return switch (name, form, schema["items"]) {
            case ("array", _, let items?): "array of \(self.words(items))"
            case ("string", .string(let form)?, _), ("integer", .string(let form)?, _),
                ("number", .string(let form)?, _):
                "\(name) (\(form))"
            default: name
            }
        }
        return words.joined(separator: " or ")
    }
}
