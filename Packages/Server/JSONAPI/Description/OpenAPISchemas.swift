import TomboloHTTP
import TomboloModel

/// The schemas of an ``OpenAPIDocument``, in JSON Schema 2020-12.
struct OpenAPISchemas {
    let schema: Schema

    /// An attribute with a single value.
    struct Scalar {
        let name: String
        let type: PropertyType
        let isSortable: Bool
    }

    /// The attributes that lists can be filtered by.
    static func scalars(_ type: ResourceType, _ schema: Schema) -> [Scalar] {
        [Scalar(name: "id", type: type.keyType, isSortable: true)]
            + type.fields.compactMap { field in
                switch field.content {
                case .value(_, .data): nil
                case .value(_, let valueType): Scalar(name: field.name, type: valueType, isSortable: true)
                case .toOne(let column, _):
                    Scalar(
                        name: field.name, type: schema.storedType(of: type.item.columns[column]), isSortable: false)
                case .array, .embedded, .values, .objects, .toMany: nil
                }
            }
    }

    // MARK: Values

    /// - Parameter allowed: the possible values; nil for all of the type.
    func value(_ type: PropertyType, isOptional: Bool, _ allowed: AllowedValues? = nil) -> JSON {
        var members = members(type)
        if let allowed { members["enum"] = .array(allowed.values.map(JSON.init) + (isOptional ? [.null] : [])) }
        if isOptional, let name = members["type"] { members["type"] = [name, "null"] }
        return .object(members)
    }

    /// The schema for a parameter's value: never empty, and without escapes that tools get wrong.
    func parameter(_ type: PropertyType) -> JSON {
        var members = members(type)
        if case .string = type { members["maxLength"] = 200 }
        return .object(members)
    }

    private func members(_ type: PropertyType) -> [String: JSON] {
        switch type {
        case .bool: return ["type": "boolean"]
        case .int(let bits):
            let limit = bits == 64 ? Int64.max : (Int64(1) << Int64(bits - 1)) - 1
            return [
                "type": "integer", "format": .string(bits == 64 ? "int64" : "int32"), "minimum": .int(-limit - 1),
                "maximum": .int(limit),
            ]
        case .float, .double: return ["type": "number", "format": "double"]
        case .string:
            return ["type": "string", "maxLength": .int(Int64(Value.maximumByteCount)), "pattern": "^[^\\u0000]*$"]
        case .data: return ["type": "string", "contentEncoding": "base64"]
        case .date: return ["type": "string", "format": "date-time"]
        case .objectId: return ["type": "string", "pattern": "^[0-9a-fA-F]{24}$"]
        case .uuid: return ["type": "string", "format": "uuid"]
        case .decimal128:
            return ["type": "string", "pattern": "^(NaN|-?Infinity|-?[0-9]+(\\.[0-9]+)?([eE][-+]?[0-9]+)?)$"]
        case .link, .embedded, .array, .list, .linkingObjects: return [:]
        }
    }

    /// - Returns: nil for a relationship.
    func attribute(_ field: ResourceField) -> JSON? {
        guard let hint = field.hint, case .object(var members)? = plainAttribute(field) else {
            return plainAttribute(field)
        }
        members["description"] = .string(hint)
        return .object(members)
    }

    private func plainAttribute(_ field: ResourceField) -> JSON? {
        switch field.content {
        case .value(_, let type):
            let value = value(type, isOptional: field.isOptional, field.allowedValues)
            guard case .object(var members) = value else { return value }
            if field.isMarkdown { members["contentMediaType"] = "text/markdown" }
            if let bounds = field.coordinate?.bounds {
                members["minimum"] = .double(bounds.lowerBound)
                members["maximum"] = .double(bounds.upperBound)
            }
            return .object(members)
        case .values(_, let type):
            return [
                "type": "array", "items": value(type, isOptional: true, field.allowedValues),
                "maxItems": .int(Int64(ResourcePlan.maximumElementCount)),
            ]
        case .array(_, let types):
            let item: JSON =
                types.count == 1
                ? value(types[0], isOptional: false, field.allowedValues)
                : [
                    "type": "array", "prefixItems": .array(types.map { value($0, isOptional: false) }),
                    "minItems": .int(Int64(types.count)), "maxItems": .int(Int64(types.count)),
                ]
            return ["type": ["array", "null"], "items": item]
        case .objects(let elements, let fields):
            var properties = properties(fields)
            properties[ResourceField.elementID] = value(.objectId, isOptional: true)
            let item = schema[elements]
            let required = fields.filter { $0.column.map { !item.columns[$0].isOptional } ?? false }.map(\.name)
            return [
                "type": "array", "maxItems": .int(Int64(ResourcePlan.maximumElementCount)),
                "items": Self.object(properties, required: required),
            ]
        case .embedded(_, let fields):
            return [
                "type": ["object", "null"], "properties": .object(properties(fields)), "additionalProperties": false,
            ]
        case .toOne, .toMany: return nil
        }
    }

    private func properties(_ fields: [ResourceField]) -> [String: JSON] {
        Dictionary(uniqueKeysWithValues: fields.compactMap { inner in attribute(inner).map { (inner.name, $0) } })
    }

    // MARK: Resources

    private func identifier(_ type: ResourceType) -> JSON {
        [
            "type": "object", "required": ["type", "id"],
            "properties": ["type": ["const": .string(type.name)], "id": value(type.keyType, isOptional: false)],
        ]
    }

    /// The linkage of a relationship.
    func linkage(_ field: ResourceField, _ target: ResourceType) -> JSON {
        if case .toMany = field.content {
            return [
                "type": "array", "items": identifier(target),
                "maxItems": .int(Int64(ResourcePlan.maximumElementCount)),
            ]
        }
        // Its target may be in the trash now.
        return ["anyOf": [identifier(target), ["type": "null"]]]
    }

    private func relationships(_ type: ResourceType, _ types: ResourceTypes, isWritten: Bool) -> [String: JSON] {
        var result: [String: JSON] = [:]
        for field in type.fields {
            guard let target = field.target.flatMap({ types[$0] }) else { continue }
            var properties: [String: JSON] = ["data": linkage(field, target)]
            if !isWritten {
                properties["links"] = Self.links
                properties["meta"] = ["type": "object"]
            }
            result[field.name] = Self.object(
                properties, required: isWritten ? ["data"] : ["links"], isOpen: isWritten)
        }
        return result
    }

    private static let links: JSON = [
        "type": "object", "additionalProperties": ["type": ["string", "null"]],
    ]

    /// - Parameter isOpen: whether other members are ignored, as JSON:API demands for requests.
    private static func object(
        _ properties: [String: JSON], required: [String] = [], isOpen: Bool = false
    ) -> JSON {
        var members: [String: JSON] = ["type": "object", "properties": .object(properties)]
        if !isOpen { members["additionalProperties"] = false }
        if !required.isEmpty { members["required"] = .array(required.map(JSON.string)) }
        return .object(members)
    }

    /// A resource object as answers contain it. No attribute is required: the rules may hide it.
    func resource(_ type: ResourceType, _ types: ResourceTypes) -> JSON {
        Self.object(
            [
                "type": ["const": .string(type.name)], "id": value(type.keyType, isOptional: false),
                "attributes": Self.object(properties(type.fields)),
                "relationships": Self.object(relationships(type, types, isWritten: false)), "links": Self.links,
                "meta": Self.object(["version": ["type": "string"]]),
            ], required: ["type", "id", "links"])
    }

    /// The body of POST or PATCH.
    func change(_ type: ResourceType, _ types: ResourceTypes, isNew: Bool) -> JSON {
        let required = isNew ? type.fields.filter(\.isRequiredOnCreation) : []
        let attributeNames = required.filter { !$0.isRelationship }.map(\.name)
        let relationshipNames = required.filter(\.isRelationship).map(\.name)
        let properties: [String: JSON] = [
            "type": ["const": .string(type.name)], "id": value(type.keyType, isOptional: false),
            "attributes": Self.object(properties(type.fields), required: attributeNames),
            "relationships": Self.object(relationships(type, types, isWritten: true), required: relationshipNames),
        ]
        var names = ["type"]
        switch type.keyType {
        case .objectId, .uuid: if !isNew { names.append("id") }
        default: names.append("id")
        }
        if !attributeNames.isEmpty { names.append("attributes") }
        if !relationshipNames.isEmpty { names.append("relationships") }
        return body(Self.object(properties, required: names, isOpen: true))
    }

    func body(_ data: JSON) -> JSON { Self.object(["data": data], required: ["data"], isOpen: true) }

    // MARK: Documents

    /// - Parameter isWhole: whether the data is always present.
    func document(_ data: JSON, isWhole: Bool = true) -> JSON {
        Self.object(
            [
                "jsonapi": ["type": "object"], "links": Self.links, "meta": ["type": "object"], "data": data,
                "included": ["type": "array", "items": ["type": "object"]],
            ], required: (isWhole ? ["data"] : []) + ["links"])
    }

    func list(_ name: String) -> JSON {
        document(["type": "array", "items": OpenAPIDocument.reference("schemas", name)])
    }

    func single(_ name: String, isOptional: Bool = false) -> JSON {
        let resource = OpenAPIDocument.reference("schemas", name)
        return document(isOptional ? ["anyOf": [resource, ["type": "null"]]] : resource)
    }

    /// Schemas that don't depend on the model.
    static let common: [String: JSON] = [
        "problems": object(
            [
                "jsonapi": ["type": "object"],
                "errors": [
                    "type": "array", "minItems": 1,
                    "items": object(
                        [
                            "id": ["type": "string"], "status": ["type": "string"], "code": ["type": "string"],
                            "title": ["type": "string"], "detail": ["type": "string"],
                            "source": object([
                                "parameter": ["type": "string"], "pointer": ["type": "string"],
                                "header": ["type": "string"],
                            ]),
                            "meta": object([
                                "remedy": ["type": "string"],
                                "properties": ["type": "array", "items": ["type": "string"]],
                            ]),
                        ], required: ["status", "code", "title", "detail"]),
                ],
            ], required: ["errors"]),
        "operations": object(
            [
                "atomic:operations": [
                    "type": "array", "minItems": 1, "maxItems": .int(Int64(JSONAPIRoutes.maximumOperationCount)),
                    "items": object(
                        [
                            "op": ["enum": ["add", "update", "remove"]], "ref": ["type": "object"],
                            "data": ["type": ["object", "array", "null"]],
                            "meta": ["type": "object", "properties": ["reason": OpenAPIDocument.reason]],
                        ], required: ["op"]),
                ]
            ], required: ["atomic:operations"]),
        "results": object(
            [
                "jsonapi": ["type": "object"],
                "atomic:results": ["type": "array", "items": object(["data": ["type": "object"]])],
            ], required: ["atomic:results"]),
    ]
}
