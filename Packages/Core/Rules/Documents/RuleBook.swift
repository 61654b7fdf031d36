internal import TomboloModel

/// The rules of one app as its document states them. ``Rules/init(schema:books:)`` checks them against the classes.
public struct RuleBook: Sendable {
    /// The document's name, for messages.
    public let file: String
    var classes: [ClassDeclaration] = []
    var defaultRoles: [RoleDeclaration] = []
    /// Whether the document has default roles, even if the list is empty.
    var hasDefaultRoles = false
    var grants: [GrantDeclaration] = []
    var matrixDeclaration: MatrixDeclaration?
    /// Nil if the property has one of ``PartitionKey/names``.
    var partition: PartitionDeclaration?
    /// The classes of the book's app, if it shares a server with others: default roles apply to these classes only. Nil
    /// for all classes.
    public var scope: Set<String>?
    /// What the document says that has no effect, as sentences that begin with file and line.
    public internal(set) var notes: [String] = []
    /// Structural mistakes. They are reported together with those that a check against the classes finds.
    var problems: [String] = []

    /// The most classes in a book.
    public static let maximumClassCount = 1_000
    /// The most roles of a class.
    public static let maximumRoleCount = 100

    init(file: String) { self.file = file }

    /// Permits nothing.
    public static let empty = RuleBook(file: "rules")

    /// Lets everybody who is logged in read and write objects of these classes: for development, until somebody writes
    /// rules.
    public static func open(_ classNames: some Collection<String>) -> RuleBook {
        var book = RuleBook(file: "development mode")
        book.classes = classNames.sorted().map { name in
            var role = RoleDeclaration(name: "everybody", line: 0)
            role.applyWhen = RuleNode(.map([]), line: 0)
            role.read = RuleNode(.bool(true), line: 0)
            role.write = RuleNode(.bool(true), line: 0)
            return ClassDeclaration(name: name, line: 0, roles: [role])
        }
        return book
    }

    /// What the book says about these classes.
    public func keeping(_ classNames: Set<String>) -> RuleBook {
        var book = self
        book.classes = classes.filter { classNames.contains($0.name) }
        book.grants = grants.filter { classNames.contains($0.className.key) }
        book.matrixDeclaration = matrixDeclaration?.keeping(classNames)
        return book
    }

    /// Whether the book says who may do what with a class, in the class's own roles or in default roles.
    public func decides(about className: String) -> Bool {
        if classes.contains(where: { $0.name == className }) || matrixClassNames.contains(className) { return true }
        return hasDefaultRoles && scope?.contains(className) ?? true
    }

    /// Why the document can't refer to a class by this name, as a sentence; nil if it can.
    /// - Parameter item: the class that has, or used to have, this name.
    func refusal(naming name: String, _ item: ClassSchema) -> String? {
        guard let scope, !scope.contains(name) else { return nil }
        guard scope.contains(item.name) else {
            return "\(name) belongs to another app, and only that app's rules apply to it."
        }
        return "the class '\(name)' is now called '\(item.name)'; use that name."
    }

    /// Which role may do what with which service, if the document has a matrix.
    public var matrix: PermissionMatrix? { matrixDeclaration?.matrix(grants) }

    private var matrixClassNames: [String] { matrix?.services.flatMap(\.classNames) ?? [] }

    /// The names of the classes that the book has roles for.
    public var classNames: [String] { classes.map(\.name) }
}
