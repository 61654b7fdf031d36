import HTTPTypes
import Hummingbird
import PostgresClient
import TomboloHTTP
import TomboloLocalization
import TomboloModel
import TomboloRules

extension JSONAPIRoutes {
    func addReading(to routes: Routes) {
        let reading = access(localized("read", context: "may …")) { _ in [.read] }
        routes.on(.get, "\(Self.path)/{collection}", access: reading) { request, _, grant in
            try await kept(request, grant) { beginning in
                let (view, type) = try view(grant)
                return try await list(request, type, view, since: beginning)
            }
        }
        routes.on(.get, "\(Self.resource)", access: reading) { request, context, grant in
            let (view, type) = try view(grant)
            return try await single(request, type, key: key(context, of: type), view)
        }
        routes.on(.get, "\(Self.resource)/{relationship}", access: reading) { request, context, grant in
            try await related(request, context, grant)
        }
        routes.on(.get, "\(Self.resource)/relationships/{relationship}", access: reading) { request, context, grant in
            let (view, type) = try view(grant)
            return try await linkage(request, context, type, view)
        }
    }

    // MARK: Lists

    /// The answer for a list, with the classes by which it may be cached.
    private typealias ListAnswer = (document: JSONAPIDocument, classNames: Set<String>?)

    /// - Parameters:
    ///   - narrowing: an additional condition on the resources.
    ///   - isComplete: whether to list all resources that satisfy it.
    private func list(
        _ request: Request, _ type: ResourceType, _ view: CallerView, narrowing: Predicate = .constant(true),
        isComplete: Bool = true, since beginning: ListAnswers.Beginning
    ) async throws -> ListAnswer {
        let parameters = try RequestParameters(request)
        let query = try ResourceQuery(parameters, .list, of: type, for: view)
        let reader = ResourceReader(view: view, answers: answers)
        let asked = try reader.request(type, query, narrowing: narrowing)
        let page = try await reader.page(asked, since: beginning, pool)
        // Anything that is included may have changed.
        let document = try document(request, parameters, query, page, isComplete: isComplete)
        return (document, query.includes.isEmpty ? asked.classNames : nil)
    }

    /// The cached answer, or a new one.
    /// - Parameter read: returns the answer with the classes whose rows it depends on; nil if it may depend on those of
    ///   any class.
    private func kept(
        _ request: Request, _ grant: ClassGrant, _ read: (ListAnswers.Beginning) async throws -> ListAnswer
    ) async throws -> JSONAPIDocument {
        try JSONAPIMediaType.checkAccept(request)
        let question = PageQuestion(rules: grant.rules.identity, subject: grant.subject, address: request.uri.string)
        if let page = try await answers.page(question) {
            return page.document.validated(for: request, version: page.version)
        }
        let beginning = answers.begin()
        let (document, classNames) = try await read(beginning)
        let page = KeptPage(document: document, version: document.version)
        answers.keep(page, to: question, of: classNames, since: beginning)
        return document.validated(for: request, version: page.version)
    }

    private func document(
        _ request: Request, _ parameters: RequestParameters, _ query: ResourceQuery, _ page: ResourceReader.Page,
        isComplete: Bool
    ) throws -> JSONAPIDocument {
        var json = JSONBytes(capacity: 512 + page.resources.count * Self.expectedByteCount)
        json.beginDocument(links: links(request, parameters, query, page))
        var meta: [String: JSON] = [:]
        if let total = page.total { meta["page"] = ["total": .int(total)] }
        if !isComplete { meta["isComplete"] = false }
        if !meta.isEmpty {
            json.append(",\"meta\":")
            JSON.object(meta).append(to: &json)
        }
        try json.append(data: page.resources)
        if !query.includes.isEmpty { try json.append(included: page.included) }
        json.append("}")
        return JSONAPIDocument(json)
    }

    /// The expected size of a resource in a list.
    private static let expectedByteCount = 1_024

    private func links(
        _ request: Request, _ parameters: RequestParameters, _ query: ResourceQuery, _ page: ResourceReader.Page
    ) -> [(name: String, address: String?)] {
        func address(_ values: [(name: String, value: String?)]) -> String {
            let text = parameters.query(replacing: values)
            return text.isEmpty ? request.uri.path : "\(request.uri.path)?\(text)"
        }
        guard let number = query.page.number else {
            return [
                ("self", address([])), ("first", address([("page[after]", nil)])),
                ("next", page.next.map { address([("page[after]", $0)]) }),
            ]
        }
        func numbered(_ number: Int) -> String { address([("page[number]", "\(number)")]) }
        let hasNext = page.next != nil && number * query.page.size <= ResourceQuery.maximumOffset
        var links: [(name: String, address: String?)] = [
            ("self", address([])), ("first", numbered(1)), ("prev", number > 1 ? numbered(number - 1) : nil),
            ("next", hasNext ? numbered(number + 1) : nil),
        ]
        if let total = page.total {
            let size = Int64(query.page.size)
            let last = max(1, (total + size - 1) / size)
            let isReachable = (last - 1) * size <= Int64(ResourceQuery.maximumOffset)
            links.append(("last", isReachable ? numbered(Int(last)) : nil))
        }
        return links
    }

    // MARK: Single resources

    private func single(
        _ request: Request, _ type: ResourceType, key: Value, _ view: CallerView
    ) async throws -> JSONAPIDocument {
        try JSONAPIMediaType.checkAccept(request)
        let query = try ResourceQuery(RequestParameters(request), .single, of: type, for: view)
        guard let found = try await ResourceReader(view: view).single(type, key: key, query, pool) else {
            throw Self.noSuchResource(type)
        }
        let (json, version) = try Self.document(found.resource, found.included, query, self: request.uri.string)
        return JSONAPIDocument(json).validated(for: request, version: version)
    }

    /// - Returns: the document, and the resource's version if that is the document's too.
    static func document(
        _ resource: ResourceReader.Resource, _ included: [ResourceReader.Resource] = [], _ query: ResourceQuery? = nil,
        self address: String
    ) throws -> (JSONBytes, version: String?) {
        var json = JSONBytes(capacity: 512 + (1 + included.count) * expectedByteCount)
        json.beginDocument(links: [("self", address)])
        json.append(",\"data\":")
        let version = try resource.plan.append(resource.row, to: &json)
        let hasMore = query.map { !$0.includes.isEmpty } ?? false
        if hasMore { try json.append(included: included) }
        json.append("}")
        return (json, hasMore ? nil : version)
    }

    // MARK: Relationships

    /// The keys in a relationship of a resource, and whether these are all.
    /// - Throws: ``RequestFailure`` with status 404 for a resource that the caller can't see.
    private func links(
        _ context: EdgeContext, _ type: ResourceType, _ field: ResourceField, _ view: CallerView
    ) async throws -> (keys: [Value], isComplete: Bool) {
        let reader = ResourceReader(view: view)
        let plan = ResourcePlan(type, for: view, fields: [field.name])
        let statement = try reader.statement(
            plan, matching: reader.isKey(key(context, of: type), of: type), limit: 1)
        guard let row = try await pool.query(statement.sql, statement.parameters).first else {
            throw Self.noSuchResource(type)
        }
        return try plan.linkage(row, field.name)
    }

    /// Answers with the targets of a relationship, as resources.
    private func related(
        _ request: Request, _ context: EdgeContext, _ grant: ClassGrant
    ) async throws -> JSONAPIDocument {
        let (view, type) = try view(grant)
        let (field, target) = try relationship(context, of: type, view)
        if case .toMany = field.content {
            return try await kept(request, grant) { beginning in
                let links = try await links(context, type, field, view)
                let (document, _) = try await list(
                    request, target, view, narrowing: .isIn(PropertyPath(target.key.name), links.keys),
                    isComplete: links.isComplete, since: beginning)
                return (document, nil)
            }
        }
        let query = try ResourceQuery(RequestParameters(request), .single, of: target, for: view)
        try JSONAPIMediaType.checkAccept(request)
        let reader = ResourceReader(view: view)
        let key = try await links(context, type, field, view).keys.first
        if let key, let found = try await reader.single(target, key: key, query, pool) {
            let (json, version) = try Self.document(found.resource, found.included, query, self: request.uri.string)
            return JSONAPIDocument(json).validated(for: request, version: version)
        }
        // There is no target, or none that the caller may see.
        var json = JSONBytes()
        json.beginDocument(links: [("self", request.uri.string)])
        json.append(",\"data\":null}")
        return JSONAPIDocument(json).validated(for: request)
    }

    /// Answers with the targets of a relationship, as resource identifiers.
    private func linkage(
        _ request: Request, _ context: EdgeContext, _ type: ResourceType, _ view: CallerView
    ) async throws -> JSONAPIDocument {
        try JSONAPIMediaType.checkAccept(request)
        let (field, target) = try relationship(context, of: type, view)
        _ = try ResourceQuery(RequestParameters(request), .nothing, of: type, for: view)
        let links = try await links(context, type, field, view)
        return Self.linkage(links, field, target, request).validated(for: request)
    }

    /// - Parameter links: if some are missing, none are shown, so that nobody takes them for all and sends them back.
    static func linkage(
        _ links: (keys: [Value], isComplete: Bool), _ field: ResourceField, _ target: ResourceType, _ request: Request
    ) -> JSONAPIDocument {
        let identifiers = links.keys.map { key -> JSON in
            ["type": .string(target.name), "id": .string(key.keyText)]
        }
        var json = JSONBytes()
        var related = request.uri.path
        // A class may have this name, too.
        if let last = related.ranges(of: "/relationships/").last { related.replaceSubrange(last, with: "/") }
        json.beginDocument(links: [("self", request.uri.path), ("related", related)])
        guard links.isComplete else {
            json.append(",\"meta\":{\"isComplete\":false}}")
            return JSONAPIDocument(json)
        }
        json.append(",\"data\":")
        if case .toMany = field.content {
            JSON.array(identifiers).append(to: &json)
        } else {
            (identifiers.first ?? .null).append(to: &json)
        }
        json.append("}")
        return JSONAPIDocument(json)
    }
}
