import TomboloJSONAPI
import TomboloModel

/// A link from objects of a class to objects of another class, or of the same.
struct IncomingLink: Sendable {
    /// The class of the objects that have the link.
    let type: ResourceType
    let field: ResourceField
    private let column: Int

    private init?(_ field: ResourceField, of type: ResourceType, to target: ResourceType) {
        guard case .toOne(let column, target.classIndex) = field.content else { return nil }
        self.type = type
        self.field = field
        self.column = column
    }

    /// The links that the caller can see, ordered by the titles of their classes.
    static func all(to target: ResourceType, _ view: CallerView) -> [IncomingLink] {
        ClassPages.readable(view).flatMap { type in
            view.fields(of: type).compactMap { IncomingLink($0, of: type, to: target) }
        }
    }

    /// `Ticket.event`
    var name: String { "\(type.item.name).\(field.name)" }

    /// Matches the objects of the class that link to an object.
    func leads(to key: Value) -> Predicate { .compare(PropertyPath(type.item.columns[column].name), .equal, key) }

    /// The list parameter that filters for objects that link to an object.
    private func filter(_ id: String) -> String {
        "\(RequestParameters.encode("filter[\(field.name)]"))=\(RequestParameters.encode(id))"
    }

    /// The list of objects that link to an object.
    func listPath(to id: String) -> String { "\(ClassPages.path(of: type))?\(filter(id))" }

    /// The same list with controls instead of values.
    func rowsPath(to id: String) -> String { "\(RowsPage.path(of: type))?\(filter(id))" }

    /// The form of a new object that links to an object.
    func newPath(to id: String) -> String {
        "\(EditPage.newPath(of: type))?\(RequestParameters.encode("f.\(field.name)"))=\(RequestParameters.encode(id))"
    }
}
