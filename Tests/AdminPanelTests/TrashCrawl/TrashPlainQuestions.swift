import ServiceTestSupport
import Testing
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The questions of a crawl that don't name a trashed object: lists, exports, forms, and live objects with what links to them.
struct TrashPlainQuestions {
    let plant: TrashPlant
    let routes: [RouteDescription]
    /// An event's id, for parameters of routes that aren't about the trash.
    let someID: ObjectId

    /// Streams carry no data and don't end by themselves.
    static func isStream(_ route: RouteDescription) -> Bool { route.path.hasPrefix("/panel/events/") }

    /// - Returns: the questions whose answers depend only on the objects of one class, and all others.
    func all() -> (ofClasses: [TrashQuestion], others: [TrashQuestion]) {
        var (ofClasses, others): ([TrashQuestion], [TrashQuestion]) = ([], [])
        for route in routes where route.method == "GET" && !Self.isStream(route) {
            guard route.path.contains("{collection}") else {
                others.append(TrashQuestion(filled(route.path)))
                continue
            }
            for type in plant.types.all {
                let questions = addresses(route.path, type).map { TrashQuestion($0) }
                // The roles in a planted event stay live and link to it, and the API pages' examples use any existing object.
                let isKept =
                    type.item.isTrashable && !route.path.contains("/audit/") && !route.path.hasPrefix("/panel/api/")
                if isKept { ofClasses += questions } else { others += questions }
            }
        }
        others +=
            (plant.types.all.map { "/admin/trash?class=\($0.item.name)" }
            + plant.types.all.map { "/panel/trash?class=\($0.item.name)" }
            + ["/panel/people?class=RoleAssignment&scope=\(someID)", "/panel/accounts?state=disabled"])
            .map { TrashQuestion($0) }
        return (ofClasses, others)
    }

    private func filled(_ path: String) -> String { path.replacing(/{\w+}/, with: someID.stringValue) }

    private func addresses(_ path: String, _ type: ResourceType) -> [String] {
        let path = path.replacing("{collection}", with: type.name)
        guard path.contains("{id}") else { return queries(path, type).map { filled(path) + $0 } }
        guard let parent = plant.parents[type.name] else { return [] }
        let own = path.replacing("{id}", with: parent.stringValue)
        if path.contains("{relationship}") {
            return type.fields.filter(\.isRelationship).map { own.replacing("{relationship}", with: $0.name) }
        }
        let children = path.hasSuffix("/edit") ? incoming(type).map { "?with=\($0)" } : []
        return ([""] + children).map { filled(own) + $0 }
    }

    /// The links that lead to objects of a class, as named in addresses.
    private func incoming(_ target: ResourceType) -> [String] {
        plant.types.all.flatMap { type in
            type.fields.filter { field in
                if case .toOne(_, target.classIndex) = field.content { true } else { false }
            }.map { "\(type.item.name).\($0.name)" }
        }
    }

    private func queries(_ path: String, _ type: ResourceType) -> [String] {
        let texts = TrashPlant.texts(type).map(\.field)
        let sorts = stride(from: 0, to: texts.count, by: 5).map { texts[$0..<min($0 + 5, texts.count)] }
        let included = type.fields.filter(\.isRelationship).map(\.name).joined(separator: ",")
        func parameters(_ all: [(String, String)]) -> String { "?\(TrashQuestion.query(all))" }
        switch path {
        case "/api/\(type.name)":
            let whole =
                [("page[size]", "200"), ("page[total]", "true")] + (included.isEmpty ? [] : [("include", included)])
            let last = [("page[size]", "1"), ("page[number]", "1"), ("page[total]", "true")]
            return ["", parameters(whole), parameters(last)]
                + sorts.map { parameters([("sort", "-" + $0.joined(separator: ",-")), ("page[size]", "200")]) }
        case "/export/\(type.name)":
            return ["csv", "json", "ndjson"].map { parameters([("format", $0), ("sort", "id"), ("titles", "true")]) }
        case "/panel/export/\(type.name)": return [parameters([("sort", "id")])]
        case "/panel/data/\(type.name)", "/panel/rows/\(type.name)":
            return ["", parameters([("columns", texts.prefix(20).joined(separator: ",")), ("counts", "1")])]
        default: return [""]
        }
    }
}
