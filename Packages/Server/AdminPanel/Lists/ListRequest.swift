import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// What the address of a list asks for: the parameters of JSON:API's lists, and a few that only the panel has.
///
/// - `q`: text that one of the text properties contains, in whatever case; or an id
/// - `columns`: which fields are shown, in their order
/// - `counts`: 1 to show how many objects have each value of the fields that have few (see ``FilterForm/counts(_:_:)``)
///
/// Forms without JavaScript send `add-field`, `add-test` and `add-value` for one more filter (see ``FilterForm``), `column[NAME]`
/// for each column, and `is[NAME]` for a value of a field that has few; these lead to the address that they mean.
struct ListRequest {
    static let maximumSearchByteCount = 100
    /// Text properties that a search looks into.
    static let maximumSearchedFieldCount = 8
    /// Columns that a list shows unless it's told which.
    static let defaultColumnCount = 6
    static let maximumColumnCount = 20
    static let countsName = "counts"
    private static let own: Set<String> = [
        "q", "columns", "column", "add-field", "add-test", "add-value", "set-columns", "is",
        "format", "formulas", "titles", countsName, LivePages.seenField,
    ]

    let parameters: RequestParameters
    let search: String?
    let wantsCounts: Bool
    private(set) var columns: [ResourceField] = []
    let query: ResourceQuery
    /// What a search must find.
    let narrowing: Predicate

    init(_ request: PanelRequest, _ type: ResourceType, _ view: CallerView) throws {
        parameters = try RequestParameters(request.request)
        let fields = view.fields(of: type)
        search = parameters.value("q").flatMap { $0.isEmpty ? nil : $0 }
        if let search, search.utf8.count > Self.maximumSearchByteCount {
            throw RequestFailure(
                .badRequest, "The search has more than \(Self.maximumSearchByteCount) bytes.",
                hint: "Search for less text.")
        }
        let counts = parameters.all.first { $0.name == Self.countsName }
        if let counts, counts.value != "1" {
            throw RequestFailure(
                .badRequest, "'\(Self.countsName)' can only be 1, which shows counts.",
                hint: "Leave '\(Self.countsName)' out of the address for a list without counts.")
        }
        wantsCounts = counts != nil
        narrowing = search.map { Self.predicate($0, type, fields) } ?? .constant(true)
        columns = try Self.columns(parameters.value("columns"), type, fields, view)
        var query = try ResourceQuery(parameters.without(Self.own), .list, of: type, for: view)
        if parameters.value("sort") == nil { query.sorts = Self.defaultSorts(of: type) }
        let title = ClassTitle.field(of: type, view)
        query.fields[type.name] = Set(columns.map(\.name) + (title.map { [$0.name] } ?? []))
        let styles = request.core.fieldStyles
        query.beginnings[type.name] = Set(
            columns.filter { ($0.isBytes || $0.isText) && !styles.isShown($0, of: type) }.map(\.name))
        if let title, !styles.isShown(title, of: type) { query.beginnings[type.name, default: []].insert(title.name) }
        query.includes = []
        for field in columns {
            guard case .toOne(_, let index) = field.content, let target = view.types[index] else { continue }
            query.includes.append(ResourceQuery.Include(field: field))
            if let title = ClassTitle.field(of: target, view) {
                query.fields[target.name, default: []].insert(title.name)
                if target.name != type.name { query.beginnings[target.name, default: []].insert(title.name) }
            } else if query.fields[target.name] == nil {
                query.fields[target.name] = []
            }
        }
        self.query = query
    }

    /// The order of a list for which nobody has chosen one.
    static func defaultSorts(of type: ResourceType) -> [ResourceQuery.Sort] {
        // ObjectIds begin with the time that they were made at: the newest first.
        [ResourceQuery.Sort(column: type.key, type: type.keyType, isAscending: type.keyType != .objectId)]
    }

    /// The address that a form without JavaScript means; nil if it isn't a form's address.
    func canonical(_ path: String) -> String? {
        var values: [(name: String, value: String?)] = []
        if parameters.value("set-columns") != nil {
            let chosen = parameters.all.filter { $0.family == "column" && $0.keys.count == 1 }
            values += chosen.map { ($0.name, nil) } + [("set-columns", nil)]
            values.append(("columns", chosen.map { $0.keys[0] }.joined(separator: ",")))
        }
        for choice in parameters.all where choice.family == "is" && choice.keys.count == 1 {
            values += [(choice.name, nil), ("page[number]", nil), ("page[after]", nil)]
            values.append(("filter[\(choice.keys[0])]", choice.value.isEmpty ? nil : choice.value))
        }
        guard !values.isEmpty else { return nil }
        return address(path, values)
    }

    /// The same list with other values for some parameters, and without those whose value is nil.
    func address(_ path: String, _ values: [(name: String, value: String?)]) -> String {
        let text = parameters.query(replacing: values)
        return text.isEmpty ? path : "\(path)?\(text)"
    }

    // MARK: Searching

    static func predicate(_ text: String, _ type: ResourceType, _ fields: [ResourceField]) -> Predicate {
        var tests: [Predicate] = []
        for field in fields {
            guard tests.count < maximumSearchedFieldCount, case .value(let column, .string) = field.content else {
                continue
            }
            tests.append(.text(PropertyPath(type.item.columns[column].name), .contains, text, ignoringCase: true))
        }
        if let key = type.keyValue(text) { tests.append(.compare(PropertyPath(type.key.name), .equal, key)) }
        return .any(tests)
    }

    // MARK: Columns

    private static func columns(
        _ text: String?, _ type: ResourceType, _ fields: [ResourceField], _ view: CallerView
    ) throws -> [ResourceField] {
        guard let text, !text.isEmpty else { return defaultColumns(type, fields, view) }
        let names = text.split(separator: ",").map(String.init)
        guard names.count <= maximumColumnCount else {
            throw RequestFailure(
                .badRequest, "The list has \(names.count) columns, and at most \(maximumColumnCount) are possible.",
                hint: "Choose fewer columns.")
        }
        return try names.map { name in
            guard let field = fields.first(where: { $0.name == name }) else {
                let (plural, shown) = (ClassTitle.plural(of: type), name.shortened(toByteCount: 60))
                throw RequestFailure(
                    .badRequest, localized("\(plural) have no field '\(shown)'."),
                    hint: ResourceQuery.nearest(name, fields.map(\.name)))
            }
            return field
        }
    }

    /// The title first, then what is short.
    private static func defaultColumns(
        _ type: ResourceType, _ fields: [ResourceField], _ view: CallerView
    ) -> [ResourceField] {
        let title = ClassTitle.field(of: type, view)
        let short = fields.filter { field in
            guard field.name != title?.name else { return false }
            switch field.content {
            case .value(_, .data), .array, .embedded, .values, .objects, .toMany: return false
            case .value, .toOne: return true
            }
        }
        return Array(((title.map { [$0] } ?? []) + short).prefix(defaultColumnCount))
    }
}
