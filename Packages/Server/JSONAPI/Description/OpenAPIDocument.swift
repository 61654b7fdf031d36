import TomboloHTTP
import TomboloModel

/// The API of a schema as an OpenAPI 3.1 document (spec.openapis.org/oas/v3.1.1). It contains everything that any
/// caller may be permitted.
struct OpenAPIDocument {
    let types: ResourceTypes
    let values: OpenAPISchemas

    init(_ types: ResourceTypes) {
        self.types = types
        values = OpenAPISchemas(schema: types.schema)
    }

    private static let media = JSONAPIMediaType.name

    var json: JSON {
        var paths: [String: JSON] = [:]
        var schemas = OpenAPISchemas.common.merging(Self.jobSchemas) { first, _ in first }
        for type in types.all {
            schemas[type.name] = values.resource(type, types)
            schemas["new.\(type.name)"] = values.change(type, types, isNew: true)
            schemas["changed.\(type.name)"] = values.change(type, types, isNew: false)
            addPaths(of: type, to: &paths)
            addJobPaths(of: type, to: &paths)
        }
        paths.merge(jobPaths) { first, _ in first }
        paths["\(JSONAPIRoutes.path)/operations"] = operations
        paths["\(JSONAPIRoutes.path)/openapi.json"] = [
            "get": [
                "operationId": "describe", "summary": "This document", "tags": ["description"],
                "responses": [
                    "200": [
                        "description": "An OpenAPI 3.1 document",
                        "content": ["application/json": ["schema": ["type": "object"]]],
                    ],
                    "304": ["description": "Not modified."],
                    "4XX": Self.reference("responses", "problem"),
                ],
            ]
        ]
        return [
            "openapi": "3.1.0",
            "info": [
                "title": "Tombolo", "version": .string(String(types.schema.fingerprint, radix: 16)),
                "description":
                    "JSON:API 1.1 for the classes of this server. The rules say what a caller may see and change.",
                "license": ["name": "Apache 2.0", "identifier": "Apache-2.0"],
            ],
            "servers": [["url": "/"]], "security": [["token": []], .object([:])],
            "tags": .array(
                (types.all.map(\.name) + ["operations", "jobs", "description"]).map { ["name": .string($0)] }),
            "paths": .object(paths),
            "components": [
                "securitySchemes": [
                    "token": ["type": "http", "scheme": "bearer", "description": "An access token from POST /login"]
                ],
                "schemas": .object(schemas),
                "responses": [
                    "problem": [
                        "description": "What is wrong, where, and what to do",
                        "content": .object([Self.media: ["schema": Self.reference("schemas", "problems")]]),
                    ],
                    "plainProblem": Self.plainProblemResponse,
                ],
            ],
        ]
    }

    static func reference(_ kind: String, _ name: String) -> JSON { ["$ref": .string("#/components/\(kind)/\(name)")] }

    // MARK: Paths

    private func addPaths(of type: ResourceType, to paths: inout [String: JSON]) {
        let id: JSON = [
            "name": "id", "in": "path", "required": true, "schema": values.value(type.keyType, isOptional: false),
        ]
        paths[type.path] = [
            "get": operation(
                type, "list", "List the \(type.name)", parameters: listParameters(type) + [Self.ifNoneMatch],
                responses: ["200": document(values.list(type.name)), "304": Self.unchanged]),
            "post": operation(
                type, "create", "Create one of the \(type.name)", body: "new.\(type.name)",
                responses: [
                    "201": document(values.single(type.name)),
                    "204": ["description": "Created, but the caller may not read it"],
                ]),
        ]
        paths["\(type.path)/{id}"] = [
            "parameters": [id],
            "get": operation(
                type, "get", "Read one of the \(type.name)", parameters: memberParameters(type) + [Self.ifNoneMatch],
                responses: ["200": document(values.single(type.name)), "304": Self.unchanged]),
            "patch": operation(
                type, "update", "Update one of the \(type.name)", parameters: [Self.ifMatch],
                body: "changed.\(type.name)",
                responses: [
                    "200": document(values.single(type.name)),
                    "204": ["description": "Changed, and the caller may no longer read it"],
                ]),
            "delete": operation(
                type, "delete",
                type.item.isTrashable
                    ? "Move one of the \(type.name) into the trash" : "Delete one of the \(type.name)",
                parameters: [Self.ifMatch], bodySchema: type.item.isTrashable ? .some(Self.removal) : .none,
                isBodyRequired: false, responses: ["204": ["description": "Deleted, or moved into the trash"]]),
        ]
        for field in type.fields {
            guard let target = field.target.flatMap({ types[$0] }) else { continue }
            let isList = if case .toMany = field.content { true } else { false }
            let name = RequestParameters.encode(field.name)
            paths["\(type.path)/{id}/\(name)"] = [
                "parameters": [id],
                "get": operation(
                    type, "get.\(field.name)", "Read what '\(field.name)' links to",
                    parameters: (isList ? listParameters(target) : memberParameters(target)) + [Self.ifNoneMatch],
                    responses: [
                        "200": document(
                            isList ? values.list(target.name) : values.single(target.name, isOptional: true)),
                        "304": Self.unchanged,
                    ]),
            ]
            let linkage = values.linkage(field, target)
            let links = values.document(linkage, isWhole: !isList)
            func change(_ operationID: String, _ summary: String) -> JSON {
                operation(
                    type, "\(operationID).\(field.name)", summary, parameters: [Self.ifMatch],
                    bodySchema: values.body(linkage),
                    responses: [
                        "200": document(links),
                        "204": ["description": "Changed, and the caller may no longer read it"],
                    ])
            }
            var path: [String: JSON] = [
                "parameters": [id],
                "get": operation(
                    type, "linkage.\(field.name)", "Read which resources '\(field.name)' links to",
                    parameters: [Self.ifNoneMatch],
                    responses: ["200": document(links), "304": Self.unchanged]),
                "patch": change("link", "Change which resources '\(field.name)' links to"),
            ]
            if isList {
                path["post"] = change("linkMore", "Add resources to those that '\(field.name)' links to")
                path["delete"] = change("unlink", "Remove resources from those that '\(field.name)' links to")
            }
            paths["\(type.path)/{id}/relationships/\(name)"] = .object(path)
        }
    }

    /// The optional body of DELETE.
    private static let removal: JSON = [
        "type": "object", "additionalProperties": false,
        "properties": ["meta": ["type": "object", "properties": ["reason": reason]], "jsonapi": ["type": "object"]],
    ]

    private func operation(
        _ type: ResourceType, _ id: String, _ summary: String, parameters: [JSON] = [], body: String? = nil,
        bodySchema: JSON? = nil, isBodyRequired: Bool = true, responses: [String: JSON]
    ) -> JSON {
        let schema = body.map { Self.reference("schemas", $0) } ?? bodySchema
        return operation(
            type, id, summary, parameters: parameters, content: schema.map { [Self.media: ["schema": $0]] } ?? [:],
            isBodyRequired: isBodyRequired, responses: responses, failure: Self.reference("responses", "problem"))
    }

    func operation(
        _ type: ResourceType, _ id: String, _ summary: String, parameters: [JSON] = [], content: [String: JSON] = [:],
        isBodyRequired: Bool = true, responses: [String: JSON], failure: JSON
    ) -> JSON {
        operation(
            "\(type.name).\(id)", type.name, summary, parameters: parameters, content: content,
            isBodyRequired: isBodyRequired, responses: responses, failure: failure)
    }

    /// - Parameters:
    ///   - content: the body's content by media type; empty for requests without a body.
    ///   - failure: the response for every status from 400 on that `responses` lacks.
    func operation(
        _ id: String, _ tag: String, _ summary: String, parameters: [JSON], content: [String: JSON] = [:],
        isBodyRequired: Bool = true, responses: [String: JSON], failure: JSON
    ) -> JSON {
        var members: [String: JSON] = [
            "operationId": .string(id), "summary": .string(summary), "tags": [.string(tag)],
            "responses": .object(responses.merging(["4XX": failure, "5XX": failure]) { first, _ in first }),
        ]
        if !parameters.isEmpty { members["parameters"] = .array(parameters) }
        if !content.isEmpty {
            members["requestBody"] = ["required": .bool(isBodyRequired), "content": .object(content)]
        }
        return .object(members)
    }

    private func document(_ schema: JSON) -> JSON {
        [
            "description": "A JSON:API document",
            "headers": ["ETag": ["schema": ["type": "string"], "description": "The version, for If-Match"]],
            "content": .object([Self.media: ["schema": schema]]),
        ]
    }

    private static let unchanged: JSON = ["description": "Not modified."]

    private static func header(_ name: String, _ description: String) -> JSON {
        [
            "name": .string(name), "in": "header", "required": false, "description": .string(description),
            "schema": ["type": "string"],
        ]
    }

    private static let ifMatch = header("If-Match", "Refuse with 412 if the resource has a different version")
    private static let ifNoneMatch = header("If-None-Match", "Answer 304 if the version hasn't changed")

    // MARK: Parameters

    func parameter(_ name: String, _ schema: JSON, _ description: String) -> JSON {
        [
            "name": .string(name), "in": "query", "required": false, "schema": schema,
            "description": .string(description),
        ]
    }

    /// Names separated by commas.
    func names(_ name: String, _ names: [String], limit: Int, _ description: String) -> JSON {
        [
            "name": .string(name), "in": "query", "required": false, "style": "form", "explode": false,
            "description": .string(description),
            "schema": [
                "type": "array", "minItems": 1, "maxItems": .int(Int64(limit)),
                "items": ["type": "string", "enum": .array(names.map(JSON.string))],
            ],
        ]
    }

    private func memberParameters(_ type: ResourceType) -> [JSON] {
        let relationships = type.fields.filter { $0.target.flatMap { types[$0] } != nil }.map(\.name)
        var parameters: [JSON] = []
        if !type.fields.isEmpty {
            parameters.append(
                names(
                    "fields[\(type.name)]", type.fields.map(\.name), limit: RequestParameters.maximumCount,
                    "The members to show; fields[TYPE] does the same for included types"))
        }
        if !relationships.isEmpty {
            parameters.append(
                names(
                    "include", relationships, limit: ResourceQuery.maximumIncludeCount,
                    "Relationships whose resources to include; up to \(ResourceQuery.maximumIncludeDepth) names, "
                        + "separated by dots"))
        }
        return parameters
    }

    private func listParameters(_ type: ResourceType) -> [JSON] {
        let scalars = OpenAPISchemas.scalars(type, types.schema)
        let sortable = scalars.filter(\.isSortable).map(\.name)
        return memberParameters(type) + [
            parameter(
                "page[size]",
                [
                    "type": "integer", "minimum": 1, "maximum": .int(Int64(ResourceQuery.maximumPageSize)),
                    "default": .int(Int64(ResourceQuery.defaultPageSize)),
                ],
                "The maximum number of resources"),
            parameter(
                "page[number]",
                [
                    "type": "integer", "minimum": 1,
                    "maximum": .int(Int64(ResourceQuery.maximumOffset)),
                ],
                "The page's number, from 1; at most \(ResourceQuery.maximumOffset) resources can precede it"),
            parameter("page[total]", ["type": "boolean"], "Whether to count all resources, in meta.page.total"),
            names(
                "sort", sortable.flatMap { [$0, "-\($0)"] }, limit: 1,
                "Up to \(ResourceQuery.maximumSortCount) attributes, separated by commas; a leading - sorts in "
                    + "descending order"
            ),
            filterParameter(type),
        ]
    }

    func filterParameter(_ type: ResourceType) -> JSON {
        let filters: [String: JSON] = Dictionary(
            uniqueKeysWithValues: OpenAPISchemas.scalars(type, types.schema).map {
                ($0.name, values.parameter($0.type))
            })
        return [
            "name": "filter", "in": "query", "required": false, "style": "deepObject", "explode": true,
            "description": .string(
                "filter[FIELD]=VALUE and filter[FIELD][OPERATOR]=VALUE, with the operators "
                    + ResourceFilter.Operator.allCases.map(\.rawValue).joined(separator: ", ")
                    + ". Up to \(ResourceQuery.maximumFilterCount)."),
            "schema": [
                "type": "object", "properties": .object(filters), "additionalProperties": false,
                "maxProperties": .int(Int64(ResourceQuery.maximumFilterCount)),
            ],
        ]
    }

    // MARK: Operations

    private var operations: JSON {
        let media = "\(JSONAPIMediaType.name);ext=\"\(JSONAPIMediaType.atomic)\""
        return [
            "post": [
                "operationId": "operations", "summary": "Make several changes, all or none", "tags": ["operations"],
                "security": [["token": []]],
                "requestBody": [
                    "required": true,
                    "content": .object([media: ["schema": Self.reference("schemas", "operations")]]),
                ],
                "responses": [
                    "200": [
                        "description": "The result of each operation, in order",
                        "content": .object([media: ["schema": Self.reference("schemas", "results")]]),
                    ],
                    "4XX": Self.reference("responses", "problem"), "5XX": Self.reference("responses", "problem"),
                ],
            ]
        ]
    }
}
