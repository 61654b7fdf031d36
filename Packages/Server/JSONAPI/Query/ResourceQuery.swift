import TomboloHTTP
package import TomboloModel
import TomboloLocalization

/// What a request asks for, checked against what its caller may see.
package struct ResourceQuery: Sendable {
    package static let defaultPageSize = 25
    package static let maximumPageSize = 200
    /// The most rows before a page that is requested by its number: the database reads them too.
    package static let maximumOffset = 100_000
    package static let maximumSortCount = 5
    package static let maximumFilterCount = 20
    /// The most values of one `filter[…][in]`.
    package static let maximumFilterValueCount = 100
    package static let maximumIncludeCount = 10
    package static let maximumIncludeDepth = 3

    /// The parameters that a request may have.
    package enum Kind: Sendable {
        /// A list of resources: all parameters.
        case list
        /// All resources that match: all parameters except pages.
        case rows
        /// A selection of resources: only `filter`.
        case selection
        /// One resource: `include` and `fields`.
        case single
        /// No parameters at all.
        case nothing

        fileprivate var families: [String] {
            switch self {
            case .list: ["page", "sort", "filter", "fields", "include"]
            case .rows: ["sort", "filter", "fields"]
            case .selection: ["filter"]
            case .single: ["fields", "include"]
            case .nothing: []
            }
        }
    }

    package struct Sort: Sendable {
        package let column: Column
        package let type: PropertyType
        package let isAscending: Bool

        package init(column: Column, type: PropertyType, isAscending: Bool) {
            self.column = column
            self.type = type
            self.isAscending = isAscending
        }

        package var path: PropertyPath { PropertyPath(column.name) }
    }

    /// A relationship to follow, with the relationships to follow from its targets.
    package struct Include: Sendable {
        package let field: ResourceField
        package var inner: [Include]

        package init(field: ResourceField, inner: [Include] = []) {
            self.field = field
            self.inner = inner
        }
    }

    package var page = ResourcePage()
    /// The primary key comes last, so that the order is total.
    package var sorts: [Sort] = []
    package var filter = Predicate.constant(true)
    /// The requested members, by type; nil for all.
    package var fields: [String: Set<String>] = [:]
    /// Members with bytes or strings of which only the beginning is read, by type: see
    /// ``ResourcePlan/beginningByteCount`` and ``ResourcePlan/beginningCharacterCount``.
    package var beginnings: [String: Set<String>] = [:]
    package var includes: [Include] = []

    /// Everything, in no order.
    package init() {}

    package init(
        _ parameters: RequestParameters, _ kind: Kind, of type: ResourceType, for view: CallerView
    ) throws {
        var filters: [Predicate] = []
        for parameter in parameters.all {
            guard kind.families.contains(parameter.family) else {
                throw Self.unknown(parameter, among: kind.families)
            }
            switch (parameter.family, parameter.keys.count) {
            case ("page", 1): try page.read(parameter)
            case ("sort", 0): sorts = try Self.sorts(parameter, of: type, view)
            case ("filter", 1), ("filter", 2):
                guard filters.count < Self.maximumFilterCount else {
                    throw parameter.failure(
                        localized("the query has more than \(Self.maximumFilterCount) filters."),
                        localized("Use 'in' for several values of one field."))
                }
                filters.append(try ResourceFilter(parameter, of: type, view).predicate)
            case ("fields", 1): try readFields(parameter, view)
            case ("include", 0): includes = try Self.includes(parameter, of: type, view)
            default: throw Self.unknown(parameter, among: kind.families)
            }
        }
        filter = .all(filters)
        if !sorts.contains(where: { $0.column.isPrimaryKey }) {
            sorts.append(Sort(column: type.key, type: type.keyType, isAscending: sorts.last?.isAscending ?? true))
        }
        try page.check(sorts)
    }

    private static func unknown(_ parameter: RequestParameters.Parameter, among families: [String]) -> RequestFailure {
        let forms = [
            "page": "page[size], page[number], page[after], page[total]", "sort": "sort", "include": "include",
            "filter": "filter[FIELD], filter[FIELD][OPERATOR]", "fields": "fields[TYPE]",
        ]
        let known = families.compactMap { forms[$0] }.joined(separator: ", ")
        return parameter.failure(
            localized("it isn't supported here."),
            known.isEmpty ? localized("This address takes no parameters.") : localized("Expected one of: \(known)."))
    }

    private mutating func readFields(_ parameter: RequestParameters.Parameter, _ view: CallerView) throws {
        guard let type = view.types[parameter.keys[0]] else {
            throw parameter.failure(
                localized("there is no type with this name."),
                Self.nearest(parameter.keys[0], view.types.all.map(\.name)).localized
            )
        }
        let known = view.fields(of: type).map(\.name)
        let names =
            parameter.value.isEmpty
            ? [] : try parameter.list(limit: RequestParameters.maximumCount, localized("fields", context: "it has …"))
        for name in names where !known.contains(name) {
            throw parameter.failure(
                localized("\(type.name) have no field '\(name.shortened(toByteCount: 60))'."),
                Self.nearest(name, known).localized
            )
        }
        fields[type.name] = Set(names)
    }

    /// - Returns: a remedy.
    package static func nearest(_ name: String, _ known: [String]) -> Wording {
        if let nearest = name.nearest(in: known) { return Wording("Did you mean '\(nearest)'?") }
        let names = known.joined(separator: ", ")
        return known.isEmpty ? Wording("There are none.") : Wording("Expected one of: \(names).")
    }

    // MARK: Sorting

    private static func sorts(
        _ parameter: RequestParameters.Parameter, of type: ResourceType, _ view: CallerView
    ) throws -> [Sort] {
        var sorts: [Sort] = []
        for text in try parameter.list(limit: maximumSortCount, localized("fields", context: "it has …")) {
            let isAscending = !text.hasPrefix("-")
            let name = isAscending ? text : String(text.dropFirst())
            let found = try FieldPath(name, of: type, view, parameter)
            guard found.isSortable else {
                throw parameter.failure(
                    localized("'\(name)' can't be sorted by."),
                    localized("Sort by an attribute with one value, or by id."))
            }
            guard !sorts.contains(where: { $0.column.name == found.column.name }) else {
                throw parameter.failure(localized("it has '\(name)' twice."), localized("Name it once."))
            }
            sorts.append(Sort(column: found.column, type: found.type, isAscending: isAscending))
        }
        return sorts
    }

    // MARK: Including

    private static func includes(
        _ parameter: RequestParameters.Parameter, of type: ResourceType, _ view: CallerView
    ) throws -> [Include] {
        var includes: [Include] = []
        guard !parameter.value.isEmpty else { return [] }
        for path in try parameter.list(limit: maximumIncludeCount, localized("paths", context: "it has …")) {
            let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard names.count <= maximumIncludeDepth else {
                throw parameter.failure(
                    localized(
                        "'\(path.shortened(toByteCount: 60))' is \(names.count) relationships deep; the limit is "
                            + "\(maximumIncludeDepth)."
                    ), localized("Ask for the rest in another request.")
                )
            }
            try add(names[...], of: type, to: &includes, parameter, view)
        }
        return includes
    }

    private static func add(
        _ names: ArraySlice<String>, of type: ResourceType, to includes: inout [Include],
        _ parameter: RequestParameters.Parameter, _ view: CallerView
    ) throws {
        guard let name = names.first else { return }
        let known = view.fields(of: type).filter(\.isRelationship)
        guard let field = known.first(where: { $0.name == name }), let target = field.target.flatMap({ view.types[$0] })
        else {
            throw parameter.failure(
                localized("\(type.name) have no relationship '\(name.shortened(toByteCount: 60))'."),
                nearest(name, known.map(\.name)).localized)
        }
        let place = includes.firstIndex { $0.field.name == name } ?? includes.count
        if place == includes.count { includes.append(Include(field: field)) }
        try add(names.dropFirst(), of: target, to: &includes[place].inner, parameter, view)
    }
}
