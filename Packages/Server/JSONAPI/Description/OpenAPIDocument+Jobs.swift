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
                type, "export", "Export all of the \(type.name) that match",
                parameters: exportParameters(type) + [filter],
                responses: [
                    "200": [
                        "description": "All rows, without a length",
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
                type, "bulk", "Change, trash, restore or delete many of the \(type.name)", parameters: [filter],
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
                        "What is between the cells of CSV; found if it isn't said"),
                    parameter("name", ["type": "string"], "Of the file, for people"),
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
                "preview", "Say what an import would do",
                ["200": Self.answer("What it would do", Self.reference("schemas", "import.preview"))]
            ),
            (
                "start", "Start an import as its preview showed it",
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
                "How rows are written"),
            parameter(
                "formulas", ["enum": ["guarded", "plain"], "default": "guarded"],
                "Whether text in CSV is kept from being calculated by a spreadsheet"),
            parameter(
                "titles", ["type": "boolean", "default": false],
                "Whether each link to one resource is followed by the title of what it leads to"),
            names(
                "sort", sortable.flatMap { [$0, "-\($0)"] }, limit: 1,
                "Attributes between commas, up to \(ResourceQuery.maximumSortCount); with - in descending order"),
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
                    "maxItems": .int(Int64(BulkSelection.idLimit)), "description": "Those that are meant, or 'all'",
                ],
                "all": ["type": "boolean", "description": "All that match the filters in the address"],
                "data": [
                    "type": "object", "description": "Of an update: 'attributes' and 'relationships' as in PATCH",
                    "properties": ["attributes": ["type": "object"], "relationships": ["type": "object"]],
                ],
                "reason": Self.reason,
                "expect": [
                    "type": "object", "required": ["count"], "description": "What the dry run found",
                    "properties": ["count": ["type": "integer"], "version": ["type": "string"]],
                ],
                "dryRun": ["type": "boolean", "description": "Whether it only says what would happen"],
            ],
        ]
    }

    /// The reason for moving something to the trash.
    static let reason: JSON = [
        "type": ["string", "null"], "maxLength": .int(Int64(TrashReason.byteLimit)),
        "description": "Why it goes into the trash, for those who may list that",
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
                    "jobs.list", "List one's own jobs, the newest first",
                    ["200": Self.answer("Jobs", Self.reference("schemas", "jobs"))],
                    [number("before", "What 'next' said")])
            ],
            "/jobs/{id}": [
                "parameters": [Self.jobParameter], "get": job("jobs.get", "Read one of one's own jobs", ["200": one]),
            ],
            "/jobs/{id}/rows": [
                "parameters": [Self.jobParameter],
                "get": job(
                    "jobs.rows", "List what came of each row",
                    ["200": Self.answer("Rows", Self.reference("schemas", "job.rows"))],
                    [
                        number("after", "What 'next' said"),
                        parameter(
                            "outcome", ["enum": ["pending", "done", "refused", "leftAlone"]], "Rows with it alone"),
                    ]),
            ],
            "/jobs/{id}/cancel": [
                "parameters": [Self.jobParameter],
                "post": job("jobs.cancel", "End a job behind the batch under way", ["200": one]),
            ],
            "/jobs/{id}/undo": [
                "parameters": [Self.jobParameter],
                "post": job("jobs.undo", "Take back what a job did", ["202": one]),
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
                "error": ["type": "string", "description": "As RealmSwift names it"],
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
                    "description": "The member that each column becomes; null for none",
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
