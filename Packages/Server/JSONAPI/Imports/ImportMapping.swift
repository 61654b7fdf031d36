import TomboloHTTP
import TomboloModel
import TomboloRules
import TomboloLocalization

/// Which column of a file maps to which member of a resource, and what happens to rows whose resource already exists.
///
///     {"format": "csv", "columns": ["Title", "Notes"], "mapping": {"Title": "title", "Notes": null}, "mode": "upsert"}
package struct ImportMapping: Sendable {
    package enum Mode: String, CaseIterable, Sendable {
        /// Rows whose resource exists are refused.
        case create
        /// Rows whose resource doesn't exist are refused.
        case update
        case upsert

        /// The mode's name in forms and messages.
        package var title: String {
            switch self {
            case .create: localized("Create new ones only")
            case .update: localized("Update existing ones only")
            case .upsert: localized("Create new ones and update existing ones")
            }
        }
    }

    /// A member that a new resource must have.
    struct Required: Sendable {
        let name: String
        /// Where it would be in a request.
        let pointer: String
        let isMapped: Bool
    }

    struct Column: Hashable, Sendable {
        let name: String
        /// The column's position in the file.
        let place: Int
    }

    /// Where the value of a member comes from.
    indirect enum Node: Sendable {
        case column(Column)
        /// An embedded object whose members have columns: `address.city`.
        case object([Member])
    }

    struct Member: Sendable {
        let field: ResourceField
        var node: Node
    }

    let type: ResourceType
    let view: CallerView
    let isTable: Bool
    /// Whether to remove a `'` that an export put before a formula.
    let unguards: Bool
    let mode: Mode
    let idColumn: Column?
    /// Nil if rows name their resource by its id.
    let match: ImportMatch?
    private(set) var members: [Member] = []
    /// What the row of a new resource must contain.
    private(set) var required: [Required] = []
    /// Whether rows are numbered by lines, and not by positions in an array.
    let numbersLines: Bool
    /// The columns, with the places that their members would have in a request.
    private(set) var places: [(pointer: String, member: String, column: Column)] = []
    /// The member that each column maps to; null for none.
    private(set) var json: [String: JSON] = [:]

    /// In the file's order.
    let columnNames: [String]

    var names: Set<String> { Set(members.map(\.field.name)) }

    /// - Parameter arguments: the job's. Without `mapping`, columns map to the members with their names.
    /// - Throws: ``RequestFailure`` if a column maps to an unknown member, or two columns to the same one.
    init(_ arguments: JSON, of type: ResourceType, for view: CallerView) throws {
        self.type = type
        self.view = view
        isTable = arguments["format"] == .string(ImportFile.Format.csv.rawValue)
        numbersLines = isTable || arguments["numbers"] == .string("lines")
        unguards = try Self.unguards(arguments["formulas"])
        mode = try Self.mode(arguments["mode"])
        let match = try Self.match(arguments["match"], type, view)
        self.match = match
        let columns = Self.columns(arguments)
        columnNames = columns.map(\.name)
        var mapping = try Self.mapping(arguments["mapping"], columns, type, view)
        if match != nil, arguments["mapping"] ?? .null == .null { mapping = mapping.filter { $0.value != "id" } }
        var idColumn: Column?
        var used: Set<String> = []
        for column in columns {
            guard let name = mapping[column.name] else {
                json[column.name] = .null
                continue
            }
            guard used.insert(name).inserted else {
                var failure = Self.failure(
                    localized("Two columns map to '\(name.shortened(toByteCount: 60))'."),
                    "Map one of them to null.")
                failure.pageHint = localized("Choose 'nothing' for one of them.")
                throw failure
            }
            json[column.name] = .string(name)
            if name == "id" {
                idColumn = column
                places.append(("/id", name, column))
                continue
            }
            let path = try Self.path(name, type, view)
            try Self.add(column, path[...], to: &members, name)
            let part = path[0].isRelationship ? "relationships" : "attributes"
            let pointer = path.reduce(RequestPointer() / part) { $0 / $1.name }
            places.append((pointer.description, name, column))
        }
        self.idColumn = idColumn
        required = Self.required(type, view).map { name, pointer in
            Required(name: name, pointer: pointer, isMapped: places.contains { $0.pointer == pointer })
        }
        guard !members.isEmpty else {
            throw Self.failure(
                localized("No column maps to a member."),
                localized("Map at least one column to something other than 'id'."))
        }
        if let match {
            guard idColumn == nil else {
                throw Self.failure(
                    localized("A column maps to 'id', but rows are matched by \(match.text)."),
                    localized("Map it to nothing, or leave 'match' out."))
            }
            guard let missing = match.names.first(where: { !used.contains($0) }) else { return }
            throw Self.failure(
                localized("Rows are matched by \(match.text), but no column maps to '\(missing)'."),
                localized("Map a column to it, or match by something else."), "match")
        }
        guard idColumn != nil || mode != .update else {
            throw Self.failure(
                localized("An update needs ids."),
                localized("Map a column to 'id', match by something else, or choose another mode."), "mode"
            )
        }
    }

    static func columns(_ arguments: JSON) -> [Column] {
        guard case .array(let names)? = arguments["columns"] else { return [] }
        return names.enumerated().compactMap { place, name in
            guard case .string(let name) = name else { return nil }
            return Column(name: name, place: place)
        }
    }

    /// The required members among those that the caller may set.
    private static func required(_ type: ResourceType, _ view: CallerView) -> [(name: String, pointer: String)] {
        let fixed = view.fixedColumns(of: type)
        return type.fields.compactMap { field in
            guard field.isRequiredOnCreation, let column = field.column, !fixed.contains(column) else { return nil }
            let part = RequestPointer() / (field.isRelationship ? "relationships" : "attributes")
            return (field.name, (part / field.name).description)
        }
    }

    private static func failure(_ message: String, _ hint: String, _ place: String = "mapping") -> RequestFailure {
        RequestFailure(.badRequest, message, hint: hint, source: .pointer("/\(place)"))
    }

    private static func mode(_ json: JSON?) throws -> Mode {
        guard let json, json != .null else { return .create }
        guard case .string(let name) = json, let mode = Mode(rawValue: name) else {
            throw failure("There is no such mode.", "Send create, update or upsert.", "mode")
        }
        return mode
    }

    /// - Parameter json: the name of a unique property, or a list of properties that are unique together.
    private static func match(_ json: JSON?, _ type: ResourceType, _ view: CallerView) throws -> ImportMatch? {
        let names: Set<String>
        switch json {
        case nil, .null?, .string("id")?: return nil
        case .string(let name)?: names = [name]
        case .array(let items)?: names = Set(items.compactMap { if case .string(let name) = $0 { name } else { nil } })
        default: names = []
        }
        if names == ["id"] { return nil }
        let all = ImportMatch.all(of: type, view)
        guard let found = all.first(where: { Set($0.names) == names }) else {
            let known = (["id"] + all.map { $0.names.joined(separator: ", ") }).map { "[\($0)]" }
            throw failure(
                "'match' doesn't name properties that identify one of the \(type.name).",
                "Send one of these: \(known.joined(separator: ", ")).", "match")
        }
        return found
    }

    private static func unguards(_ json: JSON?) throws -> Bool {
        switch json {
        case nil, .null?, .string("guarded")?: return true
        case .string("plain")?: return false
        default:
            throw failure("'formulas' must be 'guarded' or 'plain'.", "Leave it out for 'guarded'.", "formulas")
        }
    }

    /// The member of each column that maps to one.
    private static func mapping(
        _ json: JSON?, _ columns: [Column], _ type: ResourceType, _ view: CallerView
    ) throws -> [String: String] {
        guard let json, json != .null else { return suggestions(columns.map(\.name), of: type, view) }
        guard case .object(let given) = json else {
            throw failure("The mapping isn't an object.", "Send \"mapping\": {\"COLUMN\": \"MEMBER\" or null, …}.")
        }
        var result: [String: String] = [:]
        for (column, member) in given.sorted(by: { $0.key < $1.key }) {
            guard columns.contains(where: { $0.name == column }) else {
                throw failure(
                    "The file has no column '\(column.shortened(toByteCount: 60))'.",
                    ResourceQuery.nearest(column, columns.map(\.name)).localized)
            }
            switch member {
            case .string(let name): result[column] = name
            case .null: continue
            default: throw failure("A column maps to something other than a name.", "Send a name or null.")
            }
        }
        return result
    }

    /// The fields along a member's name.
    private static func path(_ name: String, _ type: ResourceType, _ view: CallerView) throws -> [ResourceField] {
        var fields = view.fields(of: type)
        if let field = fields.first(where: { $0.name == name }) { return [field] }
        var path: [ResourceField] = []
        for part in name.split(separator: ".", omittingEmptySubsequences: false) {
            guard let field = fields.first(where: { $0.name == part }) else {
                throw failure(
                    localized("\(type.name) have no member '\(name.shortened(toByteCount: 60))'."),
                    ResourceQuery.nearest(name, memberNames(of: type, view)).localized)
            }
            path.append(field)
            if case .embedded(_, let inner) = field.content { fields = inner } else { fields = [] }
        }
        return path
    }

    private static func add(
        _ column: Column, _ path: ArraySlice<ResourceField>, to members: inout [Member], _ name: String
    ) throws {
        guard let field = path.first else { return }
        let rest = path.dropFirst()
        let place = members.firstIndex { $0.field.name == field.name }
        switch place.map({ members[$0].node }) {
        case nil where rest.isEmpty: members.append(Member(field: field, node: .column(column)))
        case nil:
            var inner: [Member] = []
            try add(column, rest, to: &inner, name)
            members.append(Member(field: field, node: .object(inner)))
        case .object(var inner)? where !rest.isEmpty:
            try add(column, rest, to: &inner, name)
            if let place { members[place].node = .object(inner) }
        default:
            throw failure(
                localized("Columns map both to '\(field.name)' as a whole and to its members."),
                localized("Map one of the two to null."))
        }
    }
}
