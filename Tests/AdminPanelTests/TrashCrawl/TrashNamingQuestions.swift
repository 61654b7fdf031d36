import ServiceTestSupport
import TomboloHTTP
import TomboloJSONAPI
import TomboloModel

/// The questions of a crawl that name a trashed object by its id or texts. The same questions are asked about its twin.
struct TrashNamingQuestions {
    let plant: TrashPlant
    let routes: [RouteDescription]

    func all(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        byID(object) + filters(object) + lists(object) + links(object) + pages(object)
    }

    private func asked(_ path: String, _ parameters: [(String, String)], showsLive: Bool = true) -> TrashQuestion {
        TrashQuestion("\(path)?\(TrashQuestion.query(parameters))", showsLive: showsLive)
    }

    // MARK: By id

    /// Every route with an id in its path.
    private func byID(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let (type, id) = (object.type, object.id.stringValue)
        var questions: [TrashQuestion] = []
        for route in routes where route.method == "GET" && route.path.contains("{id}") {
            guard !TrashPlainQuestions.isStream(route) else { continue }
            // For routes without a collection, such as accounts, jobs and groups, three classes show as much as all of them.
            guard route.path.contains("{collection}") || ["User", "Session", "Order"].contains(type.item.name) else {
                continue
            }
            let path = route.path.replacing("{collection}", with: type.name).replacing("{id}", with: id)
                .replacing("{field}", with: object.title.field)
            if path.contains("{relationship}") {
                questions += type.fields.filter(\.isRelationship).map {
                    TrashQuestion(path.replacing("{relationship}", with: $0.name))
                }
            } else {
                let own = path.replacing(/{\w+}/, with: "1")
                let shows = ["/api/\(type.name)/\(id)", "/panel/data/\(type.name)/\(id)"].contains(own)
                questions.append(TrashQuestion(own, showsLive: shows))
            }
        }
        questions.append(TrashQuestion("/panel/new/\(type.name)?copy=\(id)"))
        return questions
    }

    // MARK: Lists

    /// Every operator on every text, each combined with a filter that only this object satisfies.
    private func filters(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let own = ("filter[\(object.title.field)][contains]", object.marker)
        let all = object.texts.flatMap { text in
            Self.conditions(text.value).map { ("filter[\(text.field)][\($0)]", $1) }
        }
        // One filter is reserved for the one that identifies the object.
        let size = ResourceQuery.maximumFilterCount - 1
        return stride(from: 0, to: all.count, by: size).map { start in
            asked(
                "/api/\(object.type.name)",
                [own, ("page[total]", "true")] + all[start..<min(start + size, all.count)].filter { $0.0 != own.0 })
        }
    }

    /// For each operator, a value that the text satisfies.
    private static func conditions(_ text: String) -> [(String, String)] {
        ResourceFilter.Operator.allCases.map { operation in
            let value =
                switch operation {
                case .eq, .le, .ge, .contains: text
                case .ne, .lt: "\(text)z"
                case .gt, .startsWith: String(text.dropLast())
                case .in: "\(text),none"
                case .isNull: "false"
                }
            return (operation.rawValue, value)
        }
    }

    private func lists(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let type = object.type
        let own = ("filter[\(object.title.field)][startsWith]", object.marker)
        let names = object.texts.map(\.field)
        let included = type.fields.filter(\.isRelationship).map(\.name).joined(separator: ",")
        let list = "/api/\(type.name)"
        var questions = [
            asked(list, [own, ("fields[\(type.name)]", names.joined(separator: ","))]),
            asked(list, [own, ("sort", names.prefix(5).joined(separator: ",")), ("page[total]", "true")]),
            asked(list, [own, ("page[size]", "1"), ("page[number]", "1"), ("page[total]", "true")]),
        ]
        if !included.isEmpty { questions.append(asked(list, [own, ("include", included)])) }
        for format in ["csv", "json", "ndjson"] {
            questions.append(asked("/export/\(type.name)", [own, ("format", format), ("titles", "true")]))
            questions.append(asked("/panel/export/\(type.name)", [("q", object.marker), ("format", format)]))
        }
        for path in ["/panel/data/\(type.name)", "/panel/rows/\(type.name)"] {
            // Rows can only be edited by a class's own columns, and some classes have none.
            let showsLive = path.hasPrefix("/panel/data/")
            questions.append(asked(path, [("q", object.id.stringValue)], showsLive: showsLive))
            let columns = names.prefix(20).joined(separator: ",")
            questions.append(asked(path, [own, ("columns", columns)], showsLive: showsLive))
        }
        questions.append(asked("/panel/data/\(type.name)", [("q", object.marker)]))
        return questions
    }

    // MARK: Links

    /// Questions that lead to the object through links: lists filtered by a link, titles in a form's chooser, and the form that
    /// searches for a title.
    private func links(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        plant.types.all.flatMap { type in
            type.fields.flatMap { field -> [TrashQuestion] in
                guard case .toOne(_, object.type.classIndex) = field.content else { return [] }
                let id = object.id.stringValue
                return [
                    asked(
                        "/api/\(type.name)", [("filter[\(field.name)]", id), ("page[total]", "true")], showsLive: false),
                    asked("/panel/data/\(type.name)", [("filter[\(field.name)]", id)], showsLive: false),
                    asked("/panel/new/\(type.name)", [(field.name, id)], showsLive: false),
                    asked(
                        "/panel/data/\(type.name)",
                        [("add-field", field.name), ("add-test", "eq"), ("add-value", object.title.value)],
                        showsLive: false),
                ]
            }
        }
    }

    // MARK: Other pages

    private func pages(_ object: TrashPlant.Planted) -> [TrashQuestion] {
        let (className, id) = (object.type.item.name, object.id.stringValue)
        let about = [("class", className), ("object", id)]
        var questions = [
            asked("/panel/permissions/why", about + [("role", "conference/owner")], showsLive: false),
            asked("/panel/devices/why", about, showsLive: false),
            asked("/panel/audit", about, showsLive: false),
            asked("/panel/audit", [("text", object.marker)], showsLive: false),
            asked("/admin/audit", about, showsLive: false),
            asked("/admin/trash", [("class", className), (object.title.field, object.title.value)], showsLive: false),
        ]
        switch className {
        case "Event":
            questions += [
                asked("/panel/people", [("class", "RoleAssignment"), ("scope", id)], showsLive: false),
                asked("/panel/people", [("q", object.marker)], showsLive: false),
                asked("/invitations", [("class", "RoleAssignment"), ("scope", id)], showsLive: false),
                asked(
                    "/panel/permissions/why", [("class", className), ("role", "conference/owner"), ("scope", id)],
                    showsLive: false),
            ]
        case "User":
            questions += [
                asked("/panel/accounts", [("search", object.marker)], showsLive: false),
                asked("/panel/devices", [("user", id)], showsLive: false),
                asked("/panel/permissions/why", [("class", "Session"), ("user", id)], showsLive: false),
                asked(
                    "/panel/permissions/why", [("class", "Session"), ("user", object.texts[0].value)], showsLive: false),
            ]
        default: break
        }
        return questions
    }
}
