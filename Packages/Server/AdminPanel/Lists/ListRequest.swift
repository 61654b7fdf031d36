import TomboloHTTP
import TomboloJSONAPI
import TomboloModel
import TomboloRules
import TomboloLocalization

/// The parameters of a list's address: those of JSON:API's lists, and a few that only the panel has.
///
/// - `q`: text to find in the text properties, ignoring case; or an id
/// - `columns`: the fields to show, in this order
/// - `counts`: 1 to show how many objects have each value of fields with few values (see ``FilterForm/counts(_:_:)``)
///
/// Forms without JavaScript send `add-field`, `add-test` and `add-value` for another filter (see ``FilterForm``),
/// `column[NAME]` for each column, and `is[NAME]` for the value of a field with few values. Such requests are
/// redirected to the equivalent canonical address.
struct ListRequest {
    static let maximumSearchByteCount = 100
    /// How many text properties are searched.
    static let maximumSearchedFieldCount = 8
    /// How many columns a list shows by default.
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
    /// The predicate for the search.
    let narrowing: Predicate

    init(_ request: PanelRequest, _ type: ResourceType, _ view: CallerView) throws {
        parameters = try RequestParameters(request.request)
        let fields = view.fields(of: type)
        search = parameters.value("q").flatMap { $0.isEmpty ? nil : $0 }
        if let search, search.utf8.count > Self.maximumSearchByteCount {
            throw RequestFailure(
                .badRequest, "The search has more than \(Self.maximumSearchByteCount) bytes.",
                hint: "Use a shorter search text.")
        }
        let counts = parameters.all.first { $0.name == Self.countsName }
        if let counts, counts.value != "1" {
            throw RequestFailure(
                .badRequest, "'\(Self.countsName)' must be 1, which shows counts.",
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

    /// The default order of a list.
    static func defaultSorts(of type: ResourceType) -> [ResourceQuery.Sort] {
        // ObjectIds begin with their creation time: newest first.
        [ResourceQuery.Sort(column: type.key, type: type.keyType, isAscending: type.keyType != .objectId)]
    }

    /// The canonical address for what a form without JavaScript sent; nil if no such form was sent.
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

    /// The address of the same list with some parameters replaced; those with a nil value are removed.
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
                .badRequest, "The list has \(names.count) columns. The limit is \(maximumColumnCount).",
                hint: "Choose fewer columns.")
        }
        return try names.map { name in
            guard let field = fields.first(where: { $0.name == name }) else {
                let (plural, shown) = (ClassTitle.plural(of: type), name.shortened(toByteCount: 60))
                throw RequestFailure(
                    .badRequest, localized("\(plural) have no field '\(shown)'."),
                    hint: ResourceQuery.nearest(name, fields.map(\.name)).localized)
            }
            return field
        }
    }

    /// The title first, followed by short fields.
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
