import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// Reads one object as the caller may see it, and what it's linked with.
struct RecordReader {
    /// Links that lead to an object which are counted, in all classes together.
    static let maximumIncomingCount = 40
    /// Objects of one class that are counted.
    static let countLimit = 10_000
    /// Objects of a list of links whose titles are shown.
    static let shownLinkCount = 20
    /// A chooser of so many objects shows all of them.
    static let choiceCount = 50
    /// Objects that a search of a chooser shows.
    static let foundCount = 20

    let view: CallerView
    let pool: PostgresPool
    private var reader: ResourceReader { ResourceReader(view: view) }

    struct Record {
        let resource: PanelResource
        let title: String
        /// Titles of what it links to, by class and id: of what the caller may see.
        let titles: [Target: String]
    }

    struct Target: Hashable {
        private let classIndex: Int
        /// A text, since ids are compared by their bytes.
        private let id: Value

        init(classIndex: Int, id: String) {
            self.classIndex = classIndex
            self.id = .string(id)
        }
    }

    /// - Throws: ``RequestFailure`` with status 404 for an object that the caller can't see.
    func record(_ type: ResourceType, key: Value) async throws -> Record {
        var query = ResourceQuery()
        for field in view.fields(of: type) {
            guard case .toOne(_, let index) = field.content, let target = view.types[index] else { continue }
            query.includes.append(ResourceQuery.Include(field: field))
            if target.classIndex != type.classIndex {
                query.fields[target.name, default: []].formUnion(
                    ClassTitle.field(of: target, view).map { [$0.name] } ?? [])
            }
        }
        guard let found = try await reader.single(type, key: key, query, pool) else {
            throw RequestFailure.noSuchObject(ClassTitle.singular(of: type))
        }
        let resource = try PanelResource(found.resource)
        var titles: [Target: String] = [:]
        for included in [found.resource] + found.included {
            let target = included.plan.type
            let shown = try PanelResource(included)
            titles[Target(classIndex: target.classIndex, id: shown.id)] = shown.title(
                ClassTitle.field(of: target, view))
        }
        for field in view.fields(of: type) {
            guard case .toMany(_, let index) = field.content, let target = view.types[index] else { continue }
            let ids = (resource.linked(field.name) ?? []).prefix(Self.shownLinkCount)
            for choice in try await choices(of: target, among: Array(ids)) {
                titles[Target(classIndex: index, id: choice.id)] = choice.title
            }
        }
        return Record(
            resource: resource, title: resource.title(ClassTitle.field(of: type, view)), titles: titles)
    }

    // MARK: What leads to it

    struct Incoming {
        let link: IncomingLink
        /// Nil if counting took too long.
        let count: Int?
    }

    /// The links of other objects that lead to one, with how many of these the caller may see.
    func incoming(_ type: ResourceType, key: Value) async throws -> [Incoming] {
        var found: [Incoming] = []
        for link in IncomingLink.all(to: type, view).prefix(Self.maximumIncomingCount) {
            let count = try await reader.patientCount(
                link.type, matching: link.leads(to: key), limit: Self.countLimit + 1, pool)
            found.append(Incoming(link: link, count: count))
        }
        return found
    }

    /// Objects of one link that are shown beside what they lead to.
    static let shownChildCount = 5
    /// With more of them, sorting by title would take longer than a page may.
    private static let sortedChildCount = 1_000

    /// The first of the objects that lead to one, by their titles; none of very many.
    func first(of incoming: Incoming, key: Value) async throws -> [Choice] {
        guard let count = incoming.count, count > 0, count <= Self.sortedChildCount else { return [] }
        return try await choices(
            of: incoming.link.type, matching: incoming.link.leads(to: key), limit: Self.shownChildCount)
    }

    // MARK: Choosers

    struct Choice {
        let id: String
        let title: String
    }

    /// Objects of a class with their titles, of those that the caller may see.
    /// - Parameter isByTitle: false for the order of their keys.
    func choices(
        of type: ResourceType, matching filter: Predicate, limit: Int, isByTitle: Bool = true
    ) async throws -> [Choice] {
        let title = ClassTitle.field(of: type, view)
        return try await resources(of: type, with: title, matching: filter, limit: limit, isByTitle: isByTitle)
            .map { Choice(id: $0.id, title: $0.title(title)) }
    }

    /// - Parameters:
    ///   - title: the only field that is read.
    ///   - isWhole: whether all of it is, and not only what a title shows.
    private func resources(
        of type: ResourceType, with title: ResourceField?, matching filter: Predicate, limit: Int, isByTitle: Bool,
        isWhole: Bool = false
    ) async throws -> [PanelResource] {
        guard view.refusal(.read, type) == nil else { return [] }
        let fields = Set(title.map { [$0.name] } ?? [])
        let plan = ResourcePlan(type, for: view, fields: fields, beginnings: isWhole ? [] : fields)
        var sorts: [ResourceQuery.Sort] = []
        if isByTitle, case .value(let column, let valueType)? = title?.content {
            sorts.append(ResourceQuery.Sort(column: type.item.columns[column], type: valueType, isAscending: true))
        }
        sorts.append(ResourceQuery.Sort(column: type.key, type: type.keyType, isAscending: true))
        let statement = try reader.statement(
            plan, matching: filter, orderBy: sorts, limit: limit)
        return try await pool.query(statement.sql, statement.parameters).map { row in
            try PanelResource(ResourceReader.Resource(plan: plan, row: row))
        }
    }

    func choices(of type: ResourceType, among ids: [String]) async throws -> [Choice] {
        let keys = ids.compactMap(type.keyValue)
        guard !keys.isEmpty else { return [] }
        return try await choices(of: type, matching: .isIn(PropertyPath(type.key.name), keys), limit: keys.count)
    }

    /// Where to-one links of objects lead, by the ids of the objects, as texts, and the names of the links, of what the caller
    /// may see.
    func linked(
        _ type: ResourceType, among ids: [String], _ fields: [ResourceField]
    ) async throws -> [Value: [String: String]] {
        guard view.refusal(.read, type) == nil else { return [:] }
        let keys = ids.compactMap(type.keyValue)
        let plan = ResourcePlan(type, for: view, fields: Set(fields.map(\.name)))
        let statement = try reader.statement(
            plan, matching: .isIn(PropertyPath(type.key.name), keys), limit: max(keys.count, 1))
        var linked: [Value: [String: String]] = [:]
        for row in try await pool.query(statement.sql, statement.parameters) {
            let shown = try PanelResource(ResourceReader.Resource(plan: plan, row: row))
            for field in fields {
                linked[.string(shown.id), default: [:]][field.name] = shown.linked(field.name)?.first
            }
        }
        return linked
    }

    /// For each text the ids of objects whose title is exactly that, of those that the caller may see. Of more objects than
    /// there are texts it may be some, but then one of the texts has two.
    func ids(of type: ResourceType, titled texts: [String]) async throws -> [[String]] {
        guard !texts.isEmpty, let title = ClassTitle.field(of: type, view),
            case .value(let column, .string) = title.content
        else { return texts.map { _ in [] } }
        let path = PropertyPath(type.item.columns[column].name)
        let found = try await resources(
            of: type, with: title, matching: .isIn(path, texts.map(Value.string)), limit: texts.count + 1,
            isByTitle: false, isWhole: true)
        // Values compare bytes, as the database does.
        var ids: [Value: [String]] = [:]
        for resource in found {
            guard case .string(let text)? = resource.attribute(title.name) else { continue }
            ids[.string(text), default: []].append(resource.id)
        }
        return texts.map { ids[.string($0)] ?? [] }
    }
}
