import PostgresClient
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules

/// Reads one object and the objects linked with it, as far as the caller may see them.
struct RecordReader {
    /// How many incoming links are counted, in all classes together.
    static let maximumIncomingCount = 40
    /// Counting the objects of one class stops here.
    static let countLimit = 10_000
    /// How many titles are shown for a list of links.
    static let shownLinkCount = 20
    /// A chooser lists all objects if there are at most this many.
    static let choiceCount = 50
    /// How many objects a chooser's search shows.
    static let foundCount = 20

    let view: CallerView
    let pool: PostgresPool
    private var reader: ResourceReader { ResourceReader(view: view) }

    struct Record {
        let resource: PanelResource
        let title: String
        /// Titles of link targets by class and id, as far as the caller may see them.
        let titles: [Target: String]
    }

    struct Target: Hashable {
        private let classIndex: Int
        /// A `Value.string`, since ids are compared by their bytes.
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

    // MARK: Incoming links

    struct Incoming {
        let link: IncomingLink
        /// Nil if counting took too long.
        let count: Int?
    }

    /// The incoming links of an object, each with the number of linking objects that the caller may see.
    func incoming(_ type: ResourceType, key: Value) async throws -> [Incoming] {
        var found: [Incoming] = []
        for link in IncomingLink.all(to: type, view).prefix(Self.maximumIncomingCount) {
            let count = try await reader.patientCount(
                link.type, matching: link.leads(to: key), limit: Self.countLimit + 1, pool)
            found.append(Incoming(link: link, count: count))
        }
        return found
    }

    /// How many objects that link to a record are shown for each link.
    static let shownChildCount = 5
    /// Sorting more objects by title would take too long for a page.
    private static let sortedChildCount = 1_000

    /// The first objects by title among those that link to an object; empty if there are too many to sort or count.
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

    /// Objects of a class with their titles, as far as the caller may see them.
    /// - Parameter isByTitle: whether they are sorted by title; otherwise they are sorted by key.
    func choices(
        of type: ResourceType, matching filter: Predicate, limit: Int, isByTitle: Bool = true
    ) async throws -> [Choice] {
        let title = ClassTitle.field(of: type, view)
        return try await resources(of: type, with: title, matching: filter, limit: limit, isByTitle: isByTitle)
            .map { Choice(id: $0.id, title: $0.title(title)) }
    }

    /// - Parameters:
    ///   - title: the only field that is read.
    ///   - isWhole: whether the field is read in full, not just as much as a title shows.
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

    /// The targets of objects' to-one links, by the objects' ids as texts and the links' names, as far as the caller
    /// may see them.
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

    /// For each text, the ids of objects with exactly that title, as far as the caller may see them. If there are more
    /// objects than texts, some may be missing, but at least one text then has two ids.
    func ids(of type: ResourceType, titled texts: [String]) async throws -> [[String]] {
        guard !texts.isEmpty, let title = ClassTitle.field(of: type, view),
            case .value(let column, .string) = title.content
        else { return texts.map { _ in [] } }
        let path = PropertyPath(type.item.columns[column].name)
        let found = try await resources(
            of: type, with: title, matching: .isIn(path, texts.map(Value.string)), limit: texts.count + 1,
            isByTitle: false, isWhole: true)
        // Values are compared by their bytes, as in the database.
        var ids: [Value: [String]] = [:]
        for resource in found {
            guard case .string(let text)? = resource.attribute(title.name) else { continue }
            ids[.string(text), default: []].append(resource.id)
        }
        return texts.map { ids[.string($0)] ?? [] }
    }
}
