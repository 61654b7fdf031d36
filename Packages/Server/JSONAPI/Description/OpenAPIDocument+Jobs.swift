import TomboloHTTP
import TomboloModel

/// Exports, bulk actions, imports and jobs. They are outside of ``JSONAPIRoutes/path`` and answer in JSON of their own:
/// docs/jobs.md.
extension OpenAPIDocument {
    private static let json = "application/json"
    private static let jobsTag = "jobs"
    private static let jobNumber: JSON = ["type": "integer", "format": "int64", "minimum": 1, "maximum": .int(.max)]

    // MARK: Of a class

    func addJobPaths(of type: ResourceType, to paths: inout [String: JSON]) {
        let filter = filterParameter(type)
        paths["/export/\(type.name)"] = [
            "get": operation(
                type, "export", "Export all \(type.name) that match",
                parameters: exportParameters(type) + [filter],
                responses: [
                    "200": [
                        "description": "All rows, without a Content-Length",
                        "content": [
                            "text/csv": ["schema": ["type": "string"]],
                            "application/json": ["schema": ["type": "array", "items": ["type": "object"]]],
                            "application/x-ndjson": ["schema": ["type": "string"]],
                        ],
                    ]
                ], failure: Self.plainProblem)
        ]
        paths["/bulk/\(type.name)"] = [
            "post": operation(
                type, "bulk", "Update, trash, restore or delete many \(type.name)", parameters: [filter],
                content: [Self.json: ["schema": bulkBody(type)]],
                responses: [
                    "200": Self.answer("What a dry run found", Self.reference("schemas", "bulk.trial")),
                    "202": Self.answer("The job", Self.reference("schemas", "job")),
                ], failure: Self.plainProblem)
        ]
        let draft = "/import/\(type.name)/{id}"
        paths["/import/\(type.name)"] = [
            "post": operation(
                type, "import", "Upload a file to import",
                parameters: [
                    parameter(
                        "delimiter", ["enum": ["comma", "semicolon", "tab"]],
                        "The delimiter of CSV cells; detected if left out"),
                    parameter("name", ["type": "string"], "The file's name, for people"),
                ],
                content: [
                    Self.json: ["schema": ["type": "array", "items": ["type": "object"]]],
                    "text/csv": ["schema": ["type": "string"]],
                    "text/tab-separated-values": ["schema": ["type": "string"]],
                    "application/x-ndjson": ["schema": ["type": "string"]],
                ],
                responses: ["201": Self.answer("The file as a draft", Self.reference("schemas", "import.draft"))],
                failure: Self.plainProblem)
        ]
        for (name, summary, responses) in [
            (
                "preview", "Preview what an import would do",
                ["200": Self.answer("What the import would do", Self.reference("schemas", "import.preview"))]
            ),
            (
                "start", "Start an import, as previewed",
                ["202": Self.answer("The job", Self.reference("schemas", "job"))]
            ),
        ] as [(String, String, [String: JSON])] {
            paths["\(draft)/\(name)"] = [
                "parameters": [Self.jobParameter],
                "post": operation(
                    type, "import.\(name)", summary,
                    content: [Self.json: ["schema": Self.reference("schemas", "import.choices")]],
                    responses: responses, failure: Self.plainProblem),
            ]
        }
    }

    private func exportParameters(_ type: ResourceType) -> [JSON] {
        let sortable = OpenAPISchemas.scalars(type, types.schema).filter(\.isSortable).map(\.name)
        var parameters = [
            parameter(
                "format", ["enum": .array(ExportFormat.allCases.map { .string($0.rawValue) }), "default": "csv"],
                "The format of the rows"),
            parameter(
                "formulas", ["enum": ["guarded", "plain"], "default": "guarded"],
                "Whether text in CSV is guarded, so that spreadsheets don't evaluate it as a formula"),
            parameter(
                "titles", ["type": "boolean", "default": false],
                "Whether each to-one link is followed by the title of its target"),
            names(
                "sort", sortable.flatMap { [$0, "-\($0)"] }, limit: 1,
                "Up to \(ResourceQuery.maximumSortCount) attributes, separated by commas; a leading - sorts in "
                    + "descending order"),
        ]
        if !type.fields.isEmpty {
            parameters.append(
                names(
                    "fields[\(type.name)]", type.fields.map(\.name), limit: RequestParameters.maximumCount,
                    "The members to write"))
        }
        return parameters
    }

    private func bulkBody(_ type: ResourceType) -> JSON {
        let actions: [BulkAction] = type.item.isTrashable ? [.update, .trash, .restore] : [.update, .delete]
        return [
            "type": "object", "required": ["action"], "additionalProperties": false,
            "properties": [
                "action": ["enum": .array(actions.map { .string($0.rawValue) })],
                "ids": [
                    "type": "array", "items": values.value(type.keyType, isOptional: false), "minItems": 1,
                    "maxItems": .int(Int64(BulkSelection.idLimit)),
                    "description": "The ids of the resources, instead of 'all'",
                ],
                "all": ["type": "boolean", "description": "All resources that match the filters in the address"],
                "data": [
                    "type": "object", "description": "For an update: 'attributes' and 'relationships' as in PATCH",
                    "properties": ["attributes": ["type": "object"], "relationships": ["type": "object"]],
                ],
                "reason": Self.reason,
                "expect": [
                    "type": "object", "required": ["count"], "description": "What the dry run found",
                    "properties": ["count": ["type": "integer"], "version": ["type": "string"]],
                ],
                "dryRun": ["type": "boolean", "description": "Whether to only report what would happen"],
            ],
        ]
    }

    /// The reason for moving something to the trash.
    static let reason: JSON = [
        "type": ["string", "null"], "maxLength": .int(Int64(TrashReason.byteLimit)),
        "description": "Why it goes into the trash, for those who may list the trash",
    ]

    // MARK: Jobs

    var jobPaths: [String: JSON] {
        func job(_ id: String, _ summary: String, _ responses: [String: JSON], _ parameters: [JSON] = []) -> JSON {
            operation(
                id, Self.jobsTag, summary, parameters: parameters, responses: responses, failure: Self.plainProblem)
        }
        let one = Self.answer("The job", Self.reference("schemas", "job"))
        func number(_ name: String, _ description: String) -> JSON {
            parameter(name, ["type": "integer", "format": "int64"], description)
        }
        return [
            "/jobs": [
                "get": job(
                    "jobs.list", "List the caller's jobs, newest first",
                    ["200": Self.answer("Jobs", Self.reference("schemas", "jobs"))],
                    [number("before", "The previous response's 'next'")])
            ],
            "/jobs/{id}": [
                "parameters": [Self.jobParameter],
                "get": job("jobs.get", "Read one of the caller's jobs", ["200": one]),
            ],
            "/jobs/{id}/rows": [
                "parameters": [Self.jobParameter],
                "get": job(
                    "jobs.rows", "List the outcome of each row",
                    ["200": Self.answer("Rows", Self.reference("schemas", "job.rows"))],
                    [
                        number("after", "The previous response's 'next'"),
                        parameter(
                            "outcome", ["enum": ["pending", "done", "refused", "leftAlone"]],
                            "Only rows with this outcome"),
                    ]),
            ],
            "/jobs/{id}/cancel": [
                "parameters": [Self.jobParameter],
                "post": job("jobs.cancel", "Cancel a job after its current batch", ["200": one]),
            ],
            "/jobs/{id}/undo": [
                "parameters": [Self.jobParameter],
                "post": job("jobs.undo", "Undo what a job did", ["202": one]),
            ],
        ]
    }

    private static let jobParameter: JSON = [
        "name": "id", "in": "path", "required": true, "schema": jobNumber, "description": "The job's number",
    ]

    static let plainProblem: JSON = reference("responses", "plainProblem")

    private static func answer(_ description: String, _ schema: JSON) -> JSON {
        ["description": .string(description), "content": .object([json: ["schema": schema]])]
    }

    static let plainProblemResponse: JSON = answer(
        "What is wrong, and what to do",
        [
            "type": "object", "required": ["code", "message"], "additionalProperties": false,
            "properties": [
                "code": ["type": "string"], "message": ["type": "string"], "hint": ["type": "string"],
                "properties": ["type": "array", "items": ["type": "string"]], "details": ["type": "object"],
                "error": ["type": "string", "description": "The error's name in RealmSwift"],
            ],
        ])

    // MARK: Schemas

    private static let reasons: JSON = [
        "type": "array", "items": closed(["id": ["type": "string"], "reason": ["type": "string"]]),
    ]

    static let jobSchemas: [String: JSON] = [
        "job": job,
        "jobs": closed(["jobs": ["type": "array", "items": reference("schemas", "job")], "next": nextNumber]),
        "job.rows": closed(["rows": ["type": "array", "items": ["type": "object"]], "next": nextNumber]),
        "bulk.trial": closed([
            "dryRun": ["const": true], "count": count, "version": ["type": "string"], "checked": count,
            "refused": count, "leftAlone": count, "along": ["type": "integer"], "refusals": reasons,
            "kept": count, "keptBecause": reasons,
        ]),
        "import.draft": closed([
            "job": reference("schemas", "job"), "columns": strings,
            "suggestions": ["type": "object", "additionalProperties": ["type": ["string", "null"]]],
            "members": strings, "matches": ["type": "array", "items": strings],
            "rows": ["type": "array", "items": ["type": "object"]], "notes": strings,
        ]),
        "import.preview": closed([
            "mapping": ["type": "object", "additionalProperties": ["type": ["string", "null"]]], "match": strings,
            "mode": ["type": "string"], "total": count, "creates": count, "updates": count, "refused": count,
            "tried": count, "leftAlone": count, "version": ["type": "string"],
            "problems": ["type": "array", "items": ["type": "object"]],
            "rows": ["type": "array", "items": ["type": "object"]], "notes": strings,
        ]),
        "import.choices": [
            "type": "object", "additionalProperties": false,
            "properties": [
                "mapping": [
                    "type": ["object", "null"], "additionalProperties": ["type": ["string", "null"]],
                    "description": "The member that each column maps to; null for none",
                ],
                "mode": ["enum": .array(ImportMapping.Mode.allCases.map { .string($0.rawValue) } + [.null])],
                "match": [
                    "anyOf": [["type": ["string", "null"]], strings],
                    "description": "What rows are matched by: 'id', or members that are unique together",
                ],
                "formulas": ["enum": ["guarded", "plain", .null]], "atomic": ["description": "true for all or nothing"],
                "expect": ["description": "The preview's version, as {\"version\": …}"],
            ],
        ],
    ]

    private static let count: JSON = ["type": "integer", "minimum": 0]
    private static let nextNumber: JSON = ["type": ["integer", "null"]]
    private static let strings: JSON = ["type": "array", "items": ["type": "string"]]

    /// An object that has exactly these properties.
    private static func closed(_ properties: [String: JSON]) -> JSON {
        [
            "type": "object", "properties": .object(properties), "additionalProperties": false,
            "required": .array(properties.keys.sorted().map(JSON.string)),
        ]
    }

    private static let job: JSON = {
        let moment: JSON = ["type": ["string", "null"], "format": "date-time"]
        let other: JSON = ["type": ["integer", "null"]]
        return closed([
            "id": jobNumber, "kind": ["enum": .array(Job.Kind.allCases.map { .string($0.rawValue) })],
            "class": ["type": "string"],
            "state": ["enum": ["draft", "queued", "running", "done", "failed", "cancelled"]],
            "arguments": ["type": "object"], "atomicity": ["enum": ["all or nothing", "batches"]], "total": count,
            "done": count, "refused": count, "leftAlone": count, "pending": count, "undoes": other,
            "undoneBy": other, "canUndo": ["type": "boolean"], "message": ["type": ["string", "null"]],
            "createdAt": moment, "startedAt": moment, "progressAt": moment, "finishedAt": moment,
        ])
    }()
}
