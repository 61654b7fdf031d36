import TomboloHTTP
import TomboloJSONAPI
import TomboloLocalization
import TomboloModel
import TomboloRules

/// The scope whose roles are shown: a class whose objects grant roles, and the object in which they apply.
struct RoleScope {
    let view: CallerView
    let columns: GrantColumns
    /// The class of the objects that grant roles.
    let type: ResourceType
    /// The id of the object in which the roles apply; nil for roles that apply everywhere.
    let key: String?

    var className: String { type.item.name }
    var userField: ResourceField? { type.fields.first { $0.column == columns.userColumn } }
    var roleField: ResourceField? { type.fields.first { $0.column == columns.roleColumn } }
    /// The class of scopes; nil if the roles apply everywhere, or if their scope isn't an object.
    var scopeType: ResourceType? {
        guard let column = columns.scopeColumn,
            case .toOne(_, let index)? = type.fields.first(where: { $0.column == column })?.content
        else { return nil }
        return view.types[index]
    }

    /// The classes that grant roles and of which the caller may read some objects.
    static func classes(_ view: CallerView) -> [(columns: GrantColumns, type: ResourceType)] {
        view.rules.grantColumns.compactMap { columns in
            view.types[columns.classIndex].flatMap { view.refusal(.read, $0) == nil ? (columns, $0) : nil }
        }
    }

    /// - Parameter className: nil for the first class.
    /// - Throws: ``RequestFailure`` with status 404 for a class that grants no roles or that the caller may not read.
    init(_ request: PanelRequest, _ rules: Rules, _ className: String?, _ key: String?) throws {
        view = try request.view(under: rules)
        let classes = Self.classes(view)
        guard let found = className == nil ? classes.first : classes.first(where: { $0.type.item.name == className })
        else {
            throw RequestFailure(
                .notFound, "No class with this name grants roles that you may see.",
                hint: "Choose among \(classes.map(\.type.item.name).joined(separator: ", ")).")
        }
        (columns, type) = found
        self.key = key.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Matches the objects that grant roles in this scope.
    /// - Throws: ``RequestFailure`` with status 404 if the key is invalid.
    func predicate() throws -> Predicate {
        guard let column = columns.scopeColumn else { return .constant(true) }
        let path = PropertyPath(type.item.columns[column].name)
        guard let key else { return .compare(path, .equal, .null) }
        guard let value = view.schema.storedType(of: type.item.columns[column]).keyValue(key) else {
            throw RequestFailure(.notFound, "There is no object with this id in which roles can be granted.")
        }
        return .compare(path, .equal, value)
    }
}
